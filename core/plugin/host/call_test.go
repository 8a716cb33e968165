package host_test

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// both runs a test over pooled streams and over unary calls.
func both(t *testing.T, test func(t *testing.T, streams int)) {
	t.Run("streams", func(t *testing.T) { test(t, 0) })
	t.Run("unary", func(t *testing.T) { test(t, -1) })
}

func TestCrashInACall(t *testing.T) {
	both(t, func(t *testing.T, streams int) {
		p := start(t, testplugin.NewHost(t), testplugin.Spec(testplugin.Well))
		defer p.Release()
		l, err := p.Link()
		if err != nil {
			t.Fatal(err)
		}
		c := search.NewClient(l.Conn, "a", streams)
		defer c.Close()
		_, err = invoke(context.Background(), c, testplugin.OpCrash, "")
		// A call that nobody cancelled and that ends as cancelled had its connection closed under it: facades know that.
		if f := fault.FromPlugin("search.one", err); f == nil || f.Code != fault.PluginUnavailable && status.Code(err) != codes.Canceled {
			t.Errorf("got %v as %v", err, f)
		}
		eventually(t, func() bool { _, err := try(p, "a", testplugin.OpEcho); return err == nil }, "the plugin answers again")
		if st := p.Status(); st.Restarts != 1 {
			t.Errorf("%d restarts", st.Restarts)
		}
	})
}

func TestHangInACall(t *testing.T) {
	both(t, func(t *testing.T, streams int) {
		p := start(t, testplugin.NewHost(t), testplugin.Spec(testplugin.Well))
		defer p.Release()
		l, err := p.Link()
		if err != nil {
			t.Fatal(err)
		}
		c := search.NewClient(l.Conn, "a", streams)
		defer c.Close()
		hanging := func(want string) {
			t.Helper()
			eventually(t, func() bool { got, err := try(p, "a", testplugin.OpHanging); return err == nil && got == want }, want+" calls hang")
		}

		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		_, err = invoke(ctx, c, testplugin.OpHang, "")
		cancel()
		if status.Code(err) != codes.DeadlineExceeded {
			t.Errorf("after the deadline: %v", err)
		}
		hanging("0")

		ctx, cancel = context.WithCancel(context.Background())
		done := make(chan error)
		go func() { _, err := invoke(ctx, c, testplugin.OpHang, ""); done <- err }()
		hanging("1")
		cancel()
		if err := <-done; status.Code(err) != codes.Canceled {
			t.Errorf("after the cancellation: %v", err)
		}
		hanging("0")
		if got, err := invoke(context.Background(), c, testplugin.OpEcho, ""); err != nil || got != "ok" {
			t.Errorf("the next call: %q, %v", got, err)
		}
	})
}

func TestPanics(t *testing.T) {
	p := start(t, testplugin.NewHost(t), testplugin.Spec(testplugin.Well))
	defer p.Release()
	pid := pidOf(t, p)
	both(t, func(t *testing.T, streams int) {
		l, err := p.Link()
		if err != nil {
			t.Fatal(err)
		}
		c := search.NewClient(l.Conn, "a", streams)
		defer c.Close()
		_, err = invoke(context.Background(), c, testplugin.OpPanic, "")
		wantPanic(t, err)
	})
	t.Run("stream", func(t *testing.T) {
		st, err := caller(t, p, "a").Stream(context.Background(), &search.Request{Operation: testplugin.OpEcho, Body: []byte("one panic")})
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		if chunk, err := st.Next(); err != nil || string(chunk) != "data: one\n\n" {
			t.Fatalf("got %q, %v", chunk, err)
		}
		_, err = st.Next()
		wantPanic(t, err)
	})
	mustAnswer(t, p, "a", "ok")
	if pidOf(t, p) != pid {
		t.Error("a panic ended the process")
	}
	eventually(t, func() bool { return strings.Contains(strings.Join(p.Logs(), "\n"), "panic in a call") }, "the panic is in the log")
}

func wantPanic(t *testing.T, err error) {
	t.Helper()
	e := errs.From(err)
	if e == nil || e.Code != codes.Internal || e.Reason != errs.ReasonPanic || e.Source != errs.Plugin {
		t.Errorf("got %v as %+v", err, e)
	}
	if err != nil && strings.Contains(err.Error(), "as asked") {
		t.Error("the panic's value crosses the wire")
	}
}

func TestTooLargeMessages(t *testing.T) {
	p := start(t, testplugin.NewHost(t), testplugin.Spec(testplugin.Well))
	defer p.Release()
	pid := pidOf(t, p)
	both(t, func(t *testing.T, streams int) {
		l, err := p.Link()
		if err != nil {
			t.Fatal(err)
		}
		c := search.NewClient(l.Conn, "a", streams)
		defer c.Close()
		_, err = invoke(context.Background(), c, testplugin.OpEcho, strings.Repeat("x", 20<<20))
		if status.Code(err) != codes.ResourceExhausted {
			t.Errorf("to the plugin: %v", err)
		}
		_, err = invoke(context.Background(), c, testplugin.OpBig, "")
		if e := errs.From(err); e == nil || e.Source != errs.Upstream || e.Reason != errs.ReasonTooLarge ||
			fault.FromPlugin("search.one", err).Code != fault.AnswerTooLarge {
			t.Errorf("from the plugin: %v", err)
		}
		if got, err := invoke(context.Background(), c, testplugin.OpEcho, strings.Repeat("x", search.MaxBody)); err != nil ||
			len(got) != search.MaxBody {
			t.Errorf("the largest body: %d bytes, %v", len(got), err)
		}
	})
	if pidOf(t, p) != pid {
		t.Error("the process was replaced")
	}
}

func TestEnvironmentIsNotInherited(t *testing.T) {
	t.Setenv("PATCHBAY_TEST_SECRET", "hunter2")
	t.Setenv("SVC_SECRET_KEY", "hunter2")
	spec := testplugin.Spec(testplugin.Well)
	spec.Env = append(spec.Env, "GIVEN=value")
	p := start(t, testplugin.NewHost(t), spec)
	defer p.Release()
	raw, err := try(p, "a", testplugin.OpEnv)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(raw, "hunter2") {
		t.Error("the plugin sees a secret of the core")
	}
	var env []string
	if err := json.Unmarshal([]byte(raw), &env); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(env, "GIVEN=value") {
		t.Error("the plugin does not see what its spec gives it")
	}
	allowed := []string{"PATH", "HOME", "TMPDIR", "TZ", "LANG", "SSL_CERT_FILE", "SSL_CERT_DIR", "GORACE", "GIVEN"}
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if !slices.Contains(allowed, name) && !strings.HasPrefix(name, "PLUGIN_") && !strings.HasPrefix(name, "PATCHBAY_PLUGIN_") {
			t.Errorf("the plugin sees %s", name)
		}
	}
}

func TestGrandchildDiesWithThePlugin(t *testing.T) {
	p := start(t, testplugin.NewHost(t), testplugin.Spec(testplugin.Well))
	defer p.Release()
	out, err := try(p, "a", testplugin.OpGrandchild)
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(out)
	if err != nil || gone(child) {
		t.Fatalf("no grandchild: %q", out)
	}
	_, _ = try(p, "a", testplugin.OpCrash)
	eventually(t, func() bool { return gone(child) }, "the grandchild is gone")
}

func TestStreamOverTheProcess(t *testing.T) {
	p := start(t, testplugin.NewHost(t), testplugin.Spec(testplugin.Well))
	defer p.Release()
	c := caller(t, p, "a")
	st, err := c.Stream(context.Background(), &search.Request{Operation: testplugin.OpEcho, Body: []byte("one two")})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	var got strings.Builder
	for {
		chunk, err := st.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got.Write(chunk)
	}
	if got.String() != "data: one\n\ndata: two\n\n" || st.Tail == nil || st.Tail.Usage == nil || st.Tail.Usage.Credits != 3 {
		t.Errorf("got %q, tail %+v", got.String(), st.Tail)
	}
	status, err := c.KeyStatus(context.Background(), "four")
	if err != nil || status.Used != 4 || status.Key.State != search.KeyOK {
		t.Errorf("key status %+v, %v", status, err)
	}
}
