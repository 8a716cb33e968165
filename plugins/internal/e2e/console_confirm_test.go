package e2e

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// TestConsoleConfirms: what cannot be undone is asked for in the page, with and without JavaScript, and only goes on with its name.
func TestConsoleConfirms(t *testing.T) {
	t.Parallel()
	c := startConsole(t)
	b := browse(t, c)
	source := axe(t)
	b.setUp(c)
	for _, script := range []bool{true, false} {
		id := c.token()[len("th-"):][:4]
		b.open("/search/tokens/" + id)
		asked := ".asked"
		if script {
			b.do(chromedp.WaitReady(chromedp.CSS("html.js")))
			asked = "#ask[open]"
		} else {
			if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled,
				emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
				t.Fatal(err)
			}
			b.open("/search/tokens/" + id)
		}
		const field = "details.ask:has([name=confirm_name]) > summary"
		b.press(field, asked+" [name=confirm_name]")
		if script {
			b.inspect(source, "the question")
			b.press("#ask [data-close]", field)
			b.press(field, "#ask[open]")
		}
		b.do(chromedp.SendKeys(chromedp.CSS(asked+" [name=confirm_name]"), "another"),
			chromedp.Click(chromedp.CSS(asked+" form[action$='/delete'] .btn.p")))
		b.do(chromedp.WaitVisible(chromedp.CSS(asked + " [name=confirm_name]:invalid")))
		b.open("/search/tokens/" + id)
		b.press(field, asked+" [name=confirm_name]")
		b.do(chromedp.SendKeys(chromedp.CSS(asked+" [name=confirm_name]"), id))
		b.press(asked+" form[action$='/delete'] .btn.p", ".toast.ok")
	}
}
