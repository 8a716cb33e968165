package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxBatch is how many messages one body may hold.
const maxBatch = 50

const (
	methodInitialize = "initialize"
	methodCallTool   = "tools/call"
	methodCancelled  = "notifications/cancelled"
	methodProgress   = "notifications/progress"
)

// messages are those of one body.
type messages struct {
	batch bool
	// calls have ids of ours, see keepCall.
	calls         []*jsonrpc.Request
	clients       []clientCall
	notifications []*jsonrpc.Request
	// refused are the answers to members of a batch that are no messages.
	refused []*jsonrpc.Response
	// initialize: the one message begins a session.
	initialize bool
}

func invalidRequest(why string) *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "Invalid request: " + why}
}

// parseMessages takes a body apart. Answers of the client to requests of ours are dropped: there are no such requests.
func parseMessages(raw []byte) (m messages, refusal *jsonrpc.Error) {
	if !json.Valid(raw) {
		return m, &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "Parse error"}
	}
	raw = bytes.TrimSpace(raw)
	if raw[0] != '[' {
		return m, m.addMessage(raw)
	}
	m.batch = true
	var parts []json.RawMessage
	if err := json.Unmarshal(raw, &parts); err != nil {
		return m, &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "Parse error"}
	}
	if len(parts) == 0 || len(parts) > maxBatch {
		return m, invalidRequest(fmt.Sprintf("a batch holds 1 to %d messages", maxBatch))
	}
	for _, part := range parts {
		if bad := m.addMessage(part); bad != nil {
			m.refused = append(m.refused, &jsonrpc.Response{Error: bad})
		}
	}
	return m, m.checkBatch()
}

func (m *messages) checkBatch() *jsonrpc.Error {
	seen := map[string]bool{}
	for i, r := range m.calls {
		if r.Method == methodInitialize {
			return invalidRequest("initialize must be sent alone")
		}
		key := m.clients[i].key
		if seen[key] {
			return invalidRequest("two messages have the same id")
		}
		seen[key] = true
	}
	return nil
}

// addMessage sorts one message in.
func (m *messages) addMessage(raw []byte) *jsonrpc.Error {
	// A map, not a struct: a name in other case is another member here, as it is for the SDK.
	var shape map[string]json.RawMessage
	if json.Unmarshal(raw, &shape) != nil {
		return invalidRequest("a message must be an object")
	}
	msg, err := jsonrpc.DecodeMessage(raw)
	if err != nil {
		return invalidRequest("not a message of JSON-RPC 2.0")
	}
	r, ok := msg.(*jsonrpc.Request)
	switch {
	case !ok:
	case string(shape["id"]) == "null":
		return invalidRequest("the id must not be null")
	case !r.IsCall():
		m.notifications = append(m.notifications, r)
	default:
		m.keepCall(r, shape["id"])
		m.initialize = r.Method == methodInitialize
	}
	return nil
}

// spendsQuota reports whether any of the messages is one that counts.
func (m *messages) spendsQuota() bool {
	for _, r := range m.calls {
		if r.Method == methodCallTool {
			return true
		}
	}
	return false
}

// checkHeaders compares the headers with what they repeat from the message, as the newer versions want it: whoever
// decides by the header must not be deceived.
func (p *post) checkHeaders(h http.Header) *jsonrpc.Error {
	for _, r := range p.calls {
		// Maps, not structs: names that differ in case alone are not the same here, as they are not for the SDK.
		var params, meta map[string]json.RawMessage
		_ = json.Unmarshal(r.Params, &params)
		_ = json.Unmarshal(params["_meta"], &meta)
		var name, said string
		_ = json.Unmarshal(params["name"], &name)
		_ = json.Unmarshal(meta[sdk.MetaKeyProtocolVersion], &said)
		sent := h.Get(headerVersion)
		if said != "" && said != sent {
			return versionMismatch(headerVersion)
		}
		if p.version < versionPerCall {
			continue
		}
		switch {
		case said == "":
			return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "missing _meta member " + sdk.MetaKeyProtocolVersion}
		case h.Get("Mcp-Method") != r.Method:
			return versionMismatch("Mcp-Method")
		case r.Method == methodCallTool && h.Get("Mcp-Name") != name:
			return versionMismatch("Mcp-Name")
		}
	}
	return nil
}

func versionMismatch(header string) *jsonrpc.Error {
	return &jsonrpc.Error{Code: sdk.CodeHeaderMismatch,
		Message: "the header " + header + " is missing or says something else than the message"}
}
