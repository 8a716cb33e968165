// Package webops has the operations that search backends share whose upstream does not have them: extract, map, crawl,
// and research with its result. They cost nothing and keep the fields and the forms of answers that clients of search
// APIs expect.
package webops

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/internal/crawl"
	"github.com/patchbay-dev/patchbay/plugins/internal/extract"
	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/plugins/internal/research"
	"github.com/patchbay-dev/patchbay/plugins/internal/searchapi"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// Config configures Ops.
type Config struct {
	// Backend is whose column of the table of parameters holds.
	Backend   searchapi.Backend
	UserAgent string
	Log       hclog.Logger
	// AllowHosts are exceptions of the guard, Timeout is for one page where a call does not say.
	AllowHosts []string
	Timeout    time.Duration
	// Parallel, Delay and Pages bound crawls: requests to one host at once, the pause between them, pages of one crawl.
	Parallel int
	Delay    time.Duration
	Pages    int
	// Find is the search that a research uses.
	Find func(ctx context.Context, q research.Query) ([]research.Source, error)
	// Own, if set, reads documents of the backend itself; own is false for an address that is none.
	Own func(ctx context.Context, address string, format extract.Format) (page *extract.Page, own bool, err error)
	// Ready, if set, is asked before a research begins: an error, such as that nothing is indexed yet, is that of the call.
	Ready func(ctx context.Context) error
}

const (
	maxPageBody = 5 << 20
	maxHops     = 5
	maxTimeout  = 60 * time.Second
	maxParallel = 16
	maxDelay    = 10 * time.Second
	maxPages    = 5000
)

// Check checks what a configuration says, under the names allow_hosts, timeout, crawl_parallel, crawl_delay and
// crawl_pages.
func (c Config) Check() schema.Diagnostics {
	var diags schema.Diagnostics
	for i, host := range c.AllowHosts {
		if _, err := httpx.NewGuard(httpx.GuardConfig{Allow: []string{host}}); err != nil {
			diags = append(diags, schema.Errorf(schema.At("allow_hosts").Index(i), "%v", err)...)
		}
	}
	if c.Timeout <= 0 || c.Timeout > maxTimeout {
		diags = append(diags, schema.Errorf(schema.At("timeout"), "timeout must be more than 0 and at most %s", maxTimeout)...)
	}
	if c.Parallel < 1 || c.Parallel > maxParallel {
		diags = append(diags, schema.Errorf(schema.At("crawl_parallel"), "crawl_parallel must be 1 to %d", maxParallel)...)
	}
	if c.Delay < 0 || c.Delay > maxDelay {
		diags = append(diags, schema.Errorf(schema.At("crawl_delay"), "crawl_delay must be 0s to %s", maxDelay)...)
	}
	if c.Pages < 1 || c.Pages > maxPages {
		diags = append(diags, schema.Errorf(schema.At("crawl_pages"), "crawl_pages must be 1 to %d", maxPages)...)
	}
	return diags
}

// Ops performs the operations. It is safe for concurrent use. Close it.
type Ops struct {
	cfg      Config
	pages    *httpx.Client
	links    *httpx.Client
	crawler  *crawl.Crawler
	research *research.Service
}

// New makes Ops. It opens no connection.
func New(cfg Config) (*Ops, error) {
	if cfg.UserAgent == "" {
		cfg.UserAgent = "patchbay"
	}
	guard, err := httpx.NewGuard(httpx.GuardConfig{Allow: cfg.AllowHosts})
	if err != nil {
		return nil, err
	}
	client := httpx.Config{MaxBody: maxPageBody, UserAgent: cfg.UserAgent, MaxRedirects: maxHops, Compression: true, Guard: guard}
	o := &Ops{cfg: cfg}
	if o.pages, err = httpx.New(client); err != nil {
		return nil, err
	}
	client.MaxRedirects = 0
	if o.links, err = httpx.New(client); err != nil {
		return nil, err
	}
	o.crawler, err = crawl.New(crawl.Config{
		Client: o.links, UserAgent: cfg.UserAgent, Parallel: cfg.Parallel, Delay: cfg.Delay, PageTimeout: cfg.Timeout, MaxPages: cfg.Pages,
	})
	if err != nil {
		return nil, err
	}
	o.research, err = research.New(research.Config{Library: library{o}, Log: cfg.Log})
	return o, err
}

// Crawler is the one that map and crawl use: its bounds for hosts are to hold for other crawls of the backend as well.
func (o *Ops) Crawler() *crawl.Crawler { return o.crawler }

// Close ends the researches that are under way and closes idle connections.
func (o *Ops) Close() error {
	o.research.Close()
	return errors.Join(o.pages.Close(), o.links.Close())
}

// Invoke performs one of the operations; another is the host's error.
func (o *Ops) Invoke(ctx context.Context, req *search.Request) (*search.Response, error) {
	start := time.Now()
	switch req.Operation {
	case search.OpExtract:
		out, err := o.runExtract(ctx, req, start)
		return Answer(out, err, start)
	case search.OpMap, search.OpCrawl:
		out, err := o.runCrawl(ctx, req, start)
		return Answer(out, err, start)
	case search.OpResearch:
		return o.startResearch(ctx, req, start)
	case search.OpResearchResult:
		return o.researchResult(req, start)
	}
	return nil, errs.New(errs.Host, codes.Unimplemented, errs.ReasonUnsupported, "operation %q is not offered", req.Operation)
}

// readPage gets the text of a page, or of a document of the backend itself.
func (o *Ops) readPage(ctx context.Context, address string, format extract.Format, timeout time.Duration) (*extract.Page, error) {
	if o.cfg.Own != nil {
		if page, own, err := o.cfg.Own(ctx, address, format); own {
			return page, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return extract.Fetch(ctx, o.pages, address, format)
}

// library is what a research works with.
type library struct{ ops *Ops }

// Find implements research.Library.
func (l library) Find(ctx context.Context, q research.Query) ([]research.Source, error) {
	if l.ops.cfg.Find == nil {
		return nil, fmt.Errorf("search: there is none")
	}
	return l.ops.cfg.Find(ctx, q)
}

// Read implements research.Library.
func (l library) Read(ctx context.Context, address string) (string, error) {
	page, err := l.ops.readPage(ctx, address, extract.Text, l.ops.cfg.Timeout)
	if err != nil {
		return "", err
	}
	return page.Text, nil
}
