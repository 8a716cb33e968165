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
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

const (
	maxInput   = 10_000
	reasonBusy = "BUSY"
)

// effortOf is what the words for the length of a report mean; without one, the model stands for a length.
func effortOf(length, model string) research.Effort {
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

func parseResearch(body []byte) (t research.Task, err error) {
	p, err := ParseParams(body)
	if err != nil {
		return t, err
	}
	var length string
	err = All(
		func() (err error) { t.Input, err = p.Required("input"); return },
		func() (err error) { t.Model, err = p.Choice("model", "auto", "mini", "pro", "auto"); return },
		func() (err error) { length, err = p.Choice("output_length", "", "short", "standard", "long"); return },
		func() (err error) { _, err = p.Choice("citation_format", "numbered", "numbered"); return },
		func() (err error) { t.Include, err = p.Strings("include_domains"); return },
		func() (err error) { t.Exclude, err = p.Strings("exclude_domains"); return },
		p.noModel,
	)
	if err == nil && len(t.Input) > maxInput {
		err = fmt.Errorf("input may have at most %d bytes", maxInput)
	}
	t.Effort = effortOf(length, t.Model)
	return t, err
}

// noModel refuses what only a language model or an upstream could do.
func (p Params) noModel() error {
	var stream bool // the host has looked at it: it calls Stream or Invoke
	if err := p.Read("stream", &stream, "true or false"); err != nil {
		return err
	}
	for _, name := range []string{"output_schema", "files"} {
		if raw, ok := p[name]; ok && string(raw) != "[]" && string(raw) != "{}" {
			return fmt.Errorf("%s is not offered by this backend, which writes reports without a language model", name)
		}
	}
	return nil
}

type researchAnswer struct {
	RequestID    string          `json:"request_id"`
	CreatedAt    string          `json:"created_at,omitempty"`
	Status       research.Status `json:"status"`
	Input        string          `json:"input,omitempty"`
	Model        string          `json:"model,omitempty"`
	Error        string          `json:"error,omitempty"`
	ResponseTime float64         `json:"response_time"`
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
	t, err := parseResearch(req.Body)
	if err != nil {
		return Answer(nil, BadRequest(err), start)
	}
	r, err := o.beginResearch(ctx, t)
	if err != nil {
		return nil, err
	}
	resp, err := Answer(researchAnswer{
		RequestID: r.ID, CreatedAt: timestamp(r.Created), Status: r.Status, Input: t.Input, Model: t.Model, ResponseTime: Seconds(start),
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
			RequestID: r.ID, CreatedAt: timestamp(r.Created), Status: r.Status, Content: r.Content, Sources: r.Sources,
			ResponseTime: inSeconds(r.Took), Usage: usage,
		}, nil, start)
	case research.Failed:
		return Answer(researchAnswer{RequestID: r.ID, Status: r.Status, Error: r.Problem, ResponseTime: inSeconds(r.Took), Usage: usage}, nil, start)
	}
	return answer(http.StatusAccepted, researchAnswer{RequestID: r.ID, Status: r.Status, ResponseTime: Seconds(r.Created)}, nil, start)
}

func usageAsked(query string) *Usage {
	values, err := url.ParseQuery(query)
	if err != nil || !strings.EqualFold(values.Get("include_usage"), "true") {
		return nil
	}
	return &Usage{}
}

func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
