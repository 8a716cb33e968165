package console

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// waitUntilTrue waits until a script says true.
func waitUntilTrue(b *kit.Browser, what, script string) {
	b.T.Helper()
	kit.Eventually(b.T, kit.BrowserLimit, what, func() bool {
		is, err := kit.Evaluate[bool](b, script)
		return err == nil && is
	})
}

// makeTokens makes access tokens of a group in the browser's session.
func makeTokens(b *kit.Browser, n int, group string) {
	b.T.Helper()
	kit.RequireValue(b, "make tokens", fmt.Sprintf(`fetch('/search/api/tokens/batch', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify({count: %d, group: %q})}).then((r) => r.status)`, n, group), http.StatusCreated)
}

// TestConsoleLists: filters apply as one types, keys move between rows, and what is done with many follows the filter.
func TestConsoleLists(t *testing.T) {
	t.Parallel()
	c := startConsole(t)
	b := kit.Browse(t, c)
	source := kit.ReadAxe(t)
	b.SetUp(c)
	makeTokens(b, 60, "machines")
	makeTokens(b, 3, "people")

	b.Open("/search/tokens")
	b.Do(chromedp.WaitReady(chromedp.CSS("html.js")))
	b.Mark()
	kit.RequireValue(b, "the key / types nothing", `document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "/", bubbles: true, cancelable: true}))`, false)
	b.Do(chromedp.KeyEvent("zzz"))
	b.Shows("Nothing matches the filter")
	kit.RequireValue(b, "the address has the filter", `location.search`, "?q=zzz")
	kit.RequireValue(b, "the focus stays in the filter", `document.activeElement.name + document.activeElement.value`, "qzzz")
	b.Press("#list .empty .btn", "[data-row]")
	kit.RequireValue(b, "the filter is cleared", `location.search`, "")

	b.Open("/search/tokens")
	b.Do(chromedp.WaitReady(chromedp.CSS("html.js")))
	b.Mark()
	b.Do(chromedp.SetValue(chromedp.CSS("#filter-group"), "machines"))
	kit.RequireValue(b, "the choice is made", `document.querySelector("#filter-group").dispatchEvent(new Event("input", {bubbles: true}))`, true)
	waitUntilTrue(b, "the list has the group alone", `location.search === "?group=machines" && document.querySelector(".total").innerText === "50 of 60" && !document.querySelector(".htmx-request, .htmx-swapping, .htmx-settling")`)
	b.Marked("the filter")

	b.Do(chromedp.KeyEvent("j"), chromedp.KeyEvent("j"), chromedp.KeyEvent("k"), chromedp.KeyEvent("x"))
	kit.RequireValue(b, "j and k move between rows",
		`[...document.querySelectorAll("[data-row]")].indexOf(document.activeElement.closest("[data-row]"))`, 0)
	kit.RequireValue(b, "x picks the row", `document.querySelector("[data-picked]").innerText + document.querySelectorAll("td.pick :checked").length`, "11")
	b.Inspect(source, "a list with a row picked")
	b.Do(chromedp.KeyEvent(kb.Escape))
	kit.RequireValue(b, "escape leaves the row", `document.activeElement === document.body`, true)

	b.Press("#bulk [name=all]", "#bulk [name=all]:checked")
	b.Press("#bulk [value=disable]", "main form[action$='/bulk'] button")
	b.Shows("Disable 60 access tokens")
	b.Press("main form[action$='/bulk'] button", ".toast.ok")
	b.Shows("Done: 60. Failed: 0.")
	kit.RequireValue(b, "the filter is still set", `location.search`, "?group=machines")
	b.Open("/search/tokens?enabled=frozen")
	kit.RequireValue(b, "the bulk follows the filter", `document.querySelector(".total").innerText`, "50 of 60")

	// The same without JavaScript, and what cannot be undone wants the number typed.
	if _, err := chromedp.Call(b.Ctx, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	b.Open("/search/tokens")
	b.Do(chromedp.SetValue(chromedp.CSS("#filter-q"), "people"))
	b.Press(".filters button", ".filters button")
	waitUntilTrue(b, "the filter applies", `document.readyState === "complete" && new URLSearchParams(location.search).get("q") === "people"`)
	b.Open("/search/tokens?group=people")
	b.Do(chromedp.Click(chromedp.CSS("td.pick input")))
	b.Press("#bulk [value=delete]", "main [name=confirm_name]")
	b.Do(chromedp.SendKeys(chromedp.CSS("main [name=confirm_name]"), "1"))
	b.Press("main form[action$='/bulk'] button", ".toast.ok")
	b.Do(chromedp.WaitVisible(chromedp.CSS("[data-row]:nth-child(2):last-child")))
}

// TestConsoleListOnAPhone: rows are cards with their labels, and targets are large enough.
func TestConsoleListOnAPhone(t *testing.T) {
	t.Parallel()
	c := startConsole(t)
	b := kit.Browse(t, c)
	b.SetUp(c)
	makeTokens(b, 3, strings.Repeat("long", 20))
	b.As(kit.Look{Lang: "en", Theme: "light", Width: 390})
	b.Open("/search/tokens")
	kit.RequireValue(b, "a cell has its label", `getComputedStyle(document.querySelector("td[data-label=State]"), "::before").content`, `"State"`)
	kit.RequireValue(b, "no heading is left", `document.querySelector(".rows thead").getBoundingClientRect().height <= 1`, true)
	const small = `[...document.querySelectorAll("main a, main button, main input, main select, main summary")].filter((e) => e.checkVisibility() && !e.closest(".pick")).filter((e) => e.getBoundingClientRect().height < 40).map((e) => e.outerHTML.slice(0, 80)).join()`
	for _, path := range []string{"/search/tokens", "/search/keys", "/system/users", "/system/audit", "/system/jobs"} {
		b.Open(path)
		kit.RequireValue(b, "small targets at "+path, small, "")
		kit.RequireValue(b, "the width of "+path, `document.documentElement.scrollWidth <= 390`, true)
	}
}

// TestLiveListKeepsItsPlace: rows that arrive move neither what one looks at nor the focus.
func TestLiveListKeepsItsPlace(t *testing.T) {
	t.Parallel()
	c := startConsole(t)
	b := kit.Browse(t, c)
	b.SetUp(c)
	token := c.Token()
	for range 40 {
		c.Search(t, token, http.StatusOK)
	}
	b.Open("/search/requests")
	b.Do(chromedp.WaitReady(chromedp.CSS(".live .on")), chromedp.WaitReady(chromedp.CSS("[data-row]:nth-child(40)")))
	b.Mark()
	const row = `document.querySelector("#request-20")`
	kit.RequireValue(b, "a row has the focus", `(`+row+`.querySelector("a").focus(), scrollTo(0, 500), window.before = `+row+`.getBoundingClientRect().top, document.activeElement.closest("tr").id)`, "request-20")
	for range 3 {
		c.Search(t, token, http.StatusOK)
	}
	waitUntilTrue(b, "the requests arrive", `document.querySelector("#request-43") !== null`)
	b.Marked("the live list")
	kit.RequireValue(b, "the focus stays on its row", `document.activeElement.closest("tr")?.id`, "request-20")
	waitUntilTrue(b, "the row stays in its place", `Math.abs(`+row+`.getBoundingClientRect().top - window.before) < 2`)
}
