package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

const key = "conformance-key-0451"

type config struct {
	Name  string   `patchbay:"name,required"`
	Count int      `patchbay:"count,default=1"`
	Tags  []string `patchbay:"tags"`
}

// good is a plugin that keeps the contract; tests change single parts of it.
type good struct {
	name, version string
	def           search.Definition[config]
	invoke        func(ctx context.Context, b *backend, req *search.Request) (*search.Response, error)
	stream        func(ctx context.Context, req *search.Request, w search.StreamWriter) (*search.Usage, error)
	keyStatus     func(ctx context.Context, credential schema.Secret) (*search.KeyStatus, error)
	indexStatus   func() *search.IndexStatus
	reindex       func(b *backend) error
	health        error
	wrap          func(framework.Kind) framework.Kind
}

type backend struct {
	plugin *good
	inst   search.Instance
	busy   atomic.Int64
}

func newGood() *good {
	g := &good{name: "good", version: "1.2.3"}
	g.def = search.Definition[config]{
		Credential: true, Stream: true, KeyStatus: true, Index: true, DataDir: true,
		Operations: []search.Operation{
			{
				Name: "search", Tool: "good_search", Stream: true, Required: []string{"query"},
				InputSchema: `{"type":"object","properties":{"query":{"type":"string"},"stream":{"type":"boolean"}}}`,
				Price:       []search.PriceTerm{{Rate: 1}},
			},
			{Name: "research", InputSchema: `{"type":"object","properties":{"input":{}}}`},
			{Name: "research_result"},
		},
		Build: func(inst search.Instance, cfg config) (search.Open, schema.Diagnostics) {
			if cfg.Count < 0 {
				return nil, schema.Errorf(schema.At("count"), "must not be negative")
			}
			return func(context.Context) (search.Backend, error) {
				return &backend{plugin: g, inst: inst}, os.WriteFile(filepath.Join(inst.DataDir, "data"), nil, 0o600)
			}, nil
		},
	}
	g.invoke = func(ctx context.Context, b *backend, req *search.Request) (*search.Response, error) {
		return b.answer(ctx, req)
	}
	g.stream = func(_ context.Context, _ *search.Request, w search.StreamWriter) (*search.Usage, error) {
		if err := w.Start(&search.Head{Status: 200, ContentType: "text/event-stream"}); err != nil {
			return nil, err
		}
		_, err := fmt.Fprint(w, "data: 1\n\n")
		return nil, err
	}
	g.keyStatus = func(_ context.Context, credential schema.Secret) (*search.KeyStatus, error) {
		return &search.KeyStatus{Key: search.KeyVerdict{State: verdict(credential)}}, nil
	}
	g.indexStatus = func() *search.IndexStatus {
		return &search.IndexStatus{Documents: 1, Bytes: 1,
			Sources: []search.IndexSource{{Name: "docs", Kind: search.SourceFiles, State: search.SourceReady, Documents: 1}}}
	}
	g.reindex = func(*backend) error { return nil }
	g.wrap = func(k framework.Kind) framework.Kind { return k }
	return g
}

func (g *good) plugin() framework.Plugin {
	return framework.Plugin{Name: g.name, Version: g.version, Kinds: []framework.Kind{g.wrap(search.New(g.def))}}
}

func goodConfig() SearchConfig {
	return SearchConfig{
		JSON: `{"name":"n"}`, Invalid: []string{`{"name":"n","count":-1}`, `{}`}, Credential: key, Timeout: 10 * time.Second,
		Samples: []Sample{
			{Operation: "search", Body: `{"query":"x"}`, Check: func(r *search.Response) error {
				if r.Usage == nil {
					return errors.New("no usage")
				}
				return nil
			}},
			{Operation: "search", Body: `{"query":"x","stream":true}`, Stream: true},
			{Operation: "research", Body: `{"input":"x"}`},
			{Operation: "research_result", ResourceFrom: "research"},
		},
		Slow: &Sample{Operation: "search", Body: `{"query":"slow"}`},
	}
}

func verdict(credential schema.Secret) search.KeyState {
	if credential.Reveal() == key {
		return search.KeyOK
	}
	return search.KeyInvalid
}

func response(status int, body string) *search.Response {
	return &search.Response{Head: search.Head{Status: status, ContentType: "application/json"}, Body: []byte(body)}
}

func (b *backend) answer(ctx context.Context, req *search.Request) (*search.Response, error) {
	if verdict(req.Credential) != search.KeyOK {
		resp := response(401, `{"error":"key"}`)
		resp.Key = search.KeyVerdict{State: search.KeyInvalid, Reason: "unknown key"}
		return resp, nil
	}
	if req.Operation == "research_result" {
		if req.ResourceID != "r1" {
			return nil, errs.NotFound("UNKNOWN_RESOURCE", "no such id")
		}
		return response(200, `{"done":true}`), nil
	}
	var body map[string]any
	if err := json.Unmarshal(req.Body, &body); err != nil {
		return nil, errs.BadInput("INVALID_BODY", "the body is no JSON object")
	}
	switch req.Operation {
	case "search":
		if body["query"] == "slow" {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		resp := response(200, `{"results":[]}`)
		resp.Usage = &search.Usage{Credits: 1}
		return resp, nil
	case "research":
		resp := response(201, `{"id":"r1"}`)
		resp.ResourceID = "r1"
		return resp, nil
	}
	return nil, errs.New(errs.Host, codes.Unimplemented, errs.ReasonUnsupported, "no such operation")
}

func (b *backend) Invoke(ctx context.Context, req *search.Request) (*search.Response, error) {
	return b.plugin.invoke(ctx, b, req)
}

func (b *backend) Stream(ctx context.Context, req *search.Request, w search.StreamWriter) (*search.Usage, error) {
	return b.plugin.stream(ctx, req, w)
}

func (b *backend) KeyStatus(ctx context.Context, credential schema.Secret) (*search.KeyStatus, error) {
	return b.plugin.keyStatus(ctx, credential)
}

func (b *backend) IndexStatus(context.Context) (*search.IndexStatus, error) {
	return b.plugin.indexStatus(), nil
}

func (b *backend) Reindex(context.Context) error { return b.plugin.reindex(b) }

func (b *backend) Health(context.Context) error { return b.plugin.health }
