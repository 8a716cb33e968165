package exchange

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	sharedv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/shared/v1"
)

func TestBodiesComeThroughUnchanged(t *testing.T) {
	p := newBench(t, echo).pool(t, 0)
	for _, n := range []int{0, 1, 100, inlineBody - 1, inlineBody, inlineBody + 1, MaxBody - 1, MaxBody, MaxBody + 1, 3*MaxBody - 1,
		15 << 20} {
		for _, head := range []string{"", "the head"} {
			body := pattern(n)
			msg, err := p.Call(context.Background(), "id", []byte(head), body)
			if err != nil {
				t.Fatalf("%d bytes: %v", n, err)
			}
			if string(msg.Head) != head || !bytes.Equal(msg.Body, body) {
				t.Fatalf("%d bytes: got %q and %d bytes", n, msg.Head, len(msg.Body))
			}
			msg.Release()
		}
	}
	if p.Idle() != 1 {
		t.Errorf("%d streams for calls one after another", p.Idle())
	}
}

func TestTooLarge(t *testing.T) {
	b := newBench(t, func(_ context.Context, req *Message) ([]byte, []byte, error) {
		return nil, make([]byte, 17<<20), nil
	})
	p := b.pool(t, 0)
	if _, err := p.Call(context.Background(), "", nil, make([]byte, 17<<20)); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("request: %v", err)
	}
	_, err := p.Call(context.Background(), "", nil, nil)
	if e := errs.From(err); e.Code != codes.ResourceExhausted || e.Source != errs.Plugin {
		t.Errorf("answer: %v", err)
	}
	if p.Idle() != 1 {
		t.Error("a refused answer need not end the stream")
	}
}

func TestRequestIDAndDeadlineArrive(t *testing.T) {
	type got struct {
		id      string
		timeout time.Duration
		until   time.Duration
	}
	calls := make(chan got, 1)
	p := newBench(t, func(ctx context.Context, req *Message) ([]byte, []byte, error) {
		g := got{id: req.RequestID, timeout: req.Timeout}
		if d, ok := ctx.Deadline(); ok {
			g.until = time.Until(d)
		}
		calls <- g
		return nil, nil, nil
	}).pool(t, 0)
	call := func(ctx context.Context, id string) got {
		t.Helper()
		if _, err := p.Call(ctx, id, nil, nil); err != nil {
			t.Fatal(err)
		}
		return <-calls
	}
	if g := call(context.Background(), "req-1"); g.id != "req-1" || g.timeout != 0 || g.until != 0 {
		t.Errorf("got %+v", g)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if g := call(ctx, ""); g.timeout < 50*time.Second || g.timeout > time.Minute || g.until < 50*time.Second {
		t.Errorf("got %+v", g)
	}
	if g := call(context.Background(), strings.Repeat("x", 400)); len(g.id) != 255 {
		t.Errorf("id of %d bytes", len(g.id))
	}
	past, cancel := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
	defer cancel()
	if _, err := p.Call(past, "", nil, nil); status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("a deadline in the past: %v", err)
	}
}

func TestErrorsKeepTheirDetails(t *testing.T) {
	want := &errs.Error{
		Source: errs.Upstream, Code: codes.Unavailable, Reason: errs.ReasonStatus, Message: "it said no", RetryAfter: 3 * time.Second,
		Upstream: &sharedv1.UpstreamError{HttpStatus: 503, Host: "upstream.example", Body: []byte("no"), RequestId: "u1"},
	}
	p := newBench(t, func(context.Context, *Message) ([]byte, []byte, error) {
		return nil, nil, fmt.Errorf("wrapped: %w", want)
	}).pool(t, 0)
	for range 2 {
		_, err := p.Call(context.Background(), "", nil, nil)
		got := errs.From(err)
		if got.Source != want.Source || got.Code != want.Code || got.Reason != want.Reason || got.RetryAfter != want.RetryAfter {
			t.Errorf("got %+v", got)
		}
		if got.Upstream.GetHost() != "upstream.example" || got.Upstream.GetHttpStatus() != 503 || string(got.Upstream.GetBody()) != "no" {
			t.Errorf("upstream %v", got.Upstream)
		}
	}
	if p.Idle() != 1 {
		t.Error("an error ends the stream")
	}
}

func TestPanicEndsTheCallOnly(t *testing.T) {
	b := newBench(t, func(_ context.Context, req *Message) ([]byte, []byte, error) {
		if len(req.Body) > 0 {
			panic("secret")
		}
		return nil, []byte("fine"), nil
	})
	p := b.pool(t, 0)
	_, err := p.Call(context.Background(), "", nil, []byte("x"))
	if e := errs.From(err); e.Reason != errs.ReasonPanic || strings.Contains(err.Error(), "secret") || b.panics.Load() != 1 {
		t.Errorf("got %v, %d panics", err, b.panics.Load())
	}
	if msg, err := p.Call(context.Background(), "", nil, nil); err != nil || string(msg.Body) != "fine" {
		t.Errorf("the next call: %v", err)
	}
	if p.Idle() != 1 {
		t.Error("a panic ends the stream")
	}
}

func TestUnknownMethodAndInstance(t *testing.T) {
	b := newBench(t, echo)
	for want, p := range map[string]*Pool{
		errs.ReasonUnsupported: NewPool(b.conn, "/test.v1.Service/Other", "a", 0),
		"NO_INSTANCE":          NewPool(b.conn, method, "", 0),
	} {
		_, err := p.Call(context.Background(), "", nil, nil)
		if e := errs.From(err); e.Reason != want || e.Source != errs.Host {
			t.Errorf("got %+v, want %s", e, want)
		}
		p.Close()
	}
}

func TestCallsBeyondTheBoundWait(t *testing.T) {
	release := make(chan struct{})
	var now, most atomic.Int64
	b := newBench(t, func(context.Context, *Message) ([]byte, []byte, error) {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		<-release
		return nil, nil, nil
	})
	p := b.pool(t, 3)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if _, err := p.Call(context.Background(), "", nil, nil); err != nil {
				t.Error(err)
			}
		})
	}
	eventually(t, func() bool { return now.Load() == 3 }, "three calls run")
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	if _, err := p.Call(ctx, "", nil, nil); status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("a waiting call keeps its deadline: %v", err)
	}
	close(release)
	wg.Wait()
	if most.Load() != 3 || p.Idle() != 3 || b.opened.Load() != 3 {
		t.Errorf("%d at once, %d idle, %d opened", most.Load(), p.Idle(), b.opened.Load())
	}
}

func TestCancelledCallDropsItsStream(t *testing.T) {
	ended := make(chan error, 1)
	running := make(chan struct{}, 1)
	b := newBench(t, func(ctx context.Context, req *Message) ([]byte, []byte, error) {
		if len(req.Body) == 0 {
			return nil, nil, nil
		}
		running <- struct{}{}
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, []byte("too late"), nil
	})
	p := b.pool(t, 0)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { _, err := p.Call(ctx, "", nil, []byte("hang")); done <- err }()
	<-running
	cancel()
	if err := <-done; status.Code(err) != codes.Canceled {
		t.Errorf("got %v", err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the handler's context: %v", err)
	}
	if p.Idle() != 0 {
		t.Error("the stream was kept")
	}
	msg, err := p.Call(context.Background(), "", nil, nil)
	if err != nil || len(msg.Body) != 0 {
		t.Errorf("the next call got another's answer: %v", err)
	}
}

// A plugin without the SDK may end its streams whenever they are idle; a call that finds its stream ended, before
// anything of it was sent, takes another.
func TestStaleStreamIsReplaced(t *testing.T) {
	b := newBench(t, echo)
	p := NewPool(b.conn, method, "once", 0)
	defer p.Close()
	if _, err := p.Call(context.Background(), "", nil, nil); err != nil {
		t.Fatal(err)
	}
	s := p.idle[0]
	eventually(t, func() bool { return s.SendMsg(&frame{}) == io.EOF }, "the stream has ended")
	if msg, err := p.Call(context.Background(), "", nil, []byte("x")); err != nil || string(msg.Body) != "x" {
		t.Errorf("got %v", err)
	}
}

func TestClose(t *testing.T) {
	release, running := make(chan struct{}), make(chan struct{})
	b := newBench(t, func(_ context.Context, req *Message) ([]byte, []byte, error) {
		if len(req.Body) > 0 {
			close(running)
			<-release
		}
		return nil, []byte("done"), nil
	})
	p := b.pool(t, 0)
	if _, err := p.Call(context.Background(), "", nil, nil); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { _, err := p.Call(context.Background(), "", nil, []byte("x")); done <- err }()
	<-running
	p.Close()
	p.Close()
	if _, err := p.Call(context.Background(), "", nil, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
	close(release)
	if err := <-done; err != nil {
		t.Errorf("the call under way: %v", err)
	}
	if p.Idle() != 0 {
		t.Error("a closed pool keeps streams")
	}
}

func TestServerGoesAway(t *testing.T) {
	running := make(chan struct{})
	b := newBench(t, func(ctx context.Context, _ *Message) ([]byte, []byte, error) {
		close(running)
		<-ctx.Done()
		return nil, nil, ctx.Err()
	})
	p := b.pool(t, 0)
	done := make(chan error)
	go func() { _, err := p.Call(context.Background(), "", nil, nil); done <- err }()
	<-running
	b.server.Stop()
	if err := <-done; status.Code(err) != codes.Unavailable {
		t.Errorf("got %v", err)
	}
}

// The codec is found by its subtype; other services of the same connection keep protobuf.
func TestCodecIsNotForcedOnOthers(t *testing.T) {
	b := newBench(t, echo)
	p := b.pool(t, 0)
	for range 2 {
		if _, err := p.Call(context.Background(), "", []byte("h"), nil); err != nil {
			t.Fatal(err)
		}
		resp, err := grpc_health_v1.NewHealthClient(b.conn).Check(context.Background(), &grpc_health_v1.HealthCheckRequest{})
		if err != nil || resp.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
			t.Fatalf("health: %v, %v", resp, err)
		}
	}
	if _, err := (codec{}).Marshal("text"); err == nil {
		t.Error("the codec sends what is no frame")
	}
	if err := (codec{}).Unmarshal(nil, "text"); err == nil {
		t.Error("the codec receives into what is no frame")
	}
}

// A handler may keep the request's bytes, and may answer with them.
func TestRequestBytesStayValid(t *testing.T) {
	var mu sync.Mutex
	var kept [][]byte
	p := newBench(t, func(_ context.Context, req *Message) ([]byte, []byte, error) {
		mu.Lock()
		defer mu.Unlock()
		kept = append(kept, req.Body)
		return nil, req.Body, nil
	}).pool(t, 4)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 50 {
				body := bytes.Repeat([]byte{byte('a' + (g+i)%26)}, 20<<10)
				msg, err := p.Call(context.Background(), "", nil, body)
				if err != nil || !bytes.Equal(msg.Body, body) {
					t.Errorf("an answer is mixed up: %v", err)
					return
				}
				msg.Release()
			}
		})
	}
	wg.Wait()
	runtime.GC()
	for _, b := range kept {
		if len(bytes.Trim(b, string(b[:1]))) != 0 {
			t.Fatal("a request's bytes changed after the call")
		}
	}
}
