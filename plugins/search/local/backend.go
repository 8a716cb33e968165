package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/internal/webops"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

const reasonIndexing = "INDEXING"

// backend is safe for concurrent use.
type backend struct {
	follower *follower
	ops      *webops.Ops
	cancel   context.CancelFunc
	done     sync.WaitGroup
}

// open opens the index and starts to follow the files; it does not wait until they are indexed.
func open(inst search.Instance, cfg Config, rules *rules, roots []root) (*backend, error) {
	if inst.DataDir == "" {
		return nil, errors.New("open index: the instance has no data directory")
	}
	ix, manifest, err := openIndex(indexDir(inst), inst.Log)
	if err != nil {
		return nil, err
	}
	b := &backend{follower: &follower{
		index: ix, roots: roots, rules: rules, log: inst.Log, now: time.Now, manifest: manifest,
		files: map[string]file{}, ready: make(chan struct{}),
	}}
	if b.ops, err = webops.New(b.settings(inst, cfg)); err != nil {
		return nil, errors.Join(err, ix.bleve.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	b.cancel = cancel
	b.done.Go(func() { b.follower.run(ctx, cfg.Rescan) })
	return b, nil
}

var _ io.Closer = (*backend)(nil)

// settings are those of the operations that other backends have as well.
func (b *backend) settings(inst search.Instance, cfg Config) webops.Config {
	out := cfg.webops()
	out.UserAgent, out.Log, out.Find, out.Own = inst.UserAgent, inst.Log, b.sources, b.own
	return out
}

// Close stops researches, stops following and closes the index.
func (b *backend) Close() error {
	_ = b.ops.Close()
	b.cancel()
	b.done.Wait()
	if err := b.follower.index.bleve.Close(); err != nil {
		return fmt.Errorf("close index: %w", err)
	}
	return nil
}

// Invoke implements search.Backend. The first call that needs the index waits until all files were looked at once.
func (b *backend) Invoke(ctx context.Context, req *search.Request) (*search.Response, error) {
	if req.Operation != search.OpSearch {
		return b.ops.Invoke(ctx, req)
	}
	start := time.Now()
	out, err := b.search(ctx, req, start)
	return webops.Answer(out, err, start)
}

// wait returns when the index is complete for the first time.
func (b *backend) wait(ctx context.Context) error {
	select {
	case <-b.follower.ready:
		return nil
	default:
	}
	select {
	case <-b.follower.ready:
		return nil
	case <-ctx.Done():
		return errs.New(errs.Plugin, codes.Unavailable, reasonIndexing, "the documents are still being indexed")
	}
}
