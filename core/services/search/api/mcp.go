package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/api/mcp"
	"github.com/patchbay-dev/patchbay/core/services/search/proxy"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// queryToken is the parameter, in any case, that may carry the token of an MCP client which can send no header.
const queryToken = "tavilyApiKey"

// ToolsOf returns the operations that MCP clients see, each as the first backend of the chain that has it describes it.
func ToolsOf(backends []*sdk.Descriptor) (tools []mcp.Tool) {
	names, operations := map[string]bool{}, map[string]bool{}
	for i, b := range backends {
		for _, op := range b.Operations {
			first := !operations[op.Name]
			operations[op.Name] = true
			if op.Tool == "" || !first || i > 0 && names[op.Tool] {
				continue
			}
			names[op.Tool] = true
			tools = append(tools, mcp.Tool{Name: op.Tool, Title: op.Title, Description: op.Description, InputSchema: op.InputSchema,
				Operation: op.Name})
		}
	}
	return tools
}

func mcpTools(backends []*sdk.Descriptor) (*mcp.Tools, error) {
	set, err := mcp.NewTools(ToolsOf(backends))
	if err != nil {
		return nil, fmt.Errorf("tools of the search backend: %w", err)
	}
	return set, nil
}

// McpPaths are the addresses of the endpoint, which are one: clients write it with and without a slash at its end.
var McpPaths = []string{"/mcp", "/mcp/"}

// mcpRoutes returns the routes of the endpoint. There is no GET: the service has nothing to say unasked.
func (h *proxyHandlers) mcpRoutes() []httpd.Route {
	end := h.handleMCP(func(c *gin.Context, _ *mcp.Tools, caller mcp.Caller) error { return h.Mcp.Delete(c, caller) })
	var out []httpd.Route
	for _, path := range McpPaths {
		out = append(out,
			httpd.Route{Method: http.MethodPost, Path: path, Policy: httpd.AccessToken, BodyLimit: BodyLimit, Handler: h.handleMCP(h.Mcp.Post)},
			httpd.Route{Method: http.MethodDelete, Path: path, Policy: httpd.AccessToken, Handler: end})
	}
	return out
}

// handleMCP lets in who may, and writes errors.
func (h *proxyHandlers) handleMCP(serve func(*gin.Context, *mcp.Tools, mcp.Caller) error) gin.HandlerFunc {
	return func(c *gin.Context) {
		st := h.state.Load()
		err := st.origins.Check(c.Request)
		if err == nil {
			var caller *mcpCaller
			if caller, err = h.mcpCaller(c); err == nil {
				if err = serve(c, st.tools, caller); err == nil {
					h.access.NoteClient(c.Request.Context(), caller.token, access.ClientMCP)
				}
			}
		}
		if err != nil {
			writeError(c, err)
		}
	}
}

// mcpCaller finds the token of the header, else of the query.
func (h *proxyHandlers) mcpCaller(c *gin.Context) (*mcpCaller, error) {
	text, given := bearerToken(c.Request.Header)
	var tok *access.Token
	var err error
	if given {
		tok, err = h.authenticateToken(c, text)
	} else {
		text = tokenOfQuery(c.Request)
		tok, err = h.identifyWithoutHeader(c, text)
	}
	if err != nil {
		return nil, err
	}
	return &mcpCaller{handlers: h, token: tok, text: text, requestID: httpd.RequestID(c), client: httpd.ClientAddr(c)}, nil
}

// tokenOfQuery returns the value of the parameter. Several are no token at all, so that nobody has to guess which one counts.
func tokenOfQuery(r *http.Request) string {
	var found []string
	for name, values := range r.URL.Query() {
		if strings.EqualFold(name, queryToken) {
			found = append(found, values...)
		}
	}
	return strings.Join(found, " ")
}

// mcpCaller performs tools in the name of a token.
type mcpCaller struct {
	handlers  *proxyHandlers
	token     *access.Token
	text      string
	requestID string
	client    string
}

// Token implements mcp.Caller.
func (m *mcpCaller) Token() string { return m.token.Id }

// Headers implements mcp.Caller.
func (m *mcpCaller) Headers(h http.Header) { m.handlers.limitHeaders(h, m.token) }

// Call implements mcp.Caller: the same way as a request to the proxy.
func (m *mcpCaller) Call(ctx context.Context, t mcp.Call) (*mcp.Result, error) {
	st := m.handlers.proxy.State()
	op, known := st.Operation(t.Operation)
	if !known {
		return nil, fault.New(fault.NotFound, "The search backend does not offer %s.", t.Operation)
	}
	size := len(t.Arguments)
	in, err := proxy.ParseInput(t.Arguments, op.Want)
	if err != nil {
		return nil, err
	}
	if err := in.Validate(op.Operation, m.text, in.Token); err != nil {
		return nil, err
	}
	if in.Stream {
		return nil, fault.InvalidField("stream", "A tool cannot stream: leave stream out.")
	}
	c := &proxy.Call{Token: m.token, Op: op, In: in, RequestID: m.requestID, Client: m.client, Size: size}
	ans, err := m.proxyUnlessCancelled(ctx, st, c)
	if err != nil {
		return nil, err
	}
	out, id := newResult(ans), ans.Head.ResourceID
	if t.Operation == sdk.OpResearch && id != "" && !out.Failed {
		return m.awaitResult(ctx, c, id, out)
	}
	return out, nil
}

// proxyUnlessCancelled performs a call, and returns at once when ctx ends: a session can be ended, and a call cancelled,
// while its upstream works. The call goes on by itself then, and is settled when its end is known.
func (m *mcpCaller) proxyUnlessCancelled(ctx context.Context, st *proxy.State, c *proxy.Call) (*proxy.Answer, error) {
	type outcome struct {
		ans *proxy.Answer
		err error
	}
	ended := make(chan outcome, 1)
	go func() {
		ans, err := m.handlers.proxy.Perform(ctx, st, c)
		if ctx.Err() != nil && ans != nil {
			ans.Reply.Release()
			ans, err = nil, fault.FromContext(ctx.Err())
		}
		ended <- outcome{ans, err}
	}()
	select {
	case o := <-ended:
		return o.ans, o.err
	case <-ctx.Done():
		return nil, fault.FromContext(ctx.Err())
	}
}
