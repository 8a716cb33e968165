package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/conformance/report"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// wantWhole fails the test unless every check of a report was made and passed.
func wantWhole(t *testing.T, rep report.Report) {
	t.Helper()
	if err := rep.Err(); err != nil {
		t.Error(err)
	}
	for _, res := range rep.Results {
		if res.Skipped != "" {
			t.Errorf("%s was skipped: %s", res.Name(), res.Skipped)
		}
	}
}

func TestGoodPluginPasses(t *testing.T) {
	rep := runSuite(t, newGood().plugin(), goodConfig(), Search)
	wantWhole(t, rep)
	if text := rep.String(); !strings.Contains(text, "ok    samples/streams") || strings.Count(text, "\n") != len(rep.Results) {
		t.Errorf("report:\n%s", text)
	}
}

func TestDefaultSamples(t *testing.T) {
	cfg := goodConfig()
	cfg.Samples = nil
	if err := runSuite(t, newGood().plugin(), cfg, Search).Err(); err != nil {
		t.Error(err)
	}
	if got := requestStream("{}"); got != `{"stream":true}` {
		t.Errorf("got %s", got)
	}
}

// A plugin that offers little skips what it does not offer.
func TestPlainPluginPasses(t *testing.T) {
	g := newGood()
	g.def.Credential, g.def.KeyStatus, g.def.Index, g.def.DataDir = false, false, false, false
	g.def.Build = func(inst search.Instance, cfg config) (search.Open, schema.Diagnostics) {
		return func(context.Context) (search.Backend, error) {
			return struct{ search.Backend }{&backend{plugin: g, inst: inst}}, nil
		}, nil
	}
	g.def.Stream, g.def.Operations = false, []search.Operation{{Name: "search", InputSchema: `{"type":"object"}`}}
	g.invoke = func(ctx context.Context, b *backend, req *search.Request) (*search.Response, error) {
		req.Credential = key
		return b.answer(ctx, req)
	}
	cfg := goodConfig()
	cfg.Invalid, cfg.Samples, cfg.Credential = nil, cfg.Samples[:1], ""
	rep := runSuite(t, g.plugin(), cfg, Search)
	if err := rep.Err(); err != nil {
		t.Error(err)
	}
}

func wantFailures(t *testing.T, rep report.Report, want ...string) {
	t.Helper()
	var got []string
	for _, res := range rep.Failed() {
		got = append(got, res.Name())
	}
	if !slices.Equal(got, want) {
		t.Errorf("failed %v, want %v; %v", got, want, rep.Err())
	}
}

type invoke = func(ctx context.Context, b *backend, req *search.Request) (*search.Response, error)

// when changes the answer to the calls that a condition picks.
func when(pick func(*search.Request) bool, then invoke) func(*good) {
	return func(g *good) {
		g.invoke = func(ctx context.Context, b *backend, req *search.Request) (*search.Response, error) {
			if pick(req) {
				return then(ctx, b, req)
			}
			return b.answer(ctx, req)
		}
	}
}

func operation(name string) func(*search.Request) bool {
	return func(r *search.Request) bool { return r.Operation == name }
}

func isBad(r *search.Request) bool {
	return r.Operation == "search" && !strings.HasPrefix(string(r.Body), `{"`) || strings.HasSuffix(string(r.Body), ` "x`)
}

func isSlow(r *search.Request) bool { return strings.Contains(string(r.Body), "slow") }

func isLarge(r *search.Request) bool { return len(r.Body) > 1<<20 }

func says(resp *search.Response, err error) invoke {
	return func(context.Context, *backend, *search.Request) (*search.Response, error) { return resp, err }
}

// described changes the description of the kind.
type described struct {
	framework.Kind
	change func(*pluginv1.Kind)
}

func (d described) Describe() (*pluginv1.Kind, error) {
	k, err := d.Kind.Describe()
	if err == nil {
		d.change(k)
	}
	return k, err
}

func describing(change func(*pluginv1.Kind)) func(*good) {
	return func(g *good) {
		g.wrap = func(k framework.Kind) framework.Kind { return described{k, change} }
	}
}

func operations(change func(*search.Operation)) func(*good) {
	return func(g *good) { change(&g.def.Operations[0]) }
}

func both(check string) []string { return []string{check + "/streams", check + "/unary"} }

func TestWrongPlugins(t *testing.T) {
	broken := errs.New(errs.Plugin, codes.Internal, "INTERNAL", "broken")
	tests := []struct {
		name   string
		want   []string
		change func(*good)
	}{
		{"no semantic version", []string{"describe"}, func(g *good) { g.version = "one" }},
		{"odd name", []string{"describe"}, func(g *good) { g.name = "Good Plugin" }},
		{"another service", []string{"describe"}, describing(func(k *pluginv1.Kind) { k.Service = "other.v1.Search" })},
		{"lower-case capability", []string{"capabilities"},
			describing(func(k *pluginv1.Kind) { k.Capabilities = append(k.Capabilities, "streams") })},
		{"exclusive without data", []string{"capabilities"}, func(g *good) {
			g.def.Exclusive, g.def.DataDir = true, false
			g.def.Build = func(inst search.Instance, cfg config) (search.Open, schema.Diagnostics) {
				if cfg.Count < 0 {
					return nil, schema.Errorf(schema.At("count"), "must not be negative")
				}
				return func(context.Context) (search.Backend, error) { return &backend{plugin: g, inst: inst}, nil }, nil
			}
		}},
		{"odd attribute", []string{"schema"}, describing(func(k *pluginv1.Kind) { k.Config.Attributes[0].Name = "Name!" })},
		{"required and default", []string{"schema"}, describing(func(k *pluginv1.Kind) { k.Config.Attributes[0].DefaultJson = `"x"` })},
		{"an operation twice", []string{"descriptor"}, func(g *good) { g.def.Operations = append(g.def.Operations, g.def.Operations[0]) }},
		{"odd operation", []string{"descriptor"}, operations(func(o *search.Operation) { o.Name = "Search it" })},
		{"schema is no JSON", []string{"descriptor"}, operations(func(o *search.Operation) { o.InputSchema = "{" })},
		{"schema of a string", []string{"descriptor"}, operations(func(o *search.Operation) { o.InputSchema = `{"type":"string"}` })},
		{"required and unknown", []string{"descriptor"}, operations(func(o *search.Operation) { o.Required = []string{"q"} })},
		{"negative price", []string{"descriptor"}, operations(func(o *search.Operation) { o.Price[0].Rate = -1 })},
		{"streams without saying so", []string{"descriptor"}, func(g *good) { g.def.Stream = false }},
		{"Validate writes", []string{"validate"}, func(g *good) {
			build := g.def.Build
			g.def.Build = func(inst search.Instance, cfg config) (search.Open, schema.Diagnostics) {
				_ = os.WriteFile(filepath.Join(inst.DataDir, "written"), nil, 0o600)
				return build(inst, cfg)
			}
		}},
		{"accepts what it must refuse", []string{"validate"}, func(g *good) {
			build := g.def.Build
			g.def.Build = func(inst search.Instance, cfg config) (search.Open, schema.Diagnostics) {
				cfg.Count = max(0, cfg.Count)
				return build(inst, cfg)
			}
		}},
		{"cannot be opened", []string{"configure"}, func(g *good) {
			g.def.Build = func(_ search.Instance, cfg config) (search.Open, schema.Diagnostics) {
				if cfg.Count < 0 {
					return nil, schema.Errorf(schema.At("count"), "must not be negative")
				}
				return func(context.Context) (search.Backend, error) { return nil, errors.New("cannot") }, nil
			}
		}},
		{"error status", both("samples"), when(operation("research_result"), says(response(500, "{}"), nil))},
		{"no content type", both("samples"), when(operation("research_result"),
			says(&search.Response{Head: search.Head{Status: 200}, Body: []byte("{}")}, nil))},
		{"body is no JSON", both("samples"), when(operation("research_result"), says(response(200, "{"), nil))},
		{"answers unknown operations", both("unknown-operation"),
			when(operation("conformance_unknown_operation"), says(response(200, "{}"), nil))},
		{"accepts garbage", both("bad-body"), when(isBad, says(response(200, "{}"), nil))},
		{"blames the upstream for garbage", both("bad-body"), when(isBad, says(nil, errs.Unavailable("BODY", "bad")))},
		{"large bodies break it", both("large-body"), when(isLarge, says(nil, broken))},
		{"panics", []string{"panics"}, when(isBad, func(context.Context, *backend, *search.Request) (*search.Response, error) { panic("oh") })},
		{"one call at a time", both("concurrency"), func(g *good) {
			g.invoke = func(ctx context.Context, b *backend, req *search.Request) (*search.Response, error) {
				if b.busy.Add(1) > 1 {
					defer b.busy.Add(-1)
					return nil, broken
				}
				defer b.busy.Add(-1)
				time.Sleep(2 * time.Millisecond)
				return b.answer(ctx, req)
			}
		}},
		{"goes on after the end", append(both("cancel"), both("deadline")...),
			when(isSlow, func(context.Context, *backend, *search.Request) (*search.Response, error) {
				time.Sleep(3 * time.Second)
				return response(200, "{}"), nil
			})},
		{"takes any key", both("wrong-credential"), func(g *good) {
			g.invoke = func(ctx context.Context, b *backend, req *search.Request) (*search.Response, error) {
				req.Credential = key
				return b.answer(ctx, req)
			}
		}},
		{"credential in an error", []string{"credential"},
			when(operation("conformance_unknown_operation"), func(_ context.Context, _ *backend, req *search.Request) (*search.Response, error) {
				return nil, errs.BadInput("NO", "refused with %s", req.Credential.Reveal())
			})},
		{"credential in an answer", []string{"credential"},
			when(operation("research_result"), func(_ context.Context, _ *backend, req *search.Request) (*search.Response, error) {
				return response(200, fmt.Sprintf("{%q:1}", req.Credential.Reveal())), nil
			})},
		{"credential in the log", []string{"credential"}, func(g *good) {
			g.invoke = func(ctx context.Context, b *backend, req *search.Request) (*search.Response, error) {
				b.inst.Log.Debug("calling", "key", req.Credential.Reveal())
				return b.answer(ctx, req)
			}
		}},
		{"another type on a stream", []string{"stream"}, func(g *good) {
			g.stream = func(_ context.Context, _ *search.Request, w search.StreamWriter) (*search.Usage, error) {
				return nil, w.Start(&search.Head{Status: 200, ContentType: "application/json"})
			}
		}},
		{"empty stream", []string{"stream"}, func(g *good) {
			g.stream = func(_ context.Context, _ *search.Request, w search.StreamWriter) (*search.Usage, error) {
				return nil, w.Start(&search.Head{Status: 200, ContentType: "text/event-stream"})
			}
		}},
		{"every key is good", []string{"key-status"}, func(g *good) {
			g.keyStatus = func(context.Context, schema.Secret) (*search.KeyStatus, error) {
				return &search.KeyStatus{Key: search.KeyVerdict{State: search.KeyOK}}, nil
			}
		}},
		{"a source without a kind", []string{"index"}, func(g *good) {
			g.indexStatus = func() *search.IndexStatus {
				return &search.IndexStatus{Sources: []search.IndexSource{{Name: "docs", State: search.SourceReady}}}
			}
		}},
		{"a source at 2 of 1", []string{"index"}, func(g *good) {
			good := g.indexStatus
			g.indexStatus = func() *search.IndexStatus {
				st := good()
				st.Sources[0].Done, st.Sources[0].Total = 2, 1
				return st
			}
		}},
		{"no answers during a re-index", []string{"index"}, func(g *good) {
			var broken atomic.Bool
			g.reindex = func(*backend) error { broken.Store(true); return nil }
			g.invoke = func(ctx context.Context, b *backend, req *search.Request) (*search.Response, error) {
				if broken.Load() {
					return response(503, "{}"), nil
				}
				return b.answer(ctx, req)
			}
		}},
		{"unhealthy", []string{"health"}, func(g *good) { g.health = errors.New("not well") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g, cfg := newGood(), goodConfig()
			tt.change(g)
			if slices.Contains(tt.want, "cancel/unary") {
				cfg.Prompt = time.Second
			}
			wantFailures(t, runSuite(t, g.plugin(), cfg, Search), tt.want...)
		})
	}
}
