package kit

import (
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// WithoutScript switches the scripts of pages off or on.
func (b *Browser) WithoutScript(off bool) {
	b.T.Helper()
	if _, err := chromedp.Call(b.Ctx, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: off}); err != nil {
		b.T.Fatal(err)
	}
}
