package local

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

const (
	reasonIndexing = "INDEXING"
	typeJSON       = "application/json"
)

// backend is safe for concurrent use.
type backend struct {
	follower *follower
	client   *httpx.Client
	timeout  time.Duration
	cancel   context.CancelFunc
	done     sync.WaitGroup
}

// open opens the index and starts to follow the files; it does not wait until they are indexed.
func open(inst search.Instance, cfg Config, rules *rules, roots []root) (*backend, error) {
	if inst.DataDir == "" {
		return nil, errors.New("open index: the instance has no data directory")
	}
	client, err := newClient(inst, cfg)
	if err != nil {
		return nil, err
	}
	ix, manifest, err := openIndex(indexDir(inst), inst.Log)
	if err != nil {
		return nil, err
	}
	b := &backend{client: client, timeout: cfg.Timeout, follower: &follower{
		index: ix, roots: roots, rules: rules, log: inst.Log, now: time.Now, manifest: manifest,
		files: map[string]file{}, ready: make(chan struct{}),
	}}
	ctx, cancel := context.WithCancel(context.Background())
	b.cancel = cancel
	b.done.Go(func() { b.follower.run(ctx, cfg.Rescan) })
	return b, nil
}

var _ io.Closer = (*backend)(nil)

// Close stops following and closes the index.
func (b *backend) Close() error {
	b.cancel()
	b.done.Wait()
	_ = b.client.Close()
	if err := b.follower.index.bleve.Close(); err != nil {
		return fmt.Errorf("close index: %w", err)
	}
	return nil
}

// badRequest is what a caller did wrong; it becomes an answer with status 400.
type badRequest struct{ err error }

func (e *badRequest) Error() string { return e.err.Error() }

// Invoke implements search.Backend. The first call waits until all files were looked at once.
func (b *backend) Invoke(ctx context.Context, req *search.Request) (*search.Response, error) {
	start := time.Now()
	var out any
	var err error
	switch req.Operation {
	case search.OpSearch:
		out, err = b.search(ctx, req, start)
	case search.OpExtract:
		out, err = b.extract(ctx, req, start)
	default:
		return nil, errs.New(errs.Host, codes.Unimplemented, errs.ReasonUnsupported, "operation %q is not offered", req.Operation)
	}
	status := http.StatusOK
	var bad *badRequest
	switch {
	case errors.As(err, &bad):
		status, out = http.StatusBadRequest, map[string]any{"detail": map[string]any{"error": bad.Error()}}
	case err != nil:
		return nil, err
	}
	body, err := encode(out)
	if err != nil {
		return nil, err
	}
	return &search.Response{Body: body, Head: search.Head{
		Status: status, ContentType: typeJSON, Usage: &search.Usage{}, Upstream: time.Since(start),
	}}, nil
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
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

// usage is the member of that name; it is there if the caller asked for it.
type usage struct {
	Credits int `json:"credits"`
}

func usageOf(p params) (*usage, error) {
	var asked bool
	if err := p.read("include_usage", &asked, "true or false"); err != nil || !asked {
		return nil, err
	}
	return &usage{}, nil
}

// answerID is the host's id of the request, or a new one.
func answerID(req *search.Request) string {
	if req.RequestID != "" {
		return req.RequestID
	}
	return rand.Text()
}

func seconds(since time.Time) float64 {
	return float64(time.Since(since).Round(time.Millisecond).Milliseconds()) / 1000
}
