package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// evaluated fails the test unless a script says want.
func evaluated[T comparable](b *browser, what, script string, want T) {
	b.t.Helper()
	if got, err := evaluate[T](b, script); err != nil || got != want {
		b.t.Errorf("%s: %v, want %v (%v), at %s", what, got, want, err, b.where())
	}
}

// turns waits until a script says true.
func (b *browser) turns(what, script string) {
	b.t.Helper()
	eventually(b.t, browserLimit, what, func() bool {
		is, err := evaluate[bool](b, script)
		return err == nil && is
	})
}

// makeTokens makes access tokens of a group in the browser's session.
func (b *browser) makeTokens(n int, group string) {
	b.t.Helper()
	evaluated(b, "make tokens", fmt.Sprintf(`fetch('/search/api/tokens/batch', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify({count: %d, group: %q})}).then((r) => r.status)`, n, group), http.StatusCreated)
}

// TestConsoleLists: filters apply as one types, keys move between rows, and what is done with many follows the filter.
func TestConsoleLists(t *testing.T) {
	t.Parallel()
	c := startConsole(t)
	b := browse(t, c)
	source := axe(t)
	b.setUp(c)
	b.makeTokens(60, "machines")
	b.makeTokens(3, "people")

	b.open("/search/tokens")
	b.do(chromedp.WaitReady(chromedp.CSS("html.js")))
	b.mark()
	evaluated(b, "the key / types nothing", `document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "/", bubbles: true, cancelable: true}))`, false)
	b.do(chromedp.KeyEvent("zzz"))
	b.shows("Nothing matches the filter")
	evaluated(b, "the address has the filter", `location.search`, "?q=zzz")
	evaluated(b, "the focus stays in the filter", `document.activeElement.name + document.activeElement.value`, "qzzz")
	b.press("#list .empty .btn", "[data-row]")
	evaluated(b, "the filter is cleared", `location.search`, "")

	b.open("/search/tokens")
	b.do(chromedp.WaitReady(chromedp.CSS("html.js")))
	b.mark()
	b.do(chromedp.SetValue(chromedp.CSS("#filter-group"), "machines"))
	evaluated(b, "the choice is made", `document.querySelector("#filter-group").dispatchEvent(new Event("input", {bubbles: true}))`, true)
	b.turns("the list has the group alone", `location.search === "?group=machines" && document.querySelector(".total").innerText === "50 of 60" && !document.querySelector(".htmx-request, .htmx-swapping, .htmx-settling")`)
	b.marked("the filter")

	b.do(chromedp.KeyEvent("j"), chromedp.KeyEvent("j"), chromedp.KeyEvent("k"), chromedp.KeyEvent("x"))
	evaluated(b, "j and k move between rows",
		`[...document.querySelectorAll("[data-row]")].indexOf(document.activeElement.closest("[data-row]"))`, 0)
	evaluated(b, "x picks the row", `document.querySelector("[data-picked]").innerText + document.querySelectorAll("td.pick :checked").length`, "11")
	b.inspect(source, "a list with a row picked")
	b.do(chromedp.KeyEvent(kb.Escape))
	evaluated(b, "escape leaves the row", `document.activeElement === document.body`, true)

	b.press("#bulk [name=all]", "#bulk [name=all]:checked")
	b.press("#bulk [value=disable]", "main form[action$='/bulk'] button")
	b.shows("Disable 60 access tokens")
	b.press("main form[action$='/bulk'] button", ".toast.ok")
	b.shows("Done: 60. Failed: 0.")
	evaluated(b, "the filter is still set", `location.search`, "?group=machines")
	b.open("/search/tokens?enabled=frozen")
	evaluated(b, "the bulk follows the filter", `document.querySelector(".total").innerText`, "50 of 60")

	// The same without JavaScript, and what cannot be undone wants the number typed.
	if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	b.open("/search/tokens")
	b.do(chromedp.SetValue(chromedp.CSS("#filter-q"), "people"))
	b.press(".filters button", ".filters button")
	b.turns("the filter applies", `document.readyState === "complete" && new URLSearchParams(location.search).get("q") === "people"`)
	b.open("/search/tokens?group=people")
	b.do(chromedp.Click(chromedp.CSS("td.pick input")))
	b.press("#bulk [value=delete]", "main [name=confirm_name]")
	b.do(chromedp.SendKeys(chromedp.CSS("main [name=confirm_name]"), "1"))
	b.press("main form[action$='/bulk'] button", ".toast.ok")
	b.do(chromedp.WaitVisible(chromedp.CSS("[data-row]:nth-child(2):last-child")))
}

// TestConsoleListOnAPhone: rows are cards with their labels, and targets are large enough.
func TestConsoleListOnAPhone(t *testing.T) {
	t.Parallel()
	c := startConsole(t)
	b := browse(t, c)
	b.setUp(c)
	b.makeTokens(3, strings.Repeat("long", 20))
	b.as(look{"en", "light", 390})
	b.open("/search/tokens")
	evaluated(b, "a cell has its label", `getComputedStyle(document.querySelector("td[data-label=State]"), "::before").content`, `"State"`)
	evaluated(b, "no heading is left", `document.querySelector(".rows thead").getBoundingClientRect().height <= 1`, true)
	const small = `[...document.querySelectorAll("main a, main button, main input, main select, main summary")].filter((e) => e.checkVisibility() && !e.closest(".pick")).filter((e) => e.getBoundingClientRect().height < 40).map((e) => e.outerHTML.slice(0, 80)).join()`
	for _, path := range []string{"/search/tokens", "/search/keys", "/system/users", "/system/audit", "/system/jobs"} {
		b.open(path)
		evaluated(b, "small targets at "+path, small, "")
		evaluated(b, "the width of "+path, `document.documentElement.scrollWidth <= 390`, true)
	}
}

// TestLiveListKeepsItsPlace: rows that arrive move neither what one looks at nor the focus.
func TestLiveListKeepsItsPlace(t *testing.T) {
	t.Parallel()
	c := startConsole(t)
	b := browse(t, c)
	b.setUp(c)
	token := c.token()
	for range 40 {
		c.search(t, token, http.StatusOK)
	}
	b.open("/search/requests")
	b.do(chromedp.WaitReady(chromedp.CSS(".live .on")), chromedp.WaitReady(chromedp.CSS("[data-row]:nth-child(40)")))
	b.mark()
	const row = `document.querySelector("#request-20")`
	evaluated(b, "a row has the focus", `(`+row+`.querySelector("a").focus(), scrollTo(0, 500), window.before = `+row+`.getBoundingClientRect().top, document.activeElement.closest("tr").id)`, "request-20")
	for range 3 {
		c.search(t, token, http.StatusOK)
	}
	b.turns("the requests arrive", `document.querySelector("#request-43") !== null`)
	b.marked("the live list")
	evaluated(b, "the focus stays on its row", `document.activeElement.closest("tr")?.id`, "request-20")
	b.turns("the row stays in its place", `Math.abs(`+row+`.getBoundingClientRect().top - window.before) < 2`)
}
