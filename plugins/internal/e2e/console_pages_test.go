package e2e

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// look is a way in which a page is looked at.
type look struct {
	lang, theme string
	width       int64
}

// looks returns all eight ways in which a page can be looked at.
func looks() (out []look) {
	for _, width := range []int64{1280, 390} {
		for _, theme := range []string{"light", "dark"} {
			for _, lang := range []string{"en", "zh"} {
				out = append(out, look{lang, theme, width})
			}
		}
	}
	return out
}

func (l look) name(page string) string {
	return fmt.Sprintf("%s-%d-%s-%s", page, l.width, l.theme, l.lang)
}

// as sets the size of the window and the choices that the console keeps in cookies.
func (b *browser) as(l look) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(l.width, 900))
	for name, value := range map[string]string{"patchbay_lang": l.lang, "patchbay_theme": l.theme} {
		if _, err := chromedp.Call(b.ctx, network.SetCookie, network.SetCookieParams{Name: name, Value: value, URL: b.base}); err != nil {
			b.t.Fatal(err)
		}
	}
}

// visit opens a page by open, checks it, with axe unless that is empty, and takes a picture.
func (b *browser) visit(l look, page string, open func(), axe string) {
	b.t.Helper()
	open()
	what := l.name(page)
	evaluated(b, what+" is shown", `document.querySelector("#main")?.checkVisibility() ?? false`, true)
	b.inspect(axe, what)
	if l.lang == "zh" && !strings.HasPrefix(page, hostilePage) && !strings.HasPrefix(page, showcasePage) {
		b.inChinese(what)
	}
	b.picture(what)
}

// TestConsolePages looks at the pages that TestPagesInEveryState has no way to: those of whoever is not signed in, an account with a
// passkey, and an address that leads nowhere.
func TestConsolePages(t *testing.T) {
	t.Parallel()
	c := startConsole(t)
	b := browse(t, c)
	source := axe(t)
	b.authenticator(true)
	b.expect("401")
	b.expect("404")
	b.walk("sign-in", "/system/plugins", source, wide, narrow)
	b.as(wide)
	b.visit(wide, "setup", func() { b.open(c.setupPath()) }, source)
	b.setUp(c)
	b.addPasskey("Laptop")
	b.walk("account-with-passkey", "/system/account", source, wide, narrow)
	b.walk("not-found", "/system/nothing", source, wide, narrow)
}

// TestConsoleLive: what happens to a plugin shows without a reload, and a stream that is cut says so.
func TestConsoleLive(t *testing.T) {
	t.Parallel()
	c := startConsole(t)
	b := browse(t, c)
	b.authenticator(true)
	b.setUp(c)
	b.open("/system/plugins/instance/search.docs")
	b.press("form[action$='/check'] button", ".toast.ok")
	b.open("/system/plugins")
	processes := c.plugins()
	if len(processes) == 0 {
		t.Fatal("the core runs no plugin")
	}
	for _, pid := range processes {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	deadline := deadlineAfter(20 * time.Second)
	for {
		// The fourth column holds the restarts.
		text, err := evaluate[string](b, `document.querySelector("tbody tr td:nth-child(4)").innerText`)
		if err == nil && text != "0" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the restart does not show: %q, %v, at %s", text, err, b.where())
		}
		time.Sleep(pollEvery)
	}
	b.do(chromedp.KeyEvent("g"), chromedp.KeyEvent("j"))
	b.shows("All states")
	b.do(chromedp.WaitReady(chromedp.CSS("html.js")), chromedp.KeyEvent("?"), chromedp.WaitVisible(chromedp.CSS("#shortcuts")))
	b.open("/system")
	b.do(chromedp.WaitReady(chromedp.CSS(".live .on")))
	c.configure(consoleConfig + "search \"local\" \"more\" {\n  config { folders = [\"docs\"] }\n}\n")
	c.hup()
	b.shows("search.more")
	// A stream that has been silent for too long is taken up again.
	const streams = `performance.getEntriesByType("resource").filter((e) => e.name.endsWith("/system/live")).length`
	before, err := evaluate[int](b, `((n) => { const now = Date.now; Date.now = () => now() + 60000; return n; })(`+streams+`)`)
	if err != nil {
		t.Fatal(err)
	}
	b.turns("the stream is taken up again", fmt.Sprintf(`%s > %d`, streams, before))
	// The connections that fail from here on are the point.
	for _, part := range []string{"ERR_", "fetch", "network error", "htmx"} {
		b.expect(part)
	}
	c.stop()
	b.do(chromedp.WaitVisible(chromedp.CSS(".live .off")))
	b.mark()
	b.press(".side .wide [name=theme][value=dark]", ".toast.bad")
	b.shows("The core does not answer")
	b.marked("what is done while the core is away")
}
