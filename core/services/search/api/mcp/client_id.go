package mcp

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/patchbay-dev/patchbay/sdk/jsonedit"
)

// clientCall is what a client has named a call and its progress by. Both are sent back byte for byte: the SDK reads numbers as
// float64 and would change them, so it gets ids of ours in their place.
type clientCall struct {
	id json.RawMessage
	// key is the same for ids that are the same.
	key string
	// progress is the progress token, or nil.
	progress json.RawMessage
}

// keepCall adds a call, and gives it an id and a progress token of ours.
func (m *messages) keepCall(r *jsonrpc.Request, id json.RawMessage) {
	ours := int64(len(m.calls) + 1)
	call := clientCall{id: id, key: idKey(id)}
	if token, params, ok := replaceProgressToken(r.Params, strconv.FormatInt(ours, 10)); ok {
		call.progress, r.Params = token, params
	}
	r.ID = callID(ours)
	m.calls, m.clients = append(m.calls, r), append(m.clients, call)
}

// callID is the id that the SDK knows the nth call of a body by, from 1 on.
func callID(n int64) jsonrpc.ID {
	// An integer that small is exact as a float64.
	id, _ := jsonrpc.MakeID(float64(n))
	return id
}

// clientCall returns what the client has named a call by; nothing for an id that is none of ours.
func (m *messages) clientCall(id jsonrpc.ID) clientCall {
	if n, ok := id.Raw().(int64); ok && n >= 1 && n <= int64(len(m.clients)) {
		return m.clients[n-1]
	}
	return clientCall{}
}

// onlyID is the id of a single call, else none.
func (m *messages) onlyID() json.RawMessage {
	if !m.batch && len(m.clients) == 1 {
		return m.clients[0].id
	}
	return nil
}

// idKey returns a text that is the same for ids that are the same: strings by what they say, numbers by how they are written.
func idKey(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return "s" + text
	}
	return "n" + string(raw)
}

// replaceProgressToken returns the progress token of params as the client wrote it, and params with ours in its place. ok is
// false if there is none, or none that the protocol permits.
func replaceProgressToken(params json.RawMessage, ours string) (token, changed json.RawMessage, ok bool) {
	meta, found, err := jsonedit.Find(params, "_meta")
	if err != nil || !found {
		return nil, nil, false
	}
	rawMeta := meta.Value(params)
	m, found, err := jsonedit.Find(rawMeta, "progressToken")
	if err != nil || !found {
		return nil, nil, false
	}
	token = bytes.Clone(m.Value(rawMeta))
	if token[0] != '"' && token[0] != '-' && (token[0] < '0' || token[0] > '9') {
		return nil, nil, false
	}
	rawMeta, err = jsonedit.Set(rawMeta, "progressToken", []byte(strconv.Quote(ours)))
	if err != nil {
		return nil, nil, false
	}
	changed, err = jsonedit.Set(params, "_meta", rawMeta)
	return token, changed, err == nil
}
