package e2e

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// tab opens another tab of the same browser, with the same session.
func (b *browser) tab() *browser {
	b.t.Helper()
	ctx, stop := chromedp.NewContext(b.ctx)
	b.t.Cleanup(stop)
	other := &browser{t: b.t, ctx: ctx, base: b.base}
	other.begin()
	return other
}

// TestConsoleSearch goes the way of a new operator: in by the set-up link, a passkey, out and in again, a token, a search in
// the playground, which arrives live in the log of requests.
func TestConsoleSearch(t *testing.T) {
	t.Parallel()
	c := startConsole(t)
	b := browse(t, c)
	b.authenticator(true)
	// The passkey that was revoked is refused with it.
	b.expect("401")
	b.setUp(c)
	b.addPasskey("Laptop")
	b.signOut()
	b.press("form[data-passkey=signin] button", ".side nav")

	b.open("/search/tokens")
	b.do(chromedp.Click(chromedp.CSS("[data-open]")), chromedp.SendKeys(chromedp.CSS("#note"), "First token"),
		chromedp.Click(chromedp.CSS("dialog form[method=post] .btn.p")))
	b.shows("th-")

	log := b.tab()
	log.open("/search/requests")
	log.do(chromedp.WaitVisible(chromedp.CSS(".live .on")))
	log.shows("Live")

	b.open("/search/playground?operation=search")
	b.do(chromedp.SendKeys(chromedp.CSS("#in-query"), "how to begin"),
		chromedp.Click(chromedp.CSS("main form[action='/search/playground'] .btn.p")))
	b.do(chromedp.WaitVisible(chromedp.CSS(".hits")))
	b.shows("begin with Patchbay")

	log.do(chromedp.WaitVisible(chromedp.CSS("[data-live] tbody tr .pill.ok")))

	b.signOut()
}
