package host_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
	"github.com/patchbay-dev/patchbay/core/plugin/host"
)

func TestKilledPluginAnswersSoon(t *testing.T) {
	p := start(t, testplugin.NewHost(t, func(c *host.Config) { c.BackoffMin, c.BackoffMax = 0, 0 }), testplugin.Spec(testplugin.Well))
	defer p.Release()
	kill(t, pidOf(t, p), syscall.SIGKILL)
	testkit.Eventually(t, time.Second, func() bool { _, err := try(p, "a", testplugin.OpEcho); return err == nil }, "the plugin answers again")
}

func TestCallsFailAtOnceWhileThePluginIsAway(t *testing.T) {
	plugin := newSwitchable(t, testplugin.Well)
	h := testplugin.NewHost(t, func(c *host.Config) { c.BackoffMin, c.BackoffMax = time.Minute, time.Minute })
	p := start(t, h, plugin.Spec)
	defer p.Release()
	plugin.set(t, testplugin.Exit)
	kill(t, pidOf(t, p), syscall.SIGKILL)
	eventually(t, func() bool { _, err := p.Link(); return err != nil }, "the link is gone")
	began := time.Now()
	_, err := p.Link()
	if f := fault.FromPlugin("search.one", err); f.Code != fault.PluginUnavailable || time.Since(began) > 10*time.Second {
		t.Errorf("got %v after %s", err, time.Since(began))
	}
	if _, err := p.Configure(context.Background(), config("b", `{}`)); err == nil {
		t.Error("a process that is away takes a configuration")
	}
	if d := p.Describe(); d.GetName() != "testplugin" {
		t.Errorf("a process that is away is described as %v", d)
	}
	if err := p.Remove(context.Background(), "none"); err != nil {
		t.Errorf("remove: %v", err)
	}
	eventually(t, func() bool {
		return p.Status().State == host.Backoff && strings.Contains(p.Status().Message, "cannot go on")
	}, "the state tells why")
	plugin.set(t, testplugin.Well)
	p.Restart()
	eventually(t, func() bool { return p.Status().State == host.Ready }, "Restart does not wait for the pause to end")
	mustAnswer(t, p, "a", "ok")
}

func TestStoppedPluginIsReplaced(t *testing.T) {
	var seen states
	h := testplugin.NewHost(t, func(c *host.Config) {
		c.PingInterval, c.PingTimeout, c.PingFailures = 30*time.Millisecond, 150*time.Millisecond, 2
		c.OnState = seen.add
	})
	p := start(t, h, testplugin.Spec(testplugin.Well))
	defer p.Release()
	pid := pidOf(t, p)
	kill(t, pid, syscall.SIGSTOP)
	eventually(t, func() bool { st := p.Status(); return st.State == host.Ready && st.PID != pid }, "the plugin is replaced")
	mustAnswer(t, p, "a", "ok")
	if !gone(pid) {
		t.Error("the stopped process is still there")
	}
	if _, ok := seen.find(host.Degraded, "health check failed"); !ok {
		t.Error("the state was never degraded")
	}
	if _, ok := seen.find(host.Backoff, "no answer to 2 health checks"); !ok {
		t.Error("the state does not tell why")
	}
}

func TestCrashLoop(t *testing.T) {
	var seen states
	h := testplugin.NewHost(t, func(c *host.Config) { c.OnState = seen.add })
	plugin := newSwitchable(t, testplugin.Well)
	p := start(t, h, plugin.Spec)
	defer p.Release()
	other := start(t, h, testplugin.Spec(testplugin.Well))
	defer other.Release()
	pid := pidOf(t, other)
	plugin.set(t, testplugin.Exit)
	kill(t, pidOf(t, p), syscall.SIGKILL)
	eventually(t, func() bool { _, ok := seen.find(host.Backoff, "crash loop: 6 exits in a row"); return ok }, "the state says so")
	mustAnswer(t, other, "a", "ok")
	if pidOf(t, other) != pid || other.Status().Restarts != 0 {
		t.Error("another process suffers")
	}
	plugin.set(t, testplugin.Well)
	p.Restart()
	eventually(t, func() bool { return p.Status().State == host.Ready }, "it comes back")
	mustAnswer(t, p, "a", "ok")
}

// A process that a plugin has left behind keeps the pipes of its output open. Nothing waits for it.
func TestDaemonOfAPluginHoldsNothingUp(t *testing.T) {
	h := testplugin.NewHost(t)
	p := start(t, h, testplugin.Spec(testplugin.Well))
	out, err := try(p, "a", testplugin.OpDaemon)
	if err != nil {
		t.Fatal(err)
	}
	daemon, err := strconv.Atoi(out)
	if err != nil {
		t.Fatal(err)
	}
	defer kill(t, daemon, syscall.SIGKILL)
	pid := pidOf(t, p)
	kill(t, pid, syscall.SIGKILL)
	eventually(t, func() bool { st := p.Status(); return st.State == host.Ready && st.PID != pid }, "the plugin is replaced")
	mustAnswer(t, p, "a", "ok")
	if out, err = try(p, "a", testplugin.OpDaemon); err != nil {
		t.Fatal(err)
	}
	second, err := strconv.Atoi(out)
	if err != nil {
		t.Fatal(err)
	}
	defer kill(t, second, syscall.SIGKILL)
	closed := make(chan struct{})
	go func() { h.Close(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(within):
		t.Fatal("the host waits for a process that the plugin left behind")
	}
	if gone(daemon) || gone(second) {
		t.Error("the daemons should still hold the pipes")
	}
}

func TestRestartOnRequest(t *testing.T) {
	p := start(t, testplugin.NewHost(t), testplugin.Spec(testplugin.Well))
	defer p.Release()
	pid := pidOf(t, p)
	p.Restart()
	eventually(t, func() bool { st := p.Status(); return st.State == host.Ready && st.PID != pid }, "the process is another")
	mustAnswer(t, p, "a", "ok")
	if !gone(pid) {
		t.Error("the old process is still there")
	}
}

func TestInstanceRefusedAfterARestartIsTriedAgain(t *testing.T) {
	plugin := newSwitchable(t, testplugin.Exclusive)
	p := open(t, testplugin.NewHost(t, func(c *host.Config) { c.PingInterval = 30 * time.Millisecond }), plugin.Spec)
	defer p.Release()
	dirs := map[string]string{"a": t.TempDir(), "b": t.TempDir()}
	for id, dir := range dirs {
		c := config(id, `{}`)
		c.DataDir = dir
		if _, err := p.Configure(context.Background(), c); err != nil {
			t.Fatal(err)
		}
	}
	kill(t, pidOf(t, p), syscall.SIGKILL) // leaves the locks behind
	if err := os.Remove(filepath.Join(dirs["b"], "lock")); err != nil {
		t.Fatal(err)
	}
	// A health check of the killed process may say something else before.
	eventually(t, func() bool {
		now := p.Status()
		return now.State == host.Degraded && strings.Contains(now.Message, "is refused") &&
			strings.Contains(now.Message, "lock the data directory")
	}, "the restarted plugin refuses the instance whose lock is there")
	mustAnswer(t, p, "b", "ok")
	if err := os.Remove(filepath.Join(dirs["a"], "lock")); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return p.Status().State == host.Ready }, "it is taken in by a later health check")
	mustAnswer(t, p, "a", "ok")
}

func TestHundredCrashesLeakNothing(t *testing.T) {
	h := testplugin.NewHost(t)
	p := start(t, h, testplugin.Spec(testplugin.Well))
	defer p.Release()
	crash := func() {
		pid := pidOf(t, p)
		kill(t, pid, syscall.SIGKILL)
		eventually(t, func() bool { st := p.Status(); return st.State == host.Ready && st.PID != pid }, "the plugin is back")
	}
	for range 3 {
		crash()
	}
	mustAnswer(t, p, "a", "ok")
	fds, goroutines, threads := count(t, "/proc/self/fd"), runtime.NumGoroutine(), count(t, "/proc/self/task")
	for range 100 {
		crash()
	}
	mustAnswer(t, p, "a", "ok")
	eventually(t, func() bool { return runtime.NumGoroutine() <= goroutines+1 }, "goroutines are back to what they were")
	eventually(t, func() bool { return count(t, "/proc/self/fd") <= fds+1 }, "descriptors are back to what they were")
	if now := count(t, "/proc/self/task"); now > threads+10 {
		t.Errorf("%d threads, there were %d", now, threads)
	}
	if dirs := linkDirs(t, h); len(dirs) != 1 {
		t.Errorf("socket directories: %v", dirs)
	}
	if got := p.Status().Restarts; got != 103 {
		t.Errorf("%d restarts", got)
	}
}

func count(t testing.TB, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func TestLogsReachTheHost(t *testing.T) {
	var out logBuffer
	h := testplugin.NewHost(t, func(c *host.Config) {
		c.Logger = hclog.New(&hclog.LoggerOptions{Output: &out, JSONFormat: true, Level: hclog.Info})
	})
	p := start(t, h, testplugin.Spec(testplugin.Well))
	defer p.Release()
	if _, err := invoke(context.Background(), caller(t, p, "a"), testplugin.OpLog, "something odd"); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return out.has("warn", "something odd") }, "the line has the plugin's level")
	found := false
	for _, l := range p.Logs() {
		found = found || strings.Contains(l, "something odd")
	}
	if !found {
		t.Errorf("the line is not kept: %q", p.Logs())
	}
}

type logBuffer struct{ testkit.Buffer }

func (l *logBuffer) has(level, message string) bool {
	for line := range strings.Lines(l.String()) {
		var entry struct {
			Level   string `json:"@level"`
			Message string `json:"@message"`
		}
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Level == level && entry.Message == message {
			return true
		}
	}
	return false
}

func TestHealthOfAnInstance(t *testing.T) {
	p := start(t, testplugin.NewHost(t), testplugin.Spec(testplugin.Well))
	defer p.Release()
	configure(t, p, "b", `{"unwell":"the index is stale"}`)
	for id, want := range map[string]string{"a": "", "b": "the index is stale", "": ""} {
		resp, err := p.Health(context.Background(), id)
		if err != nil || resp.GetMessage() != want {
			t.Errorf("instance %q: %v, %v", id, resp, err)
		}
	}
	if _, err := p.Health(context.Background(), "none"); err == nil {
		t.Error("an unknown instance is healthy")
	}
}

func TestValidateAndConfigure(t *testing.T) {
	p := start(t, testplugin.NewHost(t), testplugin.Spec(testplugin.Well))
	defer p.Release()
	ctx := context.Background()
	for _, json := range []string{`{"reject":true}`, `{"answr":"x"}`, `{"answer":1}`} {
		diags, err := p.Validate(ctx, config("v", json))
		if err != nil || !diags.HasErrors() {
			t.Errorf("validate %s: %v, %v", json, diags, err)
		}
		if diags, err = p.Configure(ctx, config("a", json)); err != nil || !diags.HasErrors() {
			t.Errorf("configure %s: %v, %v", json, diags, err)
		}
	}
	mustAnswer(t, p, "a", "ok")
	configure(t, p, "a", `{"answer":"changed"}`)
	mustAnswer(t, p, "a", "changed")
	if err := p.Remove(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := try(p, "a", testplugin.OpEcho); err == nil {
		t.Error("a removed instance answers")
	}
	if err := p.Remove(ctx, "a"); err != nil {
		t.Errorf("second remove: %v", err)
	}
}
