package webops

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/extract"
	"github.com/patchbay-dev/patchbay/plugins/internal/searchapi"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

const (
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
	ignored []string
}

func (o *Ops) parseExtract(body []byte) (extractParams, error) {
	p, err := searchapi.ReadParams(o.cfg.Backend, search.OpExtract, body)
	if err != nil {
		return extractParams{}, err
	}
	out := extractParams{
		urls: p.Texts("urls"), images: p.Flag("include_images", false), format: readFormat(p), timeout: p.Seconds("timeout", o.cfg.Timeout),
		usage: ReadUsage(p), ignored: p.Ignored,
	}
	return out, checkURLs(out.urls)
}

type extractAnswer struct {
	Results      []extracted `json:"results"`
	Failed       []failure   `json:"failed_results"`
	ResponseTime float64     `json:"response_time"`
	Ignored      []string    `json:"ignored,omitempty"`
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

func (o *Ops) runExtract(ctx context.Context, req *search.Request, start time.Time) (any, error) {
	p, err := o.parseExtract(req.Body)
	if err != nil {
		return nil, BadRequest(err)
	}
	pages, problems := o.readAll(ctx, p)
	if err := ctx.Err(); err != nil {
		// Whoever asked has left: what could not be read for that is no failure of the pages.
		return nil, err
	}
	out := extractAnswer{Results: []extracted{}, Failed: []failure{}, Ignored: p.ignored, Usage: p.usage, RequestID: AnswerID(req)}
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
			out.Failed = append(out.Failed, failure{URL: u, Error: problemText(err)})
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
			pages[i], problems[i] = o.readPage(ctx, strings.TrimSpace(u), p.format, p.timeout)
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
