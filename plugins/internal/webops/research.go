package webops

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/internal/research"
	"github.com/patchbay-dev/patchbay/plugins/internal/searchapi"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

const (
	maxInput   = 10_000
	reasonBusy = "BUSY"
)

// chooseEffort is what the words for the length of a report mean; without one, the model stands for a length.
func chooseEffort(length, model string) research.Effort {
	if length == "" {
		length = map[string]string{"mini": "short", "pro": "long"}[model]
	}
	switch length {
	case "short":
		return research.Effort{Sources: 4, Passages: 2}
	case "long":
		return research.Effort{Sources: 15, Passages: 4}
	}
	return research.Effort{Sources: 8, Passages: 3}
}

// researchParams are a task, and what of the request is ignored.
type researchParams struct {
	research.Task
	ignored []string
}

func (o *Ops) parseResearch(body []byte) (t researchParams, err error) {
	p, err := searchapi.ReadParams(o.cfg.Backend, search.OpResearch, body)
	if err != nil {
		return t, err
	}
	t.Input, t.Model, t.ignored = p.Text("input"), p.Word("model", "auto"), p.Ignored
	t.Effort = chooseEffort(p.Text("output_length"), t.Model)
	if len(t.Input) > maxInput {
		return t, fmt.Errorf("input may have at most %d bytes", maxInput)
	}
	return t, All(
		func() (err error) { t.Include, err = ReadDomains(p, "include_domains"); return },
		func() (err error) { t.Exclude, err = ReadDomains(p, "exclude_domains"); return },
	)
}

type researchAnswer struct {
	RequestID    string          `json:"request_id"`
	CreatedAt    string          `json:"created_at,omitempty"`
	Status       research.Status `json:"status"`
	Input        string          `json:"input,omitempty"`
	Model        string          `json:"model,omitempty"`
	Error        string          `json:"error,omitempty"`
	ResponseTime float64         `json:"response_time"`
	Ignored      []string        `json:"ignored,omitempty"`
	Usage        *Usage          `json:"usage,omitempty"`
}

type reportAnswer struct {
	RequestID    string              `json:"request_id"`
	CreatedAt    string              `json:"created_at"`
	Status       research.Status     `json:"status"`
	Content      string              `json:"content"`
	Sources      []research.Citation `json:"sources"`
	ResponseTime float64             `json:"response_time"`
	Usage        *Usage              `json:"usage,omitempty"`
}

// beginResearch starts a research in the background.
func (o *Ops) beginResearch(ctx context.Context, t research.Task) (research.Report, error) {
	if o.cfg.Ready != nil {
		if err := o.cfg.Ready(ctx); err != nil {
			return research.Report{}, err
		}
	}
	r, err := o.research.Start(t)
	if err != nil {
		return r, errs.New(errs.Plugin, codes.Unavailable, reasonBusy, "%v", err)
	}
	return r, nil
}

// startResearch answers 200 at once: Tavily's Python client takes every other status for a failure. The id in the answer
// is that of the research, not of the request.
func (o *Ops) startResearch(ctx context.Context, req *search.Request, start time.Time) (*search.Response, error) {
	t, err := o.parseResearch(req.Body)
	if err != nil {
		return Answer(nil, BadRequest(err), start)
	}
	r, err := o.beginResearch(ctx, t.Task)
	if err != nil {
		return nil, err
	}
	resp, err := Answer(researchAnswer{
		RequestID: r.ID, CreatedAt: formatTimestamp(r.Created), Status: r.Status, Input: t.Input, Model: t.Model, Ignored: t.ignored,
		ResponseTime: Seconds(start),
	}, nil, start)
	if err != nil {
		return nil, err
	}
	resp.ResourceID = r.ID
	return resp, nil
}

func (o *Ops) researchResult(req *search.Request, start time.Time) (*search.Response, error) {
	r, ok := o.research.Get(req.ResourceID)
	if !ok {
		return Answer(nil, &Refusal{Status: http.StatusNotFound, Err: errors.New("research task not found")}, start)
	}
	usage := usageAsked(req.Query)
	switch r.Status {
	case research.Completed:
		return Answer(reportAnswer{
			RequestID: r.ID, CreatedAt: formatTimestamp(r.Created), Status: r.Status, Content: r.Content, Sources: r.Sources,
			ResponseTime: inSeconds(r.Took), Usage: usage,
		}, nil, start)
	case research.Failed:
		return Answer(researchAnswer{RequestID: r.ID, Status: r.Status, Error: r.Problem, ResponseTime: inSeconds(r.Took), Usage: usage}, nil,
			start)
	}
	return encodeAnswer(http.StatusAccepted, researchAnswer{RequestID: r.ID, Status: r.Status, ResponseTime: Seconds(r.Created)}, nil, start)
}

func usageAsked(query string) *Usage {
	values, err := url.ParseQuery(query)
	if err != nil || !strings.EqualFold(values.Get("include_usage"), "true") {
		return nil
	}
	return &Usage{}
}

func formatTimestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
