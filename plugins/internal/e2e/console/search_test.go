package console

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// openTab opens another tab of the same browser, with the same session.
func openTab(b *kit.Browser) *kit.Browser {
	b.T.Helper()
	ctx, stop := chromedp.NewContext(b.Ctx)
	b.T.Cleanup(stop)
	other := &kit.Browser{T: b.T, Ctx: ctx, Base: b.Base}
	other.Begin()
	return other
}

// TestConsoleSearch goes the way of a new operator: in by the set-up link, a passkey, out and in again, a token, a search in
// the playground, which arrives live in the log of requests.
func TestConsoleSearch(t *testing.T) {
	t.Parallel()
	c := startConsole(t)
	b := kit.Browse(t, c)
	b.Authenticator(true)
	// The passkey that was revoked is refused with it.
	b.Expect("401")
	b.SetUp(c)
	addPasskey(b, "Laptop")
	b.SignOut()
	b.Press("form[data-passkey=signin] button", ".side nav")

	b.Open("/search/tokens")
	b.Do(chromedp.Click(chromedp.CSS("[data-open]")), chromedp.SendKeys(chromedp.CSS("#note"), "First token"),
		chromedp.Click(chromedp.CSS("dialog form[method=post] .btn.p")))
	b.Shows("th-")

	log := openTab(b)
	log.Open("/search/requests")
	log.Do(chromedp.WaitVisible(chromedp.CSS(".live .on")))
	log.Shows("Live")

	b.Open("/search/playground?operation=search")
	b.Do(chromedp.SendKeys(chromedp.CSS("#in-query"), "how to begin"),
		chromedp.Click(chromedp.CSS("main form[action='/search/playground'] .btn.p")))
	b.Do(chromedp.WaitVisible(chromedp.CSS(".hits")))
	b.Shows("begin with Patchbay")

	log.Do(chromedp.WaitVisible(chromedp.CSS("[data-live] tbody tr .pill.ok")))

	b.SignOut()
}
