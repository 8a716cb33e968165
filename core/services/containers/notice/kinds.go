package notice

import (
	"context"
	"slices"

	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/news"
)

// Kind is a kind of notification. In the pages its name has the key containers.notify.kind.NAME, and its switch the keys
// containers.notify.event.SWITCH and containers.notify.event.SWITCH.hint.
type Kind struct {
	// Name is what messages have, and Schema names the schema of their payload.
	Name, Schema string
	// Event is what the settings call the switch, and Switch what forms and texts do. Both are "" for a kind that people cannot switch off.
	Event, Switch string
	// announce tells people of a job that has ended, or says why it does not. It is nil for a kind that no job makes.
	announce func(n *Notices, ctx context.Context, job *queue.Job) (why string, err error)
	// sample writes a message about some services, of which there is at least one, as if somebody had asked for it.
	sample func(w news.Writer, by string, some []news.Service) (*notify.Message, error)
}

// Kinds are all kinds, in the order of the settings.
func Kinds() []Kind {
	return []Kind{
		updateKind,
		versionsKind,
		anomalyKind,
		trialKind,
	}
}

func init() {
	for _, k := range Kinds() {
		notify.RegisterKind(notify.Kind{Service: "containers", Name: k.Name})
	}
}

var trialKind = Kind{
	Name: news.NotificationTest, Schema: news.SchemaTest,
	sample: func(w news.Writer, _ string, _ []news.Service) (*notify.Message, error) {
		return w.Test(news.TestEvent{})
	},
}

// Sample writes a message about some services, of which there is at least one, as if a person had asked for it.
func (k Kind) Sample(w news.Writer, by string, some []news.Service) (*notify.Message, error) {
	return k.sample(w, by, some)
}

// findKind returns the kind with a name. It reports false if there is none.
func findKind(name string) (Kind, bool) {
	all := Kinds()
	i := slices.IndexFunc(all, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{}, false
	}
	return all[i], true
}
