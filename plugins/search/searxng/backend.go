package searxng

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/plugins/internal/research"
	"github.com/patchbay-dev/patchbay/plugins/internal/searchapi"
	"github.com/patchbay-dev/patchbay/plugins/internal/webops"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// backend is safe for concurrent use.
type backend struct {
	cfg      Config
	log      hclog.Logger
	client   *httpx.Client
	endpoint *url.URL
	ops      *webops.Ops
	engines  *engineList
	trouble  trouble
}

const (
	// maxPages is how many pages of results one search may take.
	maxPages = 5
	// strict is the highest level of safesearch.
	strict   = 2
	maxBytes = 8 << 20
)

func newBackend(inst search.Instance, cfg Config) (*backend, error) {
	agent := inst.UserAgent
	if agent == "" {
		agent = "patchbay"
	}
	b := &backend{cfg: cfg, log: inst.Log}
	if b.log == nil {
		b.log = hclog.NewNullLogger()
	}
	var err error
	// The operator names this address, not a caller: it may be on an inner network.
	b.client, err = httpx.New(httpx.Config{BaseURL: cfg.BaseURL, Timeout: cfg.Timeout, MaxBody: maxBytes, UserAgent: agent, Compression: true,
		TracePath: true})
	if err != nil {
		return nil, err
	}
	b.endpoint = b.client.Endpoint("/search")
	b.engines = &engineList{client: b.client, endpoint: b.client.Endpoint("/config")}
	ops := cfg.webopsConfig()
	ops.UserAgent, ops.Log, ops.Find = agent, b.log, b.findSources
	b.ops, err = webops.New(ops)
	return b, err
}

// Close ends researches and closes idle connections.
func (b *backend) Close() error { return errors.Join(b.ops.Close(), b.client.Close()) }

// Invoke implements search.Backend.
func (b *backend) Invoke(ctx context.Context, req *search.Request) (*search.Response, error) {
	if req.Operation != search.OpSearch {
		return b.ops.Invoke(ctx, req)
	}
	start := time.Now()
	out, err := b.answerSearch(ctx, req, start)
	return webops.Answer(out, err, start)
}

// Stream implements search.Streamer.
func (b *backend) Stream(ctx context.Context, req *search.Request, w search.StreamWriter) (*search.Usage, error) {
	return b.ops.Stream(ctx, req, w)
}

// queryValues is what the server is asked for one page of results.
func (b *backend) queryValues(p *searchParams, number int) url.Values {
	q := url.Values{"q": {p.queryText()}, "format": {"json"}, "pageno": {strconv.Itoa(number)}, "language": {p.localeFor(b.cfg.Language)}}
	safe := b.cfg.SafeSearch
	if p.safe {
		safe = strict
	}
	q.Set("safesearch", strconv.Itoa(safe))
	if p.timeRange != "" {
		q.Set("time_range", p.timeRange)
	}
	switch {
	case p.news:
		q.Set("categories", "news")
	case len(b.cfg.Categories) > 0:
		q.Set("categories", strings.Join(b.cfg.Categories, ","))
	}
	if len(b.cfg.Engines) > 0 {
		q.Set("engines", strings.Join(b.cfg.Engines, ","))
	}
	return q
}

// imageQuery is what the server is asked for images. The engines of the configuration may have none.
func (b *backend) imageQuery(p *searchParams) url.Values {
	q := b.queryValues(p, 1)
	q.Set("categories", "images")
	q.Del("engines")
	return q
}

// findSources finds pages for a research.
func (b *backend) findSources(ctx context.Context, q research.Query) ([]research.Source, error) {
	p := searchParams{query: q.Text, results: min(q.Max, searchapi.MaxResults)}
	for _, d := range q.Include {
		p.include = append(p.include, webops.BareDomain(d))
	}
	for _, d := range q.Exclude {
		p.exclude = append(p.exclude, webops.BareDomain(d))
	}
	hits, _, err := b.findHits(ctx, &p)
	if err != nil {
		return nil, err
	}
	var out []research.Source
	for _, h := range hits {
		out = append(out, research.Source{Title: h.Title, URL: h.URL, Content: h.Content})
	}
	return out, nil
}
