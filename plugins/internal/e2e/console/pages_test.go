package console

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// TestConsolePages looks at the pages that TestPagesInEveryState has no way to: those of whoever is not signed in, an account with a
// passkey, and an address that leads nowhere.
func TestConsolePages(t *testing.T) {
	t.Parallel()
	c := startConsole(t)
	b := kit.Browse(t, c)
	source := kit.ReadAxe(t)
	b.Authenticator(true)
	b.Expect("401")
	b.Expect("404")
	b.Walk("sign-in", "/system/plugins", source, kit.Wide, kit.Narrow)
	b.As(kit.Wide)
	b.Visit(kit.Wide, "setup", func() { b.Open(c.SetupPath()) }, source)
	b.SetUp(c)
	addPasskey(b, "Laptop")
	b.Walk("account-with-passkey", "/system/account", source, kit.Wide, kit.Narrow)
	b.Walk("not-found", "/system/nothing", source, kit.Wide, kit.Narrow)
}

// TestConsoleLive: what happens to a plugin shows without a reload, and a stream that is cut says so.
func TestConsoleLive(t *testing.T) {
	t.Parallel()
	c := startConsole(t)
	b := kit.Browse(t, c)
	b.Authenticator(true)
	b.SetUp(c)
	b.Open("/system/plugins/instance/search.docs")
	b.Press("form[action$='/check'] button", ".toast.ok")
	b.Open("/system/plugins")
	processes := c.Plugins()
	if len(processes) == 0 {
		t.Fatal("the core runs no plugin")
	}
	for _, pid := range processes {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	deadline := kit.DeadlineAfter(20 * time.Second)
	for {
		// The fourth column holds the restarts.
		text, err := kit.Evaluate[string](b, `document.querySelector("tbody tr td:nth-child(4)").innerText`)
		if err == nil && text != "0" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the restart does not show: %q, %v, at %s", text, err, b.Where())
		}
		time.Sleep(kit.PollEvery)
	}
	b.Do(chromedp.KeyEvent("g"), chromedp.KeyEvent("j"))
	b.Shows("All states")
	b.Do(chromedp.WaitReady(chromedp.CSS("html.js")), chromedp.KeyEvent("?"), chromedp.WaitVisible(chromedp.CSS("#shortcuts")))
	b.Open("/system")
	b.Do(chromedp.WaitReady(chromedp.CSS(".live .on")))
	c.Configure(consoleConfig + "search \"local\" \"more\" {\n  config { folders = [\"docs\"] }\n}\n")
	c.Reload()
	b.Shows("search.more")
	// A stream that has been silent for too long is taken up again.
	const streams = `performance.getEntriesByType("resource").filter((e) => e.name.endsWith("/system/live")).length`
	before, err := kit.Evaluate[int](b, `((n) => { const now = Date.now; Date.now = () => now() + 60000; return n; })(`+streams+`)`)
	if err != nil {
		t.Fatal(err)
	}
	waitUntilTrue(b, "the stream is taken up again", fmt.Sprintf(`%s > %d`, streams, before))
	// The connections that fail from here on are the point.
	for _, part := range []string{"ERR_", "fetch", "network error", "htmx"} {
		b.Expect(part)
	}
	c.Stop()
	b.Do(chromedp.WaitVisible(chromedp.CSS(".live .off")))
	b.Mark()
	b.Press(".side .wide [name=theme][value=dark]", ".toast.bad")
	b.Shows("The core does not answer")
	b.Marked("what is done while the core is away")
}
