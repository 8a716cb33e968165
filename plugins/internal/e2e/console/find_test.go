package console

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// TestConsoleFind: Ctrl-K finds pages, things and actions with keys alone, and a page does the same without JavaScript. Members find
// what is theirs.
func TestConsoleFind(t *testing.T) {
	t.Parallel()
	c := startConsole(t)
	b := kit.Browse(t, c)
	source := kit.ReadAxe(t)
	b.SetUp(c)
	id := c.Token()[len("th-"):][:4]
	b.Open("/system")
	b.Do(chromedp.WaitReady(chromedp.CSS("html.js")))
	kit.RequireValue(b, "the key", `document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "k", ctrlKey: true, bubbles: true, cancelable: true}))`, false)
	b.Do(chromedp.WaitVisible(chromedp.CSS("#finder[open] [role=option]")))
	b.Inspect(source, "the dialog")
	b.Do(chromedp.KeyEvent("audit"))
	waitUntilTrue(b, "the page is found", `document.querySelectorAll("#finder [role=option]").length === 1`)
	b.Do(chromedp.KeyEvent(kb.Enter))
	b.Do(chromedp.WaitVisible(chromedp.CSS("#filter-action")))
	for text, want := range map[string]string{id: "/search/tokens/" + id, "ada@": "/system/users#user-",
		"search.docs": "/system/plugins/instance/search.docs", "new token": "/search/tokens?open=new-token"} {
		b.Open("/system/audit")
		b.Do(chromedp.WaitReady(chromedp.CSS("html.js")))
		b.Press(".find", "#finder[open] [role=option]")
		b.Do(chromedp.KeyEvent(text))
		waitUntilTrue(b, text+" is found", `document.querySelectorAll("#finder [role=option]").length === 1`)
		b.Do(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowUp))
		href, err := kit.Evaluate[string](b, `document.getElementById(document.querySelector("#finder input").getAttribute("aria-activedescendant")).getAttribute("href")`)
		if err != nil || !strings.HasPrefix(href, want) {
			t.Errorf("%q leads to %q, %v, want %q", text, href, err, want)
		}
	}
	b.Do(chromedp.KeyEvent(kb.Escape))
	waitUntilTrue(b, "escape closes the dialog", `!document.querySelector("#finder[open]")`)

	if _, err := chromedp.Call(b.Ctx, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	b.Open("/system")
	b.Press(".find", "#find-text")
	b.Do(chromedp.SendKeys(chromedp.CSS("#find-text"), id))
	b.Press("main form button", ".found a[href='/search/tokens/"+id+"']")
}

// TestConsoleNavigation: the account is in sight on a low screen, groups stay as they were left, and a phone has a bar.
func TestConsoleNavigation(t *testing.T) {
	t.Parallel()
	c := startConsole(t)
	b := kit.Browse(t, c)
	b.SetUp(c)
	b.Do(chromedp.EmulateViewport(1280, 800))
	b.Open("/search/tokens")
	b.Do(chromedp.WaitReady(chromedp.CSS("html.js")))
	const out = `document.querySelector(".side .wide .who button").getBoundingClientRect().bottom`
	kit.RequireValue(b, "signing out is in sight", out+` <= innerHeight`, true)
	kit.RequireValue(b, "the navigation needs no scrolling",
		`(({scrollHeight, clientHeight}) => scrollHeight <= clientHeight)(document.querySelector("nav.wide"))`, true)
	b.Do(chromedp.Click(chromedp.CSS("nav.wide [data-fold=nav_system] summary")))
	before, err := kit.Evaluate[bool](b, `document.querySelector("nav.wide [data-fold=nav_system]").open`)
	if err != nil {
		t.Fatal(err)
	}
	waitUntilTrue(b, "the choice is kept", `document.cookie.includes("nav_system-")`)
	b.Open("/search/keys")
	kit.RequireValue(b, "the group is as it was left", `document.querySelector("nav.wide [data-fold=nav_system]").open`, before)
	b.Open("/system/users")
	kit.RequireValue(b, "the group of the page is open", `document.querySelector("nav.wide [data-fold=nav_system]").open`, true)
	b.As(kit.Look{Lang: "en", Theme: "light", Width: 390})
	b.Open("/search/tokens")
	b.Press(".narrow > summary", ".narrow .who button")
	kit.RequireValue(b, "small targets in the bar",
		`[...document.querySelectorAll(".side a, .side summary, .side button")].filter((e) => e.checkVisibility()).filter((e) => e.getBoundingClientRect().height < 40).map((e) => e.outerHTML.slice(0, 80)).join()`, "")
}
