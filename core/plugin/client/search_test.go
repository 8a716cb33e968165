package client_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/plugin/host"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

func TestMain(m *testing.M) {
	testplugin.Main()
	goleak.VerifyTestMain(m)
}

const within = testplugin.Within

type seen struct {
	op   string
	took time.Duration
	err  error
}

type bench struct {
	client.Search
	handle *catalog.Handle

	mu   sync.Mutex
	seen []seen
}

// newBench starts the plugin with one instance behind a facade.
func newBench(t *testing.T, change ...func(*catalog.Desired)) *bench {
	t.Helper()
	d := catalog.Desired{Kind: search.Kind, Name: "a", Spec: testplugin.Spec(testplugin.Well)}
	for _, f := range change {
		f(&d)
	}
	handles, _ := startInstances(t, d)
	b := &bench{handle: handles[0]}
	b.Search = client.NewSearch(b.handle, func(ref, op string, took, _ time.Duration, err error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.seen = append(b.seen, seen{ref + "/" + op, took, err})
	})
	return b
}

func (b *bench) ask(ctx context.Context, op, body string) (string, error) {
	reply, err := b.Invoke(ctx, &search.Request{Operation: op, Body: []byte(body)})
	if err != nil {
		return "", err
	}
	defer reply.Release()
	return string(reply.Body), nil
}

func wantCode(t *testing.T, err error, want fault.Code) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestErrorsInTheWordsOfFault(t *testing.T) {
	b := newBench(t)
	ctx := context.Background()
	tests := []struct {
		op, body string
		want     fault.Code
	}{
		{testplugin.OpFail, "", fault.UpstreamUnavailable},
		{testplugin.OpBig, "", fault.AnswerTooLarge},
		{testplugin.OpPanic, "", fault.PluginUnavailable},
		{testplugin.OpSlow, `"soon"`, fault.InvalidRequest},
		{testplugin.OpCrash, "", fault.PluginUnavailable},
	}
	for _, tt := range tests {
		_, err := b.ask(ctx, tt.op, tt.body)
		wantCode(t, err, tt.want)
	}
	_, err := b.ask(ctx, testplugin.OpFail, "")
	for err != nil && fault.FromPlugin("search.fake", err).Code == fault.PluginUnavailable { // until the plugin is back
		_, err = b.ask(ctx, testplugin.OpFail, "")
	}
	if f := fault.FromPlugin("search.fake", err); f.RetryAfter != 7*time.Second {
		t.Errorf("retry after %s", f.RetryAfter)
	}
	if got, err := b.ask(ctx, testplugin.OpEcho, ""); err != nil || got != "ok" {
		t.Errorf("afterwards: %q, %v", got, err)
	}
}

func TestDeadlines(t *testing.T) {
	t.Run("of the instance", func(t *testing.T) {
		b := newBench(t, func(d *catalog.Desired) { d.Timeout = 100 * time.Millisecond })
		_, err := b.ask(context.Background(), testplugin.OpHang, "")
		wantCode(t, err, fault.UpstreamUnavailable)
	})
	b := newBench(t)
	t.Run("of the caller", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		_, err := b.ask(ctx, testplugin.OpHang, "")
		wantCode(t, err, fault.UpstreamUnavailable)
	})
	t.Run("the caller leaves", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { _, err := b.ask(ctx, testplugin.OpHang, ""); done <- err }()
		testkit.Eventually(t, within, func() bool {
			n, err := b.ask(context.Background(), testplugin.OpHanging, "")
			return err == nil && n == "1"
		}, "the call hangs")
		cancel()
		wantCode(t, <-done, fault.ClientClosedRequest)
		testkit.Eventually(t, within, func() bool {
			n, err := b.ask(context.Background(), testplugin.OpHanging, "")
			return err == nil && n == "0"
		}, "the plugin's handler has ended")
	})
}

func TestConcurrencyIsBounded(t *testing.T) {
	b := newBench(t, func(d *catalog.Desired) { d.Concurrency = 2 })
	began := time.Now()
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			if _, err := b.ask(context.Background(), testplugin.OpSlow, `"60ms"`); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if took := time.Since(began); took < 180*time.Millisecond {
		t.Errorf("six calls of 60 ms took %s with two at once", took)
	}
}

func TestKillUnderLoad(t *testing.T) {
	b := newBench(t)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := b.ask(context.Background(), testplugin.OpEcho, ""); err != nil {
					wantCode(t, err, fault.PluginUnavailable)
					time.Sleep(time.Millisecond)
				}
			}
		})
	}
	for range 5 {
		st := b.handle.Current().Process().Status()
		if st.PID > 0 {
			_ = syscall.Kill(st.PID, syscall.SIGKILL)
		}
		testkit.Eventually(t, within, func() bool {
			now := b.handle.Current().Process().Status()
			return now.State == host.Ready && now.PID != st.PID
		}, "the plugin is back")
		if got, err := b.ask(context.Background(), testplugin.OpEcho, ""); err != nil || got != "ok" {
			t.Errorf("after a restart: %q, %v", got, err)
		}
	}
	close(stop)
	wg.Wait()
}

func TestStreaming(t *testing.T) {
	b := newBench(t)
	open := func(ctx context.Context, body string) client.SearchStream {
		t.Helper()
		st, err := b.Stream(ctx, &search.Request{Operation: testplugin.OpEcho, Body: []byte(body)})
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	read := func(st client.SearchStream) (string, error) {
		var got strings.Builder
		for {
			p, err := st.Next()
			if err == io.EOF {
				return got.String(), nil
			}
			if err != nil {
				return got.String(), err
			}
			got.Write(p)
		}
	}
	st := open(context.Background(), "one two")
	if st.Head().ContentType != "text/event-stream" || st.Usage() != nil {
		t.Errorf("head %+v, usage %v", st.Head(), st.Usage())
	}
	if got, err := read(st); err != nil || got != "data: one\n\ndata: two\n\n" {
		t.Errorf("got %q, %v", got, err)
	}
	if u := st.Usage(); u == nil || u.Credits != 3 {
		t.Errorf("usage %v", u)
	}
	st.Close()
	st.Close()

	st = open(context.Background(), "one fail")
	got, err := read(st)
	st.Close()
	if got != "data: one\n\n" {
		t.Errorf("got %q", got)
	}
	wantCode(t, err, fault.UpstreamUnavailable)

	ctx, cancel := context.WithCancel(context.Background())
	st = open(ctx, "one hang")
	cancel()
	_, err = read(st)
	st.Close()
	wantCode(t, err, fault.ClientClosedRequest)

	st = open(context.Background(), "one hang")
	if _, err := st.Next(); err != nil {
		t.Fatal(err)
	}
	st.Close()
	testkit.Eventually(t, within, func() bool {
		n, err := b.ask(context.Background(), testplugin.OpHanging, "")
		return err == nil && n == "0"
	}, "closing ends the plugin's handler")
}

func TestDescribeKeyStatusAndObserver(t *testing.T) {
	b := newBench(t)
	d, err := b.Describe()
	if err != nil || d.Credential || !d.Has(search.CapStream) {
		t.Errorf("descriptor %+v, %v", d, err)
	}
	if op, ok := d.Operation(testplugin.OpEcho); !ok || !op.Stream {
		t.Errorf("operation %+v", op)
	}
	if st, err := b.KeyStatus(context.Background(), "four"); err != nil || st.Used != 4 || st.Limit != 100 {
		t.Errorf("key status %+v, %v", st, err)
	}
	if err := b.Reindex(context.Background()); err != nil {
		t.Errorf("reindex: %v", err)
	}
	if st, err := b.IndexStatus(context.Background()); err != nil || st.Documents != 1 {
		t.Errorf("index status %+v, %v", st, err)
	}
	_, _ = b.ask(context.Background(), testplugin.OpEcho, "")
	_, _ = b.ask(context.Background(), testplugin.OpFail, "")
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.seen) != 2 || b.seen[0].op != "search.a/search" || b.seen[0].err != nil || b.seen[0].took <= 0 || b.seen[1].err == nil {
		t.Errorf("observed %+v", b.seen)
	}
}
