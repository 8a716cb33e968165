package webops

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/crawl"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

const (
	defaultBreadth = 20
	defaultLimit   = 50
	crawlSeconds   = 150
)

type crawlParams struct {
	crawl.Options
	images bool
	usage  *Usage
}

func parseCrawl(body []byte, texts bool) (out crawlParams, err error) {
	p, err := ParseParams(body)
	if err != nil {
		return out, err
	}
	out.MaxDepth, out.MaxBreadth, out.Limit, out.External = 1, defaultBreadth, defaultLimit, true
	out.MaxText = textBudget
	var instructions string
	var chunks int = 1
	err = All(
		func() (err error) { out.Start, err = p.start(); return },
		func() error { return p.Integer("max_depth", &out.MaxDepth, 1, 5) },
		func() error { return p.Integer("max_breadth", &out.MaxBreadth, 1, 500) },
		func() error { return p.Integer("limit", &out.Limit, 1, math.MaxInt32) },
		func() (err error) { out.SelectPaths, err = p.Patterns("select_paths"); return },
		func() (err error) { out.SelectDomains, err = p.Patterns("select_domains"); return },
		func() (err error) { out.ExcludePaths, err = p.Patterns("exclude_paths"); return },
		func() (err error) { out.ExcludeDomains, err = p.Patterns("exclude_domains"); return },
		func() error { return p.Read("allow_external", &out.External, "true or false") },
		func() (err error) {
			out.Timeout, err = p.Seconds("timeout", crawlSeconds*time.Second, 10, crawlSeconds)
			return
		},
		func() error { return p.Read("instructions", &instructions, "a string") },
		func() (err error) { out.usage, err = p.Usage(); return },
	)
	if err != nil || !texts {
		return out, err
	}
	return out, All(
		func() (err error) { out.Format, err = p.format(); return },
		func() error { return p.Read("include_images", &out.images, "true or false") },
		func() (err error) { _, err = p.Choice("extract_depth", "basic", "basic", "advanced"); return },
		func() error { return p.Integer("chunks_per_source", &chunks, 1, 5) },
	)
}

// start reads the address to begin with; one without a scheme is taken for https.
func (p Params) start() (*url.URL, error) {
	raw, err := p.Required("url")
	if err != nil {
		return nil, err
	}
	raw = strings.TrimSpace(raw)
	if !strings.Contains(raw, "://") {
		raw = "https://" + raw
	}
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || len(raw) > maxAddress {
		return nil, errors.New("url must be an http or https address")
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("url must be an http or https address")
	}
	if u.User != nil {
		return nil, errors.New("url must not hold a user or password")
	}
	return u, nil
}

// crawlAnswer is the answer to map and to crawl, whose results are addresses and texts. Failed is more than the API
// that this follows has: without it, a crawl that finds nothing could not say why.
type crawlAnswer struct {
	BaseURL      string    `json:"base_url"`
	Results      any       `json:"results"`
	Failed       []failure `json:"failed_results,omitempty"`
	ResponseTime float64   `json:"response_time"`
	Usage        *Usage    `json:"usage,omitempty"`
	RequestID    string    `json:"request_id"`
}

func (o *Ops) crawl(ctx context.Context, req *search.Request, start time.Time) (any, error) {
	texts := req.Operation == search.OpCrawl
	p, err := parseCrawl(req.Body, texts)
	if err != nil {
		return nil, BadRequest(err)
	}
	if err := o.links.Check(p.Start); err != nil {
		return nil, &Refusal{Status: http.StatusForbidden, Err: fmt.Errorf("URL is not supported: %s", problem(err))}
	}
	found, err := o.crawler.Run(ctx, p.Options)
	if err != nil {
		return nil, err
	}
	out := crawlAnswer{BaseURL: found.Base, Usage: p.usage, RequestID: AnswerID(req)}
	for _, f := range found.Failed {
		out.Failed = append(out.Failed, failure{URL: f.URL, Error: problem(f.Err)})
	}
	if texts {
		out.Results = textsOf(found, p.images)
	} else {
		out.Results = addressesOf(found)
	}
	out.ResponseTime = Seconds(start)
	return out, nil
}

func textsOf(found *crawl.Result, images bool) []extracted {
	out := []extracted{}
	for _, p := range found.Pages {
		out = append(out, extracted{URL: p.URL, RawContent: p.Text, Images: imagesIf(images, p.Images)})
	}
	return out
}

func addressesOf(found *crawl.Result) []string {
	out := []string{}
	for _, p := range found.Pages {
		out = append(out, p.URL)
	}
	return out
}
