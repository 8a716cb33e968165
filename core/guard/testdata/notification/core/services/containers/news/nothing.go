package news

import (
	"github.com/patchbay-dev/patchbay/core/notify"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

// The name of the kind, and the schema of its payload.
const (
	NothingHappened = "nothing_happened"
	SchemaNothing   = "svc.notification.nothing.v2"
)

// NothingEvent is a day on which nothing happened.
type NothingEvent struct{ Day string }

// NothingHappened writes out that nothing happened.
func (w Writer) NothingHappened(e NothingEvent) (*notify.Message, error) {
	return w.finishMessage(notify.Message{
		Kind: NothingHappened, Schema: SchemaNothing, Severity: sdk.Info, Title: inlineText("Nothing happened"),
		Summary: document{{head: plainLine(cleanField(e.Day))}}.renderAll(), Card: w.testCard(""),
	}, payload{})
}
