package api

import (
	"context"
	"encoding/json"

	"github.com/gin-gonic/gin"
	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/services/containers/webhook"
)

// The names of the events of the inbox.
const (
	eventDelivery       = "host_packages_delivery_event"
	eventDeliveryFailed = "host_packages_delivery_events_error"
)

// handleDeliveryEvents sends what happens in the inbox: what is stored after the client's cursor, then what comes. Without
// a cursor it begins with what comes.
func (h *handlers) handleDeliveryEvents(c *gin.Context) error {
	ctx := c.Request.Context()
	after, err := httpd.LastEventID(c)
	if err != nil {
		return err
	}
	sub := h.cfg.live.Subscribe(webhook.TopicDeliveries)
	defer sub.Close()
	last, err := h.cfg.inbox.LastEventID(ctx)
	if err != nil {
		return err
	}
	in := &inboxReader{inbox: h.cfg.inbox, log: h.cfg.log, sent: last}
	if cursorGiven(c) {
		in.sent = min(last, after)
	}
	return followEvents(c, in.nextEvents(ctx, event.Event{}), sub.Events(), func(ev event.Event) []outEvent { return in.nextEvents(ctx, ev) })
}

// inboxReader knows how far a stream is.
type inboxReader struct {
	inbox inbox
	log   hclog.Logger
	sent  int64
}

// nextEvents returns the events that follow from ev. If ev is not the next in order, because some were lost, they are read
// from the store.
func (in *inboxReader) nextEvents(ctx context.Context, ev event.Event) (out []outEvent) {
	stored, ok := ev.Data.(webhook.DeliveryEvent)
	switch {
	case ok && stored.ID <= in.sent:
		return nil
	case ok && stored.ID == in.sent+1:
		in.sent = stored.ID
		return []outEvent{in.newOutEvent(stored)}
	}
	for {
		rows, err := in.inbox.EventsAfter(ctx, in.sent)
		if err != nil {
			in.log.Warn("cannot read delivery events", "error", err)
			failed := map[string]string{"type": eventDeliveryFailed, "error": "The events cannot be read."}
			return append(out, outEvent{name: eventDeliveryFailed, data: failed, last: true})
		}
		for _, row := range rows {
			in.sent = row.ID
			out = append(out, in.newOutEvent(row))
		}
		if len(rows) < webhook.DeliverySlice {
			return out
		}
	}
}

func (in *inboxReader) newOutEvent(ev webhook.DeliveryEvent) outEvent {
	return outEvent{id: ev.ID, name: eventDelivery, data: json.RawMessage(ev.Data)}
}
