package news

import (
	"github.com/patchbay-dev/patchbay/core/notify"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

// Test writes out a notification that shows whether notifications arrive.
func (w Writer) Test(e TestEvent) (*notify.Message, error) {
	text := firstOf(excerpt(e.Message), w.word("test.message"))
	channel, settings := field(e.Channel), w.settingsURL()
	m := notify.Message{
		Kind: NotificationTest, Schema: SchemaTest, Severity: sdk.Info,
		Title:   inline(w.word("test.title")),
		Summary: document{{head: words(oneLine(text, maxExcerpt))}}.text(),
		Links:   w.links(sdk.Link{Label: w.word("open.settings"), URL: settings}),
		Card:    w.testCard(channel),
	}
	if d := w.hint(); len(d) > 0 {
		m.Detail = append(d, block{head: w.linked(w.word("open.settings"), settings)}).text()
	}
	return w.message(m, payload{URL: settings, Debug: debugPart{RequestedChannel: &channel, RawMessage: &text}})
}
