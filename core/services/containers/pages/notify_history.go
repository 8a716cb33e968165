package pages

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/notify/channels"
)

func (p notifyPages) readHistory(ctx context.Context, before string) (out historyView, err error) {
	out.Before = before
	out.Messages, err = p.service.Channels().History(ctx, before, messagesShown+1)
	if len(out.Messages) > messagesShown {
		out.Messages = out.Messages[:messagesShown]
		out.Next = out.Messages[messagesShown-1].ID
	}
	return out, err
}

// sum is how many deliveries of a channel are in the same state.
type sum struct {
	Channel, State string
	N              int
}

// sumDeliveries are the deliveries of a message by channel and state, in the order in which they were made.
func sumDeliveries(all []channels.MessageDelivery) (out []sum) {
next:
	for _, d := range all {
		for i := range out {
			if out[i].Channel == d.Channel && out[i].State == d.State {
				out[i].N++
				continue next
			}
		}
		out = append(out, sum{d.Channel, d.State, 1})
	}
	return out
}

// hasEnded reports whether all deliveries of a message have ended.
func hasEnded(m channels.SentMessage) bool {
	for _, d := range m.Deliveries {
		if d.State == "waiting" || d.State == "sending" {
			return false
		}
	}
	return true
}

// isUncertain reports whether one of them may have arrived or not.
func isUncertain(m channels.SentMessage) bool {
	for _, d := range m.Deliveries {
		if d.State == "unknown" {
			return true
		}
	}
	return false
}

// channelName is what people call a channel.
func channelName(v *ui.View, name string) string {
	return v.Word("containers.notify.channel."+name, name)
}

func kindName(v *ui.View, kind string) string { return v.Word("containers.notify.kind."+kind, kind) }

// olderURL is the address of the next page of the history.
func olderURL(p pages, h historyView) string {
	if h.Next == "" {
		return ""
	}
	return ui.Address(p.base+notifyPath, "before", h.Next) + "#history"
}
