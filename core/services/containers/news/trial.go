package news

import (
	"github.com/patchbay-dev/patchbay/core/notify"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

// Test writes out a notification that shows whether notifications arrive.
func (w Writer) Test(e TestEvent) (*notify.Message, error) {
	text := firstText(cleanExcerpt(e.Message), w.fillText("test.message"))
	channel, settings := cleanField(e.Channel), w.pageURL("settings")
	m := notify.Message{
		Kind: NotificationTest, Schema: SchemaTest, Severity: sdk.Info,
		Title:   inlineText(w.fillText("test.title")),
		Summary: document{{head: plainLine(oneLine(text, maxExcerpt))}}.renderAll(),
		Links:   w.absoluteLinks(sdk.Link{Label: w.fillText("open.settings"), URL: settings}),
		Card:    w.testCard(channel),
	}
	if d := w.pathHint(); len(d) > 0 {
		m.Detail = append(d, block{head: w.linkedLine(w.fillText("open.settings"), settings)}).renderAll()
	}
	return w.finishMessage(m, payload{URL: settings, Debug: debugPart{RequestedChannel: &channel, RawMessage: &text}})
}
