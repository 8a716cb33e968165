package e2e

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// consolePages are the pages of the core and of the search service, by the name of their picture.
func consolePages() [][2]string {
	return [][2]string{
		{"home", "/system"}, {"plugins", "/system/plugins"}, {"instance", "/system/plugins/instance/search.docs"},
		{"add-provider", "/system/plugins/add"}, {"provider-form", "/system/plugins/add/search/searxng?for=search.backend"},
		{"provider-settings", "/system/plugins/instance/search.docs/settings"}, {"use-another", "/system/plugins/use/search/backend"},
		{"available", "/system/plugins/available"}, {"available-one", "/system/plugins/available/search/local"},
		{"jobs", "/system/jobs"}, {"account", "/system/account"}, {"users", "/system/users"}, {"audit", "/system/audit"},
		{"search-overview", "/search/overview"}, {"search-tokens", "/search/tokens"}, {"search-keys", "/search/keys"},
		{"search-requests", "/search/requests"}, {"search-playground", "/search/playground"}, {"search-guide", "/search/guide"},
	}
}

// look is a way in which a page is looked at.
type look struct {
	lang, theme string
	width       int64
}

// looks returns the ways in which each page is looked at: four, which have every pair of a width, a theme and a language, or all
// eight if picturesEnv is "all".
func looks() (out []look) {
	if os.Getenv(picturesEnv) != "all" {
		return []look{{"en", "light", 1280}, {"zh", "dark", 1280}, {"zh", "light", 390}, {"en", "dark", 390}}
	}
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

// axe returns the source of axe-core for the looks in which it is run, or nothing: once in each width and each theme. What it
// checks is the same in both languages.
func (l look) axe(source string) string {
	if l.lang == "en" || os.Getenv(picturesEnv) == "all" {
		return source
	}
	return ""
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

// visit opens a page, checks it, with axe unless that is empty, and takes a picture.
func (b *browser) visit(l look, page, path, axe string) {
	b.t.Helper()
	b.open(path)
	what := l.name(page)
	evaluated(b, what+" is shown", `document.querySelector("#main")?.checkVisibility() ?? false`, true)
	b.inspect(axe, what)
	if l.lang == "zh" && !strings.HasPrefix(page, hostilePage) {
		b.inChinese(what)
	}
	b.picture(what)
}

// TestConsolePages looks at every page in every size, theme and language.
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
	b.visit(wide, "setup", c.setupPath(), source)
	b.setUp(c)
	b.addPasskey("Laptop")
	c.search(t, c.token(), 200)
	for _, page := range append(consolePages(), [2]string{"not-found", "/system/nothing"}) {
		b.walk(page[0], page[1], source, wide, narrow)
	}
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
