package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// codeRefused is the JSON-RPC code of a call in a batch that a limit of its token refuses.
const codeRefused = -32000

// Tool describes what clients may call.
type Tool struct {
	Name, Title, Description string
	// InputSchema is a JSON Schema of type object; anything else becomes one that allows every object.
	InputSchema string
	// Operation is what Caller.Call gets to know the tool by.
	Operation string
}

// Call is one call of a tool.
type Call struct {
	Operation string
	// Arguments is a JSON value that the caller owns.
	Arguments []byte
}

// Result is the outcome of a tool.
type Result struct {
	// Body is the answer; JSON objects are handed over as such too.
	Body []byte
	// Failed marks an answer that tells what went wrong.
	Failed bool
}

// Tools is a set of tools. It never changes.
type Tools struct{ server *sdk.Server }

// NewTools makes a set. An error names a tool that cannot be offered.
func NewTools(tools []Tool) (*Tools, error) {
	server := sdk.NewServer(&sdk.Implementation{Name: "patchbay-search", Title: "Patchbay search", Version: "1"}, &sdk.ServerOptions{
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
		PageSize:     1000,
	})
	for _, t := range tools {
		if err := addTool(server, t); err != nil {
			return nil, fmt.Errorf("offer the tool %q: %w", t.Name, err)
		}
	}
	server.AddReceivingMiddleware(onlyServed, acceptDashes(tools))
	return &Tools{server}, nil
}

// addTool offers a tool. The SDK panics on schemas that it does not like.
func addTool(server *sdk.Server, t Tool) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
	}()
	server.AddTool(&sdk.Tool{Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: toolSchema(t)}, toolHandler(t))
	return nil
}

func toolSchema(t Tool) json.RawMessage {
	var shape struct {
		Type any `json:"type"`
	}
	if json.Unmarshal([]byte(t.InputSchema), &shape) != nil || shape.Type != "object" {
		return json.RawMessage(`{"type":"object"}`)
	}
	return json.RawMessage(t.InputSchema)
}

// onlyServed refuses methods that would hold a request for ever or that ask for what is not offered.
func onlyServed(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		switch method {
		case methodInitialize, "ping", "server/discover", "tools/list", methodCallTool, "prompts/list", "resources/list",
			"resources/templates/list":
			return next(ctx, method, req)
		}
		if strings.HasPrefix(method, "notifications/") {
			return next(ctx, method, req)
		}
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: fmt.Sprintf("method %q is not offered", method)}
	}
}

// acceptDashes takes a name with dashes for the one with underscores, as clients of older servers write it.
func acceptDashes(tools []Tool) sdk.Middleware {
	known := map[string]bool{}
	for _, t := range tools {
		known[t.Name] = true
	}
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if p, ok := req.GetParams().(*sdk.CallToolParamsRaw); ok && p != nil && !known[p.Name] {
				if other := strings.ReplaceAll(p.Name, "-", "_"); known[other] {
					p.Name = other
				}
			}
			return next(ctx, method, req)
		}
	}
}

// toolHandler performs a tool in the name of the one who sent the request.
func toolHandler(t Tool) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		x, ok := ctx.Value(exchangeKey{}).(*exchange)
		if !ok {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "Internal error"}
		}
		// The SDK lets a call go on when its connection ends; here nobody could be told its result.
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(x.ctx, cancel)()
		defer x.reportProgress(ctx, req, t.Name+" is under way.")()
		call := Call{Operation: t.Operation, Arguments: bytes.Clone(req.Params.Arguments)}
		if len(call.Arguments) == 0 || string(call.Arguments) == "null" {
			call.Arguments = []byte("{}")
		}
		result, err := performCall(ctx, x.caller, call)
		if err == nil {
			return resultContent(result), nil
		}
		e := fault.As(err)
		if e.Code == fault.QuotaExhausted {
			x.keepRefusal(err)
			return nil, refusalError(e)
		}
		return resultContent(&Result{Body: []byte(e.Message), Failed: true}), nil
	}
}

// performCall calls, and turns a panic into an error: this runs in a goroutine of the SDK, where nobody else would.
func performCall(ctx context.Context, caller Caller, call Call) (result *Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			result, err = nil, fault.Wrap(fmt.Errorf("panic: %v\n%s", v, debug.Stack()), fault.Internal, "Something went wrong on our side.")
		}
	}()
	return caller.Call(ctx, call)
}

// refusalError is the error of one call among others; its data say what the body of a 429 says.
func refusalError(e *fault.Error) *jsonrpc.Error {
	data := map[string]any{}
	for k, v := range e.Ext {
		data[k] = v
	}
	data["code"] = e.Code
	if e.RetryAfter > 0 {
		data["retry_after"] = int64(e.RetryAfter.Seconds()) + 1
	}
	raw, err := json.Marshal(data)
	if err != nil {
		raw = nil
	}
	return &jsonrpc.Error{Code: codeRefused, Message: e.Message, Data: raw}
}

func resultContent(r *Result) *sdk.CallToolResult {
	out := &sdk.CallToolResult{IsError: r.Failed, Content: []sdk.Content{&sdk.TextContent{Text: string(r.Body)}}}
	if trimmed := bytes.TrimSpace(r.Body); len(trimmed) > 0 && trimmed[0] == '{' && json.Valid(trimmed) {
		out.StructuredContent = json.RawMessage(trimmed)
	}
	return out
}
