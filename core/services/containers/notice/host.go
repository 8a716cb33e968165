package notice

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/notify/channels"
	"github.com/patchbay-dev/patchbay/core/services/containers/news"
	"github.com/patchbay-dev/patchbay/core/store"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

// NotificationEvents implements channels.Host.
func (n *Notices) NotificationEvents() (out []channels.Event) {
	for _, k := range Kinds() {
		if k.Event != "" {
			out = append(out, channels.Event{Name: k.Event, Kind: k.Name})
		}
	}
	return out
}

// NotificationLocale implements channels.Host.
func (n *Notices) NotificationLocale() string { return n.cfg.Settings().Locale }

// PublicBaseURL implements channels.Host.
func (n *Notices) PublicBaseURL(ctx context.Context) string { return n.cfg.PublicBaseURL(ctx) }

// WriteTest implements channels.Host.
func (n *Notices) WriteTest(ctx context.Context, channel, text string) (*notify.Message, error) {
	return n.NewsWriter(ctx).Test(news.TestEvent{Channel: channel, Message: text})
}

// Wanted implements notify.Owner. A message about new versions is wanted as long as one of them is still a candidate.
func (n *Notices) Wanted(ctx context.Context, messageID string) (bool, error) {
	if err := n.DropOutdated(ctx); err != nil {
		return false, fmt.Errorf("end old notices: %w", err)
	}
	wanted, err := n.store.isCurrent(ctx, messageID)
	if err != nil {
		return false, fmt.Errorf("read the notices: %w", err)
	}
	return wanted, nil
}

// Ended implements notify.Owner.
func (n *Notices) Ended(ctx context.Context, d notify.Delivery) error {
	all, err := n.cfg.Sender.DeliveriesOf(ctx, d.MessageID)
	if err != nil {
		return err
	}
	return n.store.endNotices(ctx, d, all, store.Millis(n.cfg.Now()))
}

// PayloadFor implements notify.Owner.
func (n *Notices) PayloadFor(payload json.RawMessage, channel string) (json.RawMessage, error) {
	return news.ForChannel(payload, channel, channel == sdk.RoleWebPush)
}

// ShortenPayload implements notify.Owner.
func (n *Notices) ShortenPayload(payload json.RawMessage, max int64) (json.RawMessage, error) {
	return news.Shorten(payload, max)
}
