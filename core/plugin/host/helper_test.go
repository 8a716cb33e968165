package host_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
	"github.com/patchbay-dev/patchbay/core/plugin/host"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

func TestMain(m *testing.M) {
	testplugin.Main()
	coreMain()
	goleak.VerifyTestMain(m)
}

const within = testplugin.Within

func open(t testing.TB, h *host.Host, spec host.Spec) *host.Process {
	t.Helper()
	p, err := h.Open(context.Background(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func config(id, json string) *pluginv1.Config {
	return &pluginv1.Config{InstanceId: id, Kind: search.Kind, Name: id, Json: []byte(json)}
}

func configure(t testing.TB, p *host.Process, id, json string) {
	t.Helper()
	diags, err := p.Configure(context.Background(), config(id, json))
	if err != nil {
		t.Fatal(err)
	}
	if diags.HasErrors() {
		t.Fatal(diags.Error())
	}
}

// start is a plugin in a mode with the instance "a".
func start(t testing.TB, h *host.Host, spec host.Spec) *host.Process {
	t.Helper()
	p := open(t, h, spec)
	configure(t, p, "a", `{}`)
	return p
}

// caller makes a client for an instance of the process's present life.
func caller(t testing.TB, p *host.Process, id string) *search.Client {
	t.Helper()
	l, err := p.Link()
	if err != nil {
		t.Fatal(err)
	}
	c := search.NewClient(l.Conn, id, 0)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func invoke(ctx context.Context, c *search.Client, op, body string) (string, error) {
	reply, err := c.Invoke(ctx, &search.Request{Operation: op, Body: []byte(body)})
	if err != nil {
		return "", err
	}
	defer reply.Release()
	return string(reply.Body), nil
}

// try calls an instance over whatever life the process has now.
func try(p *host.Process, id, op string) (string, error) {
	l, err := p.Link()
	if err != nil {
		return "", err
	}
	c := search.NewClient(l.Conn, id, 0)
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	return invoke(ctx, c, op, "")
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustAnswer(t testing.TB, p *host.Process, id, want string) {
	t.Helper()
	got, err := try(p, id, testplugin.OpEcho)
	if err != nil || got != want {
		t.Fatalf("instance %s answers %q, %v; want %q", id, got, err, want)
	}
}

func pidOf(t testing.TB, p *host.Process) int {
	t.Helper()
	l, err := p.Link()
	if err != nil {
		t.Fatal(err)
	}
	return l.PID
}

// gone reports whether a process has ended; one that only waits to be reaped has.
func gone(pid int) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return errors.Is(err, os.ErrNotExist) || strings.Contains(err.Error(), "no such process")
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	return strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "X")
}

func eventually(t testing.TB, done func() bool, msg string) {
	t.Helper()
	testkit.Eventually(t, within, done, msg)
}

// states collects what OnState hears.
type states struct {
	mu  sync.Mutex
	all []host.Status
}

func (s *states) add(st host.Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, st)
}

// find returns the first status with the state and the text in its message.
func (s *states) find(state host.State, text string) (host.Status, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range s.all {
		if st.State == state && strings.Contains(st.Message, text) {
			return st, true
		}
	}
	return host.Status{}, false
}

// switchable is a plugin whose mode is read from a file at each start.
type switchable struct {
	host.Spec
	file string
}

func newSwitchable(t testing.TB, mode string) *switchable {
	t.Helper()
	dir := t.TempDir()
	s := &switchable{file: filepath.Join(dir, "mode")}
	self := testplugin.Spec(mode)
	script := filepath.Join(dir, "plugin.sh")
	text := fmt.Sprintf("#!/bin/sh\nexec '%s' '%s' \"$(cat '%s')\"\n", self.Path, self.Args[0], s.file)
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	s.Spec = host.Spec{Name: "testplugin", Path: "/bin/sh", Args: []string{script}, Env: self.Env}
	s.set(t, mode)
	return s
}

func (s *switchable) set(t testing.TB, mode string) {
	t.Helper()
	if err := os.WriteFile(s.file, []byte(mode), 0o600); err != nil {
		t.Fatal(err)
	}
}
