package webops

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/crawl"
	"github.com/patchbay-dev/patchbay/plugins/internal/searchapi"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

const (
	defaultBreadth = 20
	defaultLimit   = 50
	crawlTime      = 150 * time.Second
)

type crawlParams struct {
	crawl.Options
	images  bool
	usage   *Usage
	ignored []string
}

func (o *Ops) parseCrawl(req *search.Request) (out crawlParams, err error) {
	p, err := searchapi.ReadParams(o.cfg.Backend, req.Operation, req.Body)
	if err != nil {
		return out, err
	}
	out.MaxText, out.usage, out.ignored = textBudget, ReadUsage(p), p.Ignored
	out.MaxDepth, out.MaxBreadth, out.Limit = p.Integer("max_depth", 1), p.Integer("max_breadth", defaultBreadth),
		p.Integer("limit", defaultLimit)
	out.External, out.Timeout = p.Flag("allow_external", true), p.Seconds("timeout", crawlTime)
	if req.Operation == search.OpCrawl {
		out.Format, out.images = readFormat(p), p.Flag("include_images", false)
	}
	return out, All(
		func() (err error) { out.Start, err = readStart(p); return },
		func() (err error) { out.SelectPaths, err = readPatterns(p, "select_paths"); return },
		func() (err error) { out.SelectDomains, err = readPatterns(p, "select_domains"); return },
		func() (err error) { out.ExcludePaths, err = readPatterns(p, "exclude_paths"); return },
		func() (err error) { out.ExcludeDomains, err = readPatterns(p, "exclude_domains"); return },
	)
}

// crawlAnswer is the answer to map and to crawl, whose results are addresses and texts. Failed is more than the API
// that this follows has: without it, a crawl that finds nothing could not say why.
type crawlAnswer struct {
	BaseURL      string    `json:"base_url"`
	Results      any       `json:"results"`
	Failed       []failure `json:"failed_results,omitempty"`
	ResponseTime float64   `json:"response_time"`
	Ignored      []string  `json:"ignored,omitempty"`
	Usage        *Usage    `json:"usage,omitempty"`
	RequestID    string    `json:"request_id"`
}

func (o *Ops) runCrawl(ctx context.Context, req *search.Request, start time.Time) (any, error) {
	p, err := o.parseCrawl(req)
	if err != nil {
		return nil, BadRequest(err)
	}
	if err := o.links.Check(p.Start); err != nil {
		return nil, &Refusal{Status: http.StatusForbidden, Err: fmt.Errorf("URL is not supported: %s", problemText(err))}
	}
	found, err := o.crawler.Run(ctx, p.Options)
	if err != nil {
		return nil, err
	}
	out := crawlAnswer{BaseURL: found.Base, Ignored: p.ignored, Usage: p.usage, RequestID: AnswerID(req)}
	for _, f := range found.Failed {
		out.Failed = append(out.Failed, failure{URL: f.URL, Error: problemText(f.Err)})
	}
	if req.Operation == search.OpCrawl {
		out.Results = listTexts(found, p.images)
	} else {
		out.Results = listAddresses(found)
	}
	out.ResponseTime = Seconds(start)
	return out, nil
}

func listTexts(found *crawl.Result, images bool) []extracted {
	out := []extracted{}
	for _, p := range found.Pages {
		out = append(out, extracted{URL: p.URL, RawContent: p.Text, Images: imagesIf(images, p.Images)})
	}
	return out
}

func listAddresses(found *crawl.Result) []string {
	out := []string{}
	for _, p := range found.Pages {
		out = append(out, p.URL)
	}
	return out
}
