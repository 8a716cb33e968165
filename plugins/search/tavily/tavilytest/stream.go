package tavilytest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// streamResearch writes the events of a research: a tool call, content in parts, sources, and the end.
func (c *call) streamResearch() {
	c.server.chargeKey(c.key, 50)
	c.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	c.w.WriteHeader(http.StatusOK)
	id := c.server.newID()
	source := map[string]any{"title": "Source", "url": "https://example.org/1", "favicon": ""}
	deltas := []map[string]any{
		{"role": "assistant", "tool_calls": map[string]any{
			"type": "tool_call", "tool_call": []any{map[string]any{"name": "WebSearch", "id": "t1", "arguments": "{}", "queries": []any{"q"}}},
		}},
		{"role": "assistant", "tool_calls": map[string]any{
			"type": "tool_response", "tool_response": []any{map[string]any{"name": "WebSearch", "id": "t1", "sources": []any{source}}},
		}},
		{"role": "assistant", "content": "# Report\n\n"},
		{"role": "assistant", "content": "On " + c.textField("input", "")},
		{"role": "assistant", "sources": []any{source}},
	}
	for _, d := range deltas {
		data, err := json.Marshal(map[string]any{
			"id": id, "object": "chat.completion.chunk", "model": c.textField("model", "auto"), "created": time.Now().Unix(),
			"choices": []any{map[string]any{"delta": d}},
		})
		if err != nil || !c.writeEvent(fmt.Sprintf("event: chat.completion.chunk\ndata: %s\n\n", data)) {
			return
		}
	}
	c.writeEvent("event: done\n")
}

func (c *call) writeEvent(text string) bool {
	if _, err := c.w.Write([]byte(text)); err != nil {
		return false
	}
	c.w.(http.Flusher).Flush()
	return c.server.pauseRequest(c.r, c.server.cfg.StreamDelay)
}

// pauseRequest waits and reports whether the client is still there.
func (s *Server) pauseRequest(r *http.Request, d time.Duration) bool {
	if d <= 0 {
		return r.Context().Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
	case <-s.done:
	}
	return false
}
