package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/internal/documents"
	"github.com/patchbay-dev/patchbay/plugins/internal/webops"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

const (
	// emptyWait is how long a call waits for the first document of an empty index, and emptyRetry when it may come again.
	emptyWait  = 1500 * time.Millisecond
	emptyRetry = 5 * time.Second
	// emptyPoll is how often it looks.
	emptyPoll = 20 * time.Millisecond
)

// backend is safe for concurrent use.
type backend struct {
	follower *follower
	ops      *webops.Ops
	// visit wakes the visits to sites.
	visit chan struct{}
	// reindexing lets one call begin a re-index at a time. dir is the directory of the index.
	reindexing sync.Mutex
	dir        string

	cancel context.CancelFunc
	done   sync.WaitGroup
}

// openBackend opens the index and starts to follow the files; it does not wait until they are indexed.
func openBackend(inst search.Instance, cfg Config, rules *rules, roots []root, addresses []siteAddress) (*backend, error) {
	if inst.DataDir == "" {
		return nil, errors.New("open index: the instance has no data directory")
	}
	sites, err := openSites(inst.DataDir, addresses)
	if err != nil {
		return nil, err
	}
	ix, manifest, err := openIndex(indexDir(inst), inst.Log)
	if err != nil {
		return nil, err
	}
	gen := openGeneration(inst.DataDir)
	b := &backend{dir: indexDir(inst), visit: make(chan struct{}, 1), follower: &follower{
		index: ix, roots: roots, rules: rules, sites: sites, generation: gen, documents: newReader(inst, cfg), log: inst.Log, now: time.Now,
		manifest: manifest, written: manifest,
		ready: make(chan struct{}), wake: make(chan struct{}, 1),
	}}
	if b.ops, err = webops.New(b.webopsSettings(inst, cfg)); err != nil {
		return nil, errors.Join(err, ix.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	b.cancel = cancel
	b.done.Go(func() { b.follower.runUntilDone(ctx, cfg.Rescan) })
	r := &refresher{
		sites: sites, crawler: b.ops.Crawler().WithMaxPages(cfg.SitePages), limit: cfg.SitePages, interval: cfg.Refresh, now: time.Now,
		generation: gen, wake: b.visit, changed: b.follower.lookAgain, log: inst.Log,
	}
	b.done.Go(func() { r.runUntilDone(ctx) })
	return b, nil
}

// newReader makes the reader of files. What it prepares once is kept in the data directory.
func newReader(inst search.Instance, cfg Config) *documents.Reader {
	return documents.NewReader(documents.Config{CacheDir: filepath.Join(inst.DataDir, "pdf"), Generated: cfg.Generated})
}

var (
	_ io.Closer          = (*backend)(nil)
	_ framework.Healther = (*backend)(nil)
)

// Health implements framework.Healther: it tells what keeps the index from being as its sources are.
func (b *backend) Health(context.Context) error {
	var problems []string
	if p := b.follower.currentProblem(); p != "" {
		problems = append(problems, "files: "+p)
	}
	if done, total := b.follower.reportProgress(); done < total {
		problems = append(problems, fmt.Sprintf("indexing %d of %d", done, total))
	}
	for _, s := range b.follower.sites {
		if p := s.problemText(); p != "" {
			problems = append(problems, p)
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return errors.New(strings.Join(problems, "; "))
}

// webopsSettings are those of the operations that other backends have as well.
func (b *backend) webopsSettings(inst search.Instance, cfg Config) webops.Config {
	out := cfg.webopsConfig()
	out.UserAgent, out.Log, out.Find, out.Own, out.Ready = inst.UserAgent, inst.Log, b.findSources, b.readOwn, b.waitUntilUsable
	return out
}

// Close stops following and visiting, stops researches and closes the index.
func (b *backend) Close() error {
	b.cancel()
	b.done.Wait()
	_ = b.ops.Close()
	_ = b.follower.documents.Close()
	return b.follower.index.Close()
}

// Invoke implements search.Backend. A call that needs the index is answered from what is in it.
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

// waitUntilUsable returns at once if the index has documents or all files were looked at, and otherwise waits a moment for the first
// document. Its error says that the backend cannot answer yet.
func (b *backend) waitUntilUsable(ctx context.Context) error {
	if b.follower.canAnswer() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, emptyWait)
	defer cancel()
	look := time.NewTicker(emptyPoll)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			if b.follower.canAnswer() {
				return nil
			}
		case <-ctx.Done():
			if err := context.Cause(ctx); !errors.Is(err, context.DeadlineExceeded) {
				return err
			}
			out := errs.New(errs.Plugin, codes.Unavailable, errs.ReasonNotReady, "no document is indexed yet")
			out.RetryAfter = emptyRetry
			return out
		}
	}
}
