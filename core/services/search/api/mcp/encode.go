package mcp

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/gin-gonic/gin"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/patchbay-dev/patchbay/core/httpd"
)

// wireResponse is a response as it is written. An id that is not known is null, as JSON-RPC wants it.
type wireResponse struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *jsonrpc.Error  `json:"error,omitempty"`
}

// encodeResponse writes a response to the call that the client has given the id.
func encodeResponse(id json.RawMessage, r *jsonrpc.Response) json.RawMessage {
	out := wireResponse{Version: "2.0", ID: id, Result: r.Result}
	if r.Error != nil {
		out.Result, out.Error = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: r.Error.Error()}
		var inner *jsonrpc.Error
		if errors.As(r.Error, &inner) {
			out.Error.Code, out.Error.Data = inner.Code, inner.Data
		}
	}
	return encodeWire(out)
}

// encodeMessage writes a notification of ours.
func encodeMessage(m jsonrpc.Message) json.RawMessage {
	raw, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return encodeFailure()
	}
	return raw
}

func encodeWire(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return encodeFailure()
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

func encodeFailure() json.RawMessage {
	return json.RawMessage(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"Internal error"}}`)
}

// writeRPCError answers with an error of JSON-RPC.
func writeRPCError(c *gin.Context, status int, id json.RawMessage, e *jsonrpc.Error) {
	c.Header("Cache-Control", "no-store")
	httpd.WriteBody(c, status, "application/json", encodeResponse(id, &jsonrpc.Response{Error: e}))
}
