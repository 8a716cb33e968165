package webops

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/internal/research"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

const (
	typeEvents = "text/event-stream"
	eventChunk = "chat.completion.chunk"
	toolName   = "WebSearch"
	// contentSize is the size from which on a part of a report is sent, in bytes.
	contentSize = 1000
)

// chunk is the data of one event of a streamed research.
type chunk struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Model   string   `json:"model"`
	Created int64    `json:"created"`
	Choices []choice `json:"choices"`
	Ignored []string `json:"ignored,omitempty"`
}

type choice struct {
	Delta delta `json:"delta"`
}

type delta struct {
	Role      string              `json:"role"`
	Content   string              `json:"content,omitempty"`
	ToolCalls *toolCalls          `json:"tool_calls,omitempty"`
	Sources   []research.Citation `json:"sources,omitempty"`
}

// toolCalls are the searches that begin, or what they have found; Type says which.
type toolCalls struct {
	Type     string     `json:"type"`
	Call     []toolCall `json:"tool_call,omitempty"`
	Response []toolCall `json:"tool_response,omitempty"`
}

type toolCall struct {
	Name      string              `json:"name"`
	ID        string              `json:"id"`
	Arguments string              `json:"arguments"`
	Queries   []string            `json:"queries,omitempty"`
	Sources   []research.Citation `json:"sources,omitempty"`
}

// Stream starts a research and sends its report as server-sent events. The research goes on when the stream is cut: its
// result can be fetched by the id that the head and each event carry.
func (o *Ops) Stream(ctx context.Context, req *search.Request, w search.StreamWriter) (*search.Usage, error) {
	start := time.Now()
	if req.Operation != search.OpResearch {
		return nil, errs.New(errs.Host, codes.Unimplemented, errs.ReasonUnsupported, "operation %q does not stream", req.Operation)
	}
	t, err := o.parseResearch(req.Body)
	if err != nil {
		return nil, sendRefusal(w, err, start)
	}
	r, err := o.beginResearch(ctx, t.Task)
	if err != nil {
		return nil, err
	}
	head := search.Head{Status: http.StatusOK, ContentType: typeEvents, ResourceID: r.ID, Upstream: time.Since(start), Usage: &search.Usage{}}
	if err := w.Start(&head); err != nil {
		return nil, err
	}
	s := eventStream{w: w, report: r, ignored: t.ignored}
	if err := s.sendDelta(delta{ToolCalls: s.searchBegins()}); err != nil {
		return nil, err
	}
	if s.report, err = o.research.Wait(ctx, r.ID); err != nil {
		return nil, err
	}
	return nil, s.sendReport()
}

// sendRefusal answers a bad request as a whole.
func sendRefusal(w search.StreamWriter, refusal error, start time.Time) error {
	resp, err := Answer(nil, BadRequest(refusal), start)
	if err != nil {
		return err
	}
	if err := w.Start(&resp.Head); err != nil {
		return err
	}
	_, err = w.Write(resp.Body)
	return err
}

// eventStream sends the events of one research.
type eventStream struct {
	w      search.StreamWriter
	report research.Report
	// ignored stands in each event of the report.
	ignored []string
}

func (s *eventStream) searchBegins() *toolCalls {
	return &toolCalls{Type: "tool_call", Call: []toolCall{{
		Name: toolName, ID: s.report.ID, Arguments: "{}", Queries: research.Queries(s.report.Task.Input),
	}}}
}

// sendReport sends a report that has ended: what was found, the text in parts, the sources and the end.
func (s *eventStream) sendReport() error {
	r := s.report
	if r.Status == research.Failed {
		return s.sendEvent("error", map[string]string{"error": r.Problem})
	}
	deltas := []delta{{ToolCalls: &toolCalls{Type: "tool_response",
		Response: []toolCall{{Name: toolName, ID: r.ID, Arguments: "{}", Sources: r.Sources}}}}}
	for _, part := range splitContent(r.Content) {
		deltas = append(deltas, delta{Content: part})
	}
	for _, d := range append(deltas, delta{Sources: r.Sources}) {
		if err := s.sendDelta(d); err != nil {
			return err
		}
	}
	_, err := s.w.Write([]byte("event: done\n\n"))
	return err
}

func (s *eventStream) sendDelta(d delta) error {
	d.Role = "assistant"
	r := s.report
	return s.sendEvent(eventChunk, chunk{
		ID: r.ID, Object: eventChunk, Model: r.Task.Model, Created: r.Created.Unix(), Choices: []choice{{Delta: d}}, Ignored: s.ignored,
	})
}

func (s *eventStream) sendEvent(name string, v any) error {
	data, err := encodeJSON(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", name, data)
	return err
}

// splitContent cuts a report after lines into parts of at least contentSize bytes. Joined they are the report.
func splitContent(text string) []string {
	var out []string
	var part strings.Builder
	for line := range strings.Lines(text) {
		part.WriteString(line)
		if part.Len() >= contentSize {
			out = append(out, part.String())
			part.Reset()
		}
	}
	if part.Len() > 0 {
		out = append(out, part.String())
	}
	return out
}
