package host_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
	"github.com/patchbay-dev/patchbay/core/plugin/host"
)

func TestStartFailures(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		spec host.Spec
		want string
	}{
		{"wrong cookie", testplugin.Spec(testplugin.WrongCookie), "ended at its start"},
		{"garbage on stdout", testplugin.Spec(testplugin.Garbage), "printed something else than the handshake"},
		{"silence", testplugin.Spec(testplugin.Silent), "did not answer within 400ms"},
		{"exit", testplugin.Spec(testplugin.Exit), "ended at its start; its last line was: cannot go on"},
		{"wrong version", testplugin.Spec(testplugin.WrongVersion), "speaks another protocol version"},
		{"no file", host.Spec{Name: "x", Path: filepath.Join(dir, "none")}, "there is no file"},
		{"no executable", host.Spec{Name: "x", Path: plain}, "is not an executable file"},
		{"a directory", host.Spec{Name: "x", Path: dir}, "is not an executable file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			timeout := within
			if tt.name == "silence" {
				timeout = 400 * time.Millisecond
			}
			h := testplugin.NewHost(t, func(c *host.Config) { c.StartTimeout = time.Minute })
			tt.spec.StartTimeout = timeout
			_, err := h.Open(context.Background(), tt.spec)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want %q", err, tt.want)
			}
			if st := h.Statuses(); len(st) != 0 {
				t.Errorf("a process is left: %+v", st)
			}
		})
	}
}

func TestStrayPrintBeforeServing(t *testing.T) {
	p := start(t, testplugin.NewHost(t), testplugin.Spec(testplugin.Noisy))
	defer p.Release()
	mustAnswer(t, p, "a", "ok")
	eventually(t, func() bool { return strings.Contains(strings.Join(p.Logs(), "\n"), "a print before") }, "the print is in the log")
}

// Whoever waits for a start that will not come is not held until the time for it is up.
func TestOpenIsCancelled(t *testing.T) {
	for _, patience := range []time.Duration{0, 200 * time.Millisecond} {
		h := testplugin.NewHost(t)
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		began := time.Now()
		if _, err := h.Open(ctx, testplugin.Spec(testplugin.Silent)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(began); took > within/3 {
			t.Errorf("it took %s", took)
		}
		if len(h.Statuses()) != 0 {
			t.Error("the process is still there")
		}
	}
}

func TestConcurrentOpensShareOneStart(t *testing.T) {
	h := testplugin.NewHost(t)
	spec := testplugin.Spec(testplugin.Well)
	const n = 8
	got := make(chan *host.Process, n)
	for range n {
		go func() {
			p, err := h.Open(context.Background(), spec)
			if err != nil {
				t.Error(err)
			}
			got <- p
		}()
	}
	first := <-got
	for range n - 1 {
		if p := <-got; p != first {
			t.Error("two processes for one spec")
		}
	}
	if st := first.Status(); st.Restarts != 0 || st.State != host.Ready || st.Version != "1.0.0" {
		t.Errorf("status %+v", st)
	}
	pid := pidOf(t, first)
	for range n - 1 {
		first.Release()
	}
	if gone(pid) {
		t.Error("the process ended before its last user let go")
	}
	first.Release()
	if !gone(pid) {
		t.Error("the process outlives its last user")
	}
	if len(h.Statuses()) != 0 {
		t.Error("the host still knows the process")
	}
}

func TestSharedAndIsolated(t *testing.T) {
	h := testplugin.NewHost(t)
	spec := testplugin.Spec(testplugin.Well)
	p := open(t, h, spec)
	q := open(t, h, spec)
	own := spec
	own.Isolate = "search.b"
	r := open(t, h, own)
	configure(t, p, "a", `{"answer":"one"}`)
	configure(t, q, "b", `{"answer":"two"}`)
	configure(t, r, "a", `{"answer":"three"}`)
	mustAnswer(t, p, "a", "one")
	mustAnswer(t, q, "b", "two")
	mustAnswer(t, r, "a", "three")
	if pidOf(t, p) != pidOf(t, q) {
		t.Error("two instances of one spec run in two processes")
	}
	if pidOf(t, p) == pidOf(t, r) {
		t.Error("an isolated instance shares its process")
	}
	if _, err := try(r, "b", testplugin.OpEcho); err == nil {
		t.Error("the isolated process knows another's instance")
	}
	if got := p.Status().Instances; len(got) != 2 || got[0] != "a" || got[1] != "b" {
		t.Errorf("instances %v", got)
	}
	p.Release()
	mustAnswer(t, q, "b", "two")
	q.Release()
	r.Release()
}

func TestMTLS(t *testing.T) {
	spec := testplugin.Spec(testplugin.Well)
	spec.MTLS = true
	p := start(t, testplugin.NewHost(t), spec)
	defer p.Release()
	mustAnswer(t, p, "a", "ok")
	if spec.Key() == testplugin.Spec(testplugin.Well).Key() {
		t.Error("a process with mtls may not be shared by instances without")
	}
}

func TestWrongVersionAfterRestartIsFinal(t *testing.T) {
	var seen states
	h := testplugin.NewHost(t, func(c *host.Config) { c.OnState = seen.add })
	plugin := newSwitchable(t, testplugin.Well)
	p := start(t, h, plugin.Spec)
	defer p.Release()
	plugin.set(t, testplugin.WrongVersion)
	kill(t, pidOf(t, p), syscall.SIGKILL)
	eventually(t, func() bool { return p.Status().State == host.Failed }, "the state is failed")
	if msg := p.Status().Message; !strings.Contains(msg, "another protocol version") || strings.Contains(msg, "cure") {
		t.Errorf("message %q", msg)
	}
	if _, err := p.Link(); err == nil {
		t.Error("a failed process serves")
	}
	launches := countStates(&seen, host.Starting)
	plugin.set(t, testplugin.Well)
	if st := p.Status(); st.State != host.Failed || countStates(&seen, host.Starting) != launches {
		t.Errorf("a failed plugin was started again: %+v", st)
	}
	p.Restart()
	eventually(t, func() bool { return p.Status().State == host.Ready }, "Restart brings it back")
	mustAnswer(t, p, "a", "ok")
}

func countStates(s *states, want host.State) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range s.all {
		if st.State == want {
			n++
		}
	}
	return n
}

func kill(t testing.TB, pid int, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, sig); err != nil {
		t.Fatal(err)
	}
}
