package console

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// TestConsoleConfirms: what cannot be undone is asked for in the page, with and without JavaScript, and only goes on with its name.
func TestConsoleConfirms(t *testing.T) {
	t.Parallel()
	c := startConsole(t)
	b := kit.Browse(t, c)
	source := kit.ReadAxe(t)
	b.SetUp(c)
	for _, script := range []bool{true, false} {
		id := c.Token()[len("th-"):][:4]
		b.Open("/search/tokens/" + id)
		asked := ".asked"
		if script {
			b.Do(chromedp.WaitReady(chromedp.CSS("html.js")))
			asked = "#ask[open]"
		} else {
			if _, err := chromedp.Call(b.Ctx, emulation.SetScriptExecutionDisabled,
				emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
				t.Fatal(err)
			}
			b.Open("/search/tokens/" + id)
		}
		const field = "details.ask:has([name=confirm_name]) > summary"
		b.Press(field, asked+" [name=confirm_name]")
		if script {
			b.Inspect(source, "the question")
			b.Press("#ask [data-close]", field)
			b.Press(field, "#ask[open]")
		}
		b.Do(chromedp.SendKeys(chromedp.CSS(asked+" [name=confirm_name]"), "another"),
			chromedp.Click(chromedp.CSS(asked+" form[action$='/delete'] .btn.p")))
		b.Do(chromedp.WaitVisible(chromedp.CSS(asked + " [name=confirm_name]:invalid")))
		b.Open("/search/tokens/" + id)
		b.Press(field, asked+" [name=confirm_name]")
		b.Do(chromedp.SendKeys(chromedp.CSS(asked+" [name=confirm_name]"), id))
		b.Press(asked+" form[action$='/delete'] .btn.p", ".toast.ok")
	}
}
