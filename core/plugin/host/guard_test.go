package host_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
	"github.com/patchbay-dev/patchbay/sdk/framework"
)

// A terminal or a service manager sends signals to plugins as well; the core decides when they end.
func TestSignalsAreIgnored(t *testing.T) {
	p := start(t, testplugin.NewHost(t), testplugin.Spec(testplugin.Well))
	defer p.Release()
	pid := pidOf(t, p)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		kill(t, pid, sig)
		eventually(t, func() bool { return !pending(t, pid, sig) }, sig.String()+" is delivered")
		mustAnswer(t, p, "a", "ok")
	}
	if pidOf(t, p) != pid {
		t.Error("a signal ended the plugin")
	}
}

// pending reports whether a signal still waits for the process.
func pending(t *testing.T, pid int, sig syscall.Signal) bool {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(raw)) {
		value, ok := strings.CutPrefix(line, "ShdPnd:")
		if !ok {
			continue
		}
		mask, err := strconv.ParseUint(strings.TrimSpace(value), 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		return mask&(1<<(uint(sig)-1)) != 0
	}
	return false
}

// The SDK watches the parent by itself, where the kernel does not do so for the host.
func TestPluginEndsWithItsParent(t *testing.T) {
	dir := testplugin.ShortDir(t)
	out := filepath.Join(dir, "out")
	spec := testplugin.Spec(testplugin.Well)
	script := fmt.Sprintf("'%s' '%s' '%s' >'%s' 2>/dev/null & until grep -q grpc '%s'; do sleep 0.01; done; echo $!",
		spec.Path, spec.Args[0], spec.Args[1], out, out)
	cmd := exec.Command("/bin/sh", "-c", script)
	h := framework.Handshake()
	cmd.Env = append(os.Environ(), h.MagicCookieKey+"="+h.MagicCookieValue, "PLUGIN_UNIX_SOCKET_DIR="+dir, testplugin.NoExitPause)
	line, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(line)))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return gone(pid) }, "the plugin has ended")
}

// Started by hand, a plugin explains itself.
func TestStartedByHand(t *testing.T) {
	spec := testplugin.Spec(testplugin.Well)
	text, err := exec.Command(spec.Path, spec.Args...).CombinedOutput()
	if err == nil || !strings.Contains(string(text), "is a Patchbay plugin") {
		t.Errorf("got %v: %s", err, text)
	}
	text, err = exec.Command(spec.Path, append(spec.Args, "describe")...).Output()
	if err != nil || !strings.Contains(string(text), `"patchbay.search.v1.Search"`) {
		t.Errorf("got %v: %s", err, text)
	}
}
