package framework_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/exchange"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/plugintest"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

type config struct {
	Answer string `patchbay:"answer,default=ok"`
	Refuse string `patchbay:"refuse,default=none"`
}

// backend counts how often instances were opened and closed.
type backend struct {
	answer string
	opened *atomic.Int64
	closed *atomic.Int64
	block  chan struct{}
	busy   chan struct{}
}

func (b *backend) Invoke(ctx context.Context, req *search.Request) (*search.Response, error) {
	if req.Operation == "wait" {
		b.busy <- struct{}{}
		<-b.block
	}
	return &search.Response{Head: search.Head{Status: 200, ContentType: "text/plain"}, Body: []byte(b.answer)}, nil
}

func (b *backend) Health(context.Context) error {
	if b.answer == "sick" {
		return errors.New("not well")
	}
	return nil
}

func (b *backend) Close() error { b.closed.Add(1); return nil }

type bench struct {
	*plugintest.Loaded
	plugin         framework.Plugin
	opened, closed atomic.Int64
	block, busy    chan struct{}
}

func newBench(t *testing.T) *bench {
	b := &bench{block: make(chan struct{}), busy: make(chan struct{}, 1)}
	def := search.Definition[config]{
		Operations: []search.Operation{{Name: "search", InputSchema: `{"type":"object"}`}, {Name: "wait", InputSchema: `{"type":"object"}`}},
		Build: func(_ search.Instance, cfg config) (search.Open, schema.Diagnostics) {
			switch cfg.Refuse {
			case "build":
				return nil, schema.Errorf(schema.At("refuse"), "refused as asked")
			case "many":
				var ds schema.Diagnostics
				for range 300 {
					ds = append(ds, schema.Errorf(schema.At("refuse"), "one of many")...)
				}
				return nil, ds
			case "panic":
				panic("as asked")
			}
			return func(ctx context.Context) (search.Backend, error) {
				if cfg.Refuse == "late" {
					b.busy <- struct{}{}
					<-ctx.Done()
				}
				if cfg.Refuse == "open" {
					return nil, errors.New("cannot open as asked")
				}
				b.opened.Add(1)
				return &backend{answer: cfg.Answer, opened: &b.opened, closed: &b.closed, block: b.block, busy: b.busy}, nil
			}, schema.Warnf(schema.At("answer"), "a warning is no error")
		},
	}
	b.plugin = framework.Plugin{Name: "p", Version: "1.2.3", Kinds: []framework.Kind{search.New(def)}}
	b.Loaded = plugintest.Load(t, b.plugin)
	return b
}

func (b *bench) configure(t *testing.T, id, json string) schema.Diagnostics {
	t.Helper()
	c := plugintest.Config(t, search.Kind, id, json)
	c.InstanceId = id
	resp, err := b.Plugin.Configure(t.Context(), &pluginv1.ConfigureRequest{Config: c})
	if err != nil {
		t.Fatal(err)
	}
	return schema.DiagnosticsFromProto(resp.GetDiagnostics())
}

func (b *bench) ask(t *testing.T, id, op string) (string, error) {
	t.Helper()
	c := search.NewClient(b.Conn, id, 0)
	defer c.Close()
	reply, err := c.Invoke(context.Background(), &search.Request{Operation: op})
	if err != nil {
		return "", err
	}
	return string(reply.Body), nil
}

func TestDeclaration(t *testing.T) {
	kind := search.New(search.Definition[config]{
		Operations: []search.Operation{{Name: "search"}},
		Build:      func(search.Instance, config) (search.Open, schema.Diagnostics) { return nil, nil },
	})
	for name, p := range map[string]framework.Plugin{
		"no name":  {Kinds: []framework.Kind{kind}},
		"no kinds": {Name: "p"},
		"twice":    {Name: "p", Kinds: []framework.Kind{kind, kind}},
		"no build": {Name: "p", Kinds: []framework.Kind{search.New(search.Definition[config]{})}},
	} {
		if _, err := framework.NewServer(p, nil); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestInstances(t *testing.T) {
	b := newBench(t)
	for id, answer := range map[string]string{"a": "one", "b": "two"} {
		if ds := b.configure(t, id, `{"answer":"`+answer+`"}`); ds.HasErrors() || len(ds) != 1 {
			t.Fatalf("diagnostics %v", ds)
		}
	}
	want := func(id, answer string) {
		t.Helper()
		if got, err := b.ask(t, id, "search"); err != nil || got != answer {
			t.Errorf("%s: %q, %v", id, got, err)
		}
	}
	want("a", "one")
	want("b", "two")
	for _, json := range []string{`{"refuse":"build"}`, `{"refuse":"open"}`, `{"refuse":1}`, `{"nothing":1}`, `[`} {
		if ds := b.configure(t, "a", json); !ds.HasErrors() {
			t.Errorf("%s is accepted", json)
		}
		want("a", "one")
	}
	if ds := b.configure(t, "a", `{"refuse":"many"}`); len(ds) > 100 {
		t.Errorf("%d diagnostics", len(ds))
	}
	if ds := b.configure(t, "a", `{"answer":"three"}`); ds.HasErrors() {
		t.Error(ds)
	}
	want("a", "three")
	deadline := time.Now().Add(5 * time.Second)
	for b.closed.Load() != 1 && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	if b.closed.Load() != 1 || b.opened.Load() != 3 {
		t.Errorf("opened %d, closed %d", b.opened.Load(), b.closed.Load())
	}
	if _, err := b.ask(t, "none", "search"); errs.From(err).Reason != errs.ReasonUnknownInstance ||
		errs.From(err).Code != codes.FailedPrecondition {
		t.Errorf("unknown instance: %v", err)
	}
}

func TestWrongConfigurationCalls(t *testing.T) {
	b := newBench(t)
	for reason, c := range map[string]*pluginv1.Config{
		"UNKNOWN_KIND":   {InstanceId: "a", Kind: "weather"},
		"NO_INSTANCE_ID": {Kind: search.Kind},
	} {
		_, err := b.Plugin.Configure(t.Context(), &pluginv1.ConfigureRequest{Config: c})
		if e := errs.From(err); e == nil || e.Reason != reason || e.Source != errs.Host {
			t.Errorf("%s: %v", reason, err)
		}
	}
	_, err := b.Plugin.Validate(t.Context(), &pluginv1.ValidateRequest{})
	if e := errs.From(err); e == nil || e.Reason != "UNKNOWN_KIND" {
		t.Errorf("empty: %v", err)
	}
	c := plugintest.Config(t, search.Kind, "a", `{"refuse":"panic"}`)
	_, err = b.Plugin.Validate(t.Context(), &pluginv1.ValidateRequest{Config: c})
	if e := errs.From(err); e == nil || e.Reason != errs.ReasonPanic || strings.Contains(err.Error(), "as asked") {
		t.Errorf("panic: %v", err)
	}
}

// TestConfigureIsCalledOff: an instance that is opened although nobody waits for it any more is closed, since nobody would remove it.
func TestConfigureIsCalledOff(t *testing.T) {
	b := newBench(t)
	c := plugintest.Config(t, search.Kind, "a", `{"refuse":"late"}`)
	c.InstanceId = "a"
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-b.busy
		cancel()
	}()
	if _, err := b.Plugin.Configure(ctx, &pluginv1.ConfigureRequest{Config: c}); status.Code(err) != codes.Canceled {
		t.Errorf("a call that was called off ended with %v", err)
	}
	deadline := time.Now().Add(time.Minute)
	for b.closed.Load() != 1 && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	if b.opened.Load() != 1 || b.closed.Load() != 1 {
		t.Errorf("opened %d, closed %d", b.opened.Load(), b.closed.Load())
	}
	if _, err := b.ask(t, "a", "search"); err == nil || errs.From(err).Reason != errs.ReasonUnknownInstance {
		t.Errorf("it answers: %v", err)
	}
}

// endingContext has ended when it is asked for the second time since ask returned true, and calls meanwhile before it says so.
type endingContext struct {
	context.Context
	ask       func() bool
	meanwhile func()
	asked     int
}

func (c *endingContext) Err() error {
	if c.ask() {
		c.asked++
	}
	if c.asked < 2 {
		return nil
	}
	if c.asked == 2 {
		c.meanwhile()
	}
	return context.Canceled
}

// TestConfigureIsCalledOffAndRepeated: the call that is called off closes its own instance, not the one that the next call has put in its
// place.
func TestConfigureIsCalledOffAndRepeated(t *testing.T) {
	b := newBench(t)
	srv, err := framework.NewServer(b.plugin, hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	c := plugintest.Config(t, search.Kind, "a", `{}`)
	c.InstanceId = "a"
	ctx := &endingContext{Context: t.Context(), ask: func() bool { return b.opened.Load() > 0 }, meanwhile: func() {
		if _, err := srv.Configure(t.Context(), &pluginv1.ConfigureRequest{Config: c}); err != nil {
			t.Error(err)
		}
	}}
	if _, err := srv.Configure(ctx, &pluginv1.ConfigureRequest{Config: c}); status.Code(err) != codes.Canceled {
		t.Errorf("a call that was called off ended with %v", err)
	}
	_, release, err := srv.Instance(metadata.NewIncomingContext(t.Context(), metadata.Pairs(exchange.MetaInstance, "a")), search.Kind)
	if err != nil {
		t.Fatal(err)
	}
	release()
}

func TestRemoveWaitsForCalls(t *testing.T) {
	b := newBench(t)
	b.configure(t, "a", `{}`)
	answered := make(chan error, 1)
	go func() { _, err := b.ask(t, "a", "wait"); answered <- err }()
	<-b.busy
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	removed := make(chan error, 1)
	go func() {
		_, err := b.Plugin.Remove(ctx, &pluginv1.RemoveRequest{InstanceId: "a"})
		removed <- err
	}()
	select {
	case err := <-removed:
		t.Fatalf("removed while it serves: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	if b.closed.Load() != 0 {
		t.Error("closed while it serves")
	}
	close(b.block)
	if err := <-answered; err != nil {
		t.Error(err)
	}
	if err := <-removed; err != nil || b.closed.Load() != 1 {
		t.Errorf("%v, closed %d", err, b.closed.Load())
	}
	for range 2 {
		if _, err := b.Plugin.Remove(t.Context(), &pluginv1.RemoveRequest{InstanceId: "a"}); err != nil {
			t.Errorf("removed again: %v", err)
		}
	}
}

func TestHealth(t *testing.T) {
	b := newBench(t)
	b.configure(t, "a", `{}`)
	b.configure(t, "b", `{"answer":"sick"}`)
	for id, want := range map[string]pluginv1.State{"": pluginv1.State_STATE_OK, "a": pluginv1.State_STATE_OK,
		"b": pluginv1.State_STATE_DEGRADED} {
		resp, err := b.Plugin.Health(t.Context(), &pluginv1.HealthRequest{InstanceId: id})
		if err != nil || resp.GetState() != want {
			t.Errorf("%q: %v, %v", id, resp, err)
		}
	}
}

func TestStopClosesEverything(t *testing.T) {
	b := newBench(t)
	for _, id := range []string{"a", "b", "c"} {
		b.configure(t, id, `{}`)
	}
	if _, err := b.Plugin.Stop(t.Context(), &pluginv1.StopRequest{GraceMs: 1000}); err != nil {
		t.Fatal(err)
	}
	if b.closed.Load() != 3 {
		t.Errorf("%d closed", b.closed.Load())
	}
	if _, err := b.ask(t, "a", "search"); errs.From(err).Reason != errs.ReasonUnknownInstance {
		t.Errorf("after Stop: %v", err)
	}
}
