package kit

import (
	"github.com/chromedp/chromedp"
)

// SignIn signs in with an API key.
func (b *Browser) SignIn(key string) {
	b.T.Helper()
	b.Open("/system/sign-in")
	b.Do(chromedp.SendKeys(chromedp.CSS("#key"), key))
	b.Press("main form[action='/system/sign-in'] .btn", ".side")
}
