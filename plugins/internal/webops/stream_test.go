package webops_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/plugins/internal/webops"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// recorded keeps a streamed answer.
type recorded struct {
	head search.Head
	bytes.Buffer
}

func (r *recorded) Start(h *search.Head) error {
	r.head = *h
	return nil
}

func stream(t *testing.T, o *webops.Ops, body string) *recorded {
	t.Helper()
	var out recorded
	if _, err := o.Stream(t.Context(), &search.Request{Operation: search.OpResearch, Body: []byte(body)}, &out); err != nil {
		t.Fatal(err)
	}
	return &out
}

// TestStreamedResearch reads the events as clients of the API do: chunks with deltas, and a last event without data.
func TestStreamedResearch(t *testing.T) {
	o := newOps(t, config(newSite(t)))
	out := stream(t, o, `{"input":"What can the crane lift? Who drives the crane?","stream":true,"model":"mini"}`)
	if out.head.Status != http.StatusOK || out.head.ContentType != "text/event-stream" || out.head.ResourceID == "" {
		t.Fatalf("head is %+v", out.head)
	}
	var kinds []string
	content, sources := "", 0
	for event := range strings.SplitSeq(strings.TrimSuffix(out.String(), "\n\n"), "\n\n") {
		name, data, _ := strings.Cut(event, "\n")
		if name == "event: done" {
			kinds = append(kinds, "done")
			continue
		}
		var c struct {
			ID, Object, Model string
			Created           int64
			Choices           []struct {
				Delta struct {
					Role, Content string
					Sources       []any
					ToolCalls     struct {
						Type string
						Call []struct{ Queries []string } `json:"tool_call"`
					} `json:"tool_calls"`
				}
			}
		}
		text, isData := strings.CutPrefix(data, "data: ")
		if err := json.Unmarshal([]byte(text), &c); err != nil || !isData || name != "event: chat.completion.chunk" || len(c.Choices) != 1 {
			t.Fatalf("event %q: %v", event, err)
		}
		d := c.Choices[0].Delta
		if c.ID != out.head.ResourceID || c.Object != "chat.completion.chunk" || c.Model != "mini" || c.Created == 0 || d.Role != "assistant" {
			t.Errorf("chunk is %+v", c)
		}
		switch {
		case d.Content != "":
			content += d.Content
		case d.Sources != nil:
			kinds, sources = append(kinds, "sources"), len(d.Sources)
		default:
			kinds = append(kinds, d.ToolCalls.Type)
			if d.ToolCalls.Type == "tool_call" && len(d.ToolCalls.Call[0].Queries) != 3 {
				t.Errorf("searches are %+v", d.ToolCalls)
			}
		}
	}
	if diff := cmp.Diff([]string{"tool_call", "tool_response", "sources", "done"}, kinds); diff != "" || sources != 3 {
		t.Errorf("%d sources, events: %s", sources, diff)
	}
	_, whole := result(t, o, out.head.ResourceID)
	if whole["content"] != content || !strings.Contains(content, "forty tonnes") {
		t.Errorf("streamed\n%s\nwhile the result is\n%v", content, whole["content"])
	}
}

func TestStreamedResearchThatFails(t *testing.T) {
	o := newOps(t, config(newSite(t)))
	if out := stream(t, o, `{"input":"fail","stream":true}`); !strings.HasSuffix(out.String(),
		"event: error\ndata: {\"error\":\"the search did not answer\"}\n\n") {
		t.Errorf("got %s", out)
	}
	if out := stream(t, o, `{"stream":true}`); out.head.Status != http.StatusBadRequest || out.head.ContentType != "application/json" ||
		!strings.Contains(out.String(), "input") {
		t.Errorf("got %d %s", out.head.Status, out)
	}
	if _, err := o.Stream(t.Context(), &search.Request{Operation: search.OpCrawl}, &recorded{}); err == nil {
		t.Error("a crawl was streamed")
	}
}
