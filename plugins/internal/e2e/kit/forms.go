package kit

import (
	"fmt"

	"github.com/chromedp/chromedp"
)

// FillIn puts a text in place of what stands in a field, or chooses an option.
func (b *Browser) FillIn(selector, text string) {
	b.T.Helper()
	b.Do(chromedp.WaitVisible(chromedp.CSS(selector)))
	if _, err := Evaluate[string](b, fmt.Sprintf(`document.querySelector(%q).value = %q`, selector, text)); err != nil {
		b.T.Fatalf("%v, at %s", err, b.Where())
	}
}

// Submit presses a button, and waits for what follows on the page that answers: the page before may show the same.
func (b *Browser) Submit(button, then string) {
	b.T.Helper()
	b.Do(chromedp.WaitVisible(chromedp.CSS(button)))
	b.Mark()
	b.pressUntil(button, then, "window.untouched === undefined")
}

// SendForm opens a page, fills fields in, pairs of a selector and a text, sends a form by its button and waits for what follows.
func (b *Browser) SendForm(path, button, then string, fields ...string) {
	b.T.Helper()
	b.Open(path)
	for i := 0; i+1 < len(fields); i += 2 {
		b.FillIn(fields[i], fields[i+1])
	}
	b.Submit(button, then)
}

// AnswerBelow opens the question below a button, without a script, says yes and waits for what follows.
func (b *Browser) AnswerBelow(path, action, then string) {
	b.T.Helper()
	b.Open(path)
	details := fmt.Sprintf("details.ask:has(form[action$='%s'])", action)
	b.Press(details+" > summary", details+" .asked form button")
	b.Submit(details+" .asked form button", then)
}
