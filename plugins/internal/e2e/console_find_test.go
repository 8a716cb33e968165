package e2e

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestConsoleFind: Ctrl-K finds pages, things and actions with keys alone, and a page does the same without JavaScript. Members find
// what is theirs.
func TestConsoleFind(t *testing.T) {
	t.Parallel()
	c := startConsole(t)
	b := browse(t, c)
	source := axe(t)
	b.setUp(c)
	id := c.token()[len("th-"):][:4]
	b.open("/system")
	b.do(chromedp.WaitReady(chromedp.CSS("html.js")))
	evaluated(b, "the key", `document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "k", ctrlKey: true, bubbles: true, cancelable: true}))`, false)
	b.do(chromedp.WaitVisible(chromedp.CSS("#finder[open] [role=option]")))
	b.inspect(source, "the dialog")
	b.do(chromedp.KeyEvent("audit"))
	b.turns("the page is found", `document.querySelectorAll("#finder [role=option]").length === 1`)
	b.do(chromedp.KeyEvent(kb.Enter))
	b.do(chromedp.WaitVisible(chromedp.CSS("#filter-action")))
	for text, want := range map[string]string{id: "/search/tokens/" + id, "ada@": "/system/users#user-",
		"search.docs": "/system/plugins/instance/search.docs", "new token": "/search/tokens?open=new-token"} {
		b.open("/system/audit")
		b.do(chromedp.WaitReady(chromedp.CSS("html.js")))
		b.press(".find", "#finder[open] [role=option]")
		b.do(chromedp.KeyEvent(text))
		b.turns(text+" is found", `document.querySelectorAll("#finder [role=option]").length === 1`)
		b.do(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowUp))
		href, err := evaluate[string](b, `document.getElementById(document.querySelector("#finder input").getAttribute("aria-activedescendant")).getAttribute("href")`)
		if err != nil || !strings.HasPrefix(href, want) {
			t.Errorf("%q leads to %q, %v, want %q", text, href, err, want)
		}
	}
	b.do(chromedp.KeyEvent(kb.Escape))
	b.turns("escape closes the dialog", `!document.querySelector("#finder[open]")`)

	if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	b.open("/system")
	b.press(".find", "#find-text")
	b.do(chromedp.SendKeys(chromedp.CSS("#find-text"), id))
	b.press("main form button", ".found a[href='/search/tokens/"+id+"']")
}

// TestConsoleNavigation: the account is in sight on a low screen, groups stay as they were left, and a phone has a bar.
func TestConsoleNavigation(t *testing.T) {
	t.Parallel()
	c := startConsole(t)
	b := browse(t, c)
	b.setUp(c)
	b.do(chromedp.EmulateViewport(1280, 800))
	b.open("/search/tokens")
	b.do(chromedp.WaitReady(chromedp.CSS("html.js")))
	const out = `document.querySelector(".side .wide .who button").getBoundingClientRect().bottom`
	evaluated(b, "signing out is in sight", out+` <= innerHeight`, true)
	evaluated(b, "the navigation needs no scrolling",
		`(({scrollHeight, clientHeight}) => scrollHeight <= clientHeight)(document.querySelector("nav.wide"))`, true)
	b.do(chromedp.Click(chromedp.CSS("nav.wide [data-fold=nav_system] summary")))
	before, err := evaluate[bool](b, `document.querySelector("nav.wide [data-fold=nav_system]").open`)
	if err != nil {
		t.Fatal(err)
	}
	b.turns("the choice is kept", `document.cookie.includes("nav_system-")`)
	b.open("/search/keys")
	evaluated(b, "the group is as it was left", `document.querySelector("nav.wide [data-fold=nav_system]").open`, before)
	b.open("/system/users")
	evaluated(b, "the group of the page is open", `document.querySelector("nav.wide [data-fold=nav_system]").open`, true)
	b.as(look{"en", "light", 390})
	b.open("/search/tokens")
	b.press(".narrow > summary", ".narrow .who button")
	evaluated(b, "small targets in the bar",
		`[...document.querySelectorAll(".side a, .side summary, .side button")].filter((e) => e.checkVisibility()).filter((e) => e.getBoundingClientRect().height < 40).map((e) => e.outerHTML.slice(0, 80)).join()`, "")
}
