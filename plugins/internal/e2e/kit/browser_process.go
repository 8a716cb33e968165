package kit

import (
	"context"
	"fmt"
	"os/exec"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// chromiumPath returns the path of Chromium. It skips the test where there is none.
func chromiumPath(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("chromium")
	testkit.Require(t, "chromium", err == nil, "install Chromium, on Debian by apt-get install chromium")
	return path
}

// shellPath returns the path of the Chromium that has no window and takes a third less time, if it is installed, or else that of Chromium.
func shellPath(t testing.TB) string {
	t.Helper()
	if path, err := exec.LookPath("chromium-headless-shell"); err == nil {
		return path
	}
	return chromiumPath(t)
}

// chromium is a browser that runs.
type chromium struct {
	ctx     context.Context
	Network *browserNetwork
	stop    func()
}

// startChromium starts a browser that ends when its stop is called. It does not optimize scripts: each page runs its own for less
// time than that takes.
func startChromium(path, profile string) (*chromium, error) {
	var command *exec.Cmd
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("js-flags", "--max-optimized-bytecode-size=0"),
		chromedp.UserDataDir(profile), chromedp.ModifyCmdFunc(func(cmd *exec.Cmd) { isolateProcess(cmd); command = cmd }))
	ctx, stopAll := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, stopFirst := chromedp.NewContext(ctx)
	b := &chromium{ctx: ctx, stop: func() { stopFirst(); stopAll() }}
	if _, err := chromedp.Run(ctx, chromedp.Navigate("about:blank")); err != nil {
		b.stop()
		return nil, err
	}
	network, err := openNetwork(command)
	if err != nil {
		b.stop()
		return nil, fmt.Errorf("network of the browser: %w", err)
	}
	b.Network, b.stop = network, func() { stopFirst(); stopAll(); network.closeNetwork() }
	return b, nil
}

// Shared is the browser in which most tests have a private window: to start one costs seconds.
var Shared struct {
	sync.Once
	*chromium
	err error
}

// stopShared ends the shared browser, if it was started.
func stopShared() {
	if Shared.chromium != nil {
		Shared.stop()
	}
}
