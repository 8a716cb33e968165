package kit

import (
	"github.com/chromedp/chromedp"
)

// SetUp makes the first administrator by the printed link.
func (b *Browser) SetUp(c *Core) {
	b.T.Helper()
	b.Open(c.SetupPath())
	b.Do(chromedp.SendKeys(chromedp.CSS("#email"), "ada@example.com"), chromedp.SendKeys(chromedp.CSS("#name"), "Ada Lovelace"))
	b.Press("main form .btn.p", "#passkeys")
	b.Shows("Welcome. Add a passkey now")
}

// SignOut signs out by the menu of a wide window.
func (b *Browser) SignOut() {
	b.T.Helper()
	b.Press(".side .wide .who button", "input#key")
	b.Shows("You are signed out.")
}
