package host_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
	"github.com/patchbay-dev/patchbay/core/plugin/host"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// envCore makes the test binary a core: its value is the directory of sockets.
const envCore = "PATCHBAY_TEST_CORE"

// coreMain does not return if the process was started as a core. It starts a plugin, lets that start a process of its
// own, prints both process ids and waits to be killed.
func coreMain() {
	dir := os.Getenv(envCore)
	if dir == "" {
		return
	}
	if err := serveCore(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	select {}
}

func serveCore(dir string) error {
	h, err := host.New(host.Config{SocketDir: dir})
	if err != nil {
		return err
	}
	ctx := context.Background()
	p, err := h.Open(ctx, testplugin.Spec(testplugin.Well))
	if err != nil {
		return err
	}
	if _, err := p.Configure(ctx, config("a", `{}`)); err != nil {
		return err
	}
	l, err := p.Link()
	if err != nil {
		return err
	}
	child, err := invoke(ctx, search.NewClient(l.Conn, "a", 0), testplugin.OpGrandchild, testplugin.BindToParent)
	if err != nil {
		return err
	}
	fmt.Println(l.PID, child)
	return nil
}

// What a plugin starts by itself is the plugin's business: it binds such a process to its own life, as this one does.
func TestNothingOutlivesAKilledCore(t *testing.T) {
	dir := testplugin.ShortDir(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envCore+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var plugin, child int
	line, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		_, err = fmt.Sscan(line, &plugin, &child)
	}
	if err != nil {
		t.Fatalf("the core did not start: %q, %v", line, err)
	}
	if gone(plugin) || gone(child) {
		t.Fatal("the plugin and its child should run")
	}
	kill(t, cmd.Process.Pid, syscall.SIGKILL)
	_ = cmd.Wait()
	testkit.Eventually(t, 2*time.Second, func() bool { return gone(plugin) && gone(child) }, "the plugin and its child are gone")
	h := testplugin.NewHost(t, func(c *host.Config) { c.SocketDir = dir })
	h.Close()
	if left := socketDirs(t, dir); len(left) != 0 {
		t.Errorf("left by the dead core: %v", left)
	}
}
