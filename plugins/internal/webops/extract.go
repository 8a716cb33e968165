package webops

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/extract"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

const (
	maxURLs    = 20
	maxAddress = 4096
	maxFetches = 4
	// textBudget bounds the text of one answer, in bytes.
	textBudget = 10 << 20
)

type extractParams struct {
	urls    []string
	images  bool
	format  extract.Format
	timeout time.Duration
	usage   *Usage
}

func (o *Ops) parseExtract(body []byte) (out extractParams, err error) {
	p, err := ParseParams(body)
	if err != nil {
		return out, err
	}
	err = All(
		func() (err error) { out.urls, err = p.Strings("urls"); return },
		func() error { return p.Read("include_images", &out.images, "true or false") },
		func() (err error) { out.format, err = p.format(); return },
		func() (err error) { _, err = p.Choice("extract_depth", "basic", "basic", "advanced"); return },
		func() (err error) { out.timeout, err = p.Seconds("timeout", o.cfg.Timeout, 1, 60); return },
		func() (err error) { out.usage, err = p.Usage(); return },
		func() error { return checkURLs(out.urls) },
	)
	return out, err
}

func (p Params) format() (extract.Format, error) {
	s, err := p.Choice("format", "markdown", "markdown", "text")
	return extract.Format(s), err
}

func checkURLs(urls []string) error {
	if len(urls) == 0 {
		return errors.New("urls is required")
	}
	if len(urls) > maxURLs {
		return fmt.Errorf("urls may hold at most %d addresses", maxURLs)
	}
	for _, u := range urls {
		if strings.TrimSpace(u) == "" || len(u) > maxAddress {
			return fmt.Errorf("urls must be addresses of 1 to %d bytes", maxAddress)
		}
	}
	return nil
}

type extractAnswer struct {
	Results      []extracted `json:"results"`
	Failed       []failure   `json:"failed_results"`
	ResponseTime float64     `json:"response_time"`
	Usage        *Usage      `json:"usage,omitempty"`
	RequestID    string      `json:"request_id"`
}

type extracted struct {
	URL        string   `json:"url"`
	RawContent string   `json:"raw_content"`
	Images     []string `json:"images"`
}

type failure struct {
	URL   string `json:"url"`
	Error string `json:"error"`
}

func (o *Ops) extract(ctx context.Context, req *search.Request, start time.Time) (any, error) {
	p, err := o.parseExtract(req.Body)
	if err != nil {
		return nil, BadRequest(err)
	}
	pages, problems := o.readAll(ctx, p)
	if err := ctx.Err(); err != nil {
		// Whoever asked has left: what could not be read for that is no failure of the pages.
		return nil, err
	}
	out := extractAnswer{Results: []extracted{}, Failed: []failure{}, Usage: p.usage, RequestID: AnswerID(req)}
	budget := textBudget
	for i, u := range p.urls {
		page, err := pages[i], problems[i]
		if err != nil && errs.From(err).Reason == errs.ReasonNotReady {
			return nil, err
		}
		if err == nil && len(page.Text) > budget {
			err = errors.New("answer would be too large; ask for fewer pages")
		}
		if err != nil {
			out.Failed = append(out.Failed, failure{URL: u, Error: problem(err)})
			continue
		}
		budget -= len(page.Text)
		out.Results = append(out.Results, extracted{URL: u, RawContent: page.Text, Images: imagesIf(p.images, page.Images)})
	}
	out.ResponseTime = Seconds(start)
	return out, nil
}

func imagesIf(asked bool, images []string) []string {
	if !asked || images == nil {
		return []string{}
	}
	return images
}

// readAll gets the pages side by side, a few at a time.
func (o *Ops) readAll(ctx context.Context, p extractParams) ([]*extract.Page, []error) {
	pages, problems := make([]*extract.Page, len(p.urls)), make([]error, len(p.urls))
	slots := make(chan struct{}, maxFetches)
	var all sync.WaitGroup
	for i, u := range p.urls {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			pages[i], problems[i] = o.read(ctx, strings.TrimSpace(u), p.format, p.timeout)
		})
	}
	all.Wait()
	return pages, problems
}

// Texts gets the texts of pages, in their order; nil for one that cannot be had, or does not fit any more into one
// answer.
func (o *Ops) Texts(ctx context.Context, urls []string, format extract.Format) []*string {
	pages, problems := o.readAll(ctx, extractParams{urls: urls, format: format, timeout: o.cfg.Timeout})
	out, budget := make([]*string, len(urls)), textBudget
	for i, p := range pages {
		if problems[i] == nil && len(p.Text) <= budget {
			budget -= len(p.Text)
			out[i] = &p.Text
		}
	}
	return out
}
