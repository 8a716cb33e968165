package deploycheck

import (
	"context"
	"errors"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/notify"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

// channelChecks are the parts of the deploy check about the channels that have settings.
var channelChecks = []struct{ id, role, title string }{
	{"feature.notifications.chat", sdk.RoleChat, "Notifications by chat"},
	{"feature.notifications.email", sdk.RoleEmail, "Notifications by mail"},
	{"feature.notifications.webhook", sdk.RoleWebhook, "Notifications by webhook"},
	{"feature.notifications.web_push", sdk.RoleWebPush, "Notifications by Web Push"},
}

// checkChannel looks whether a channel that is switched on has what it needs, and what became of its last delivery.
func (r *Reports) checkChannel(ctx context.Context, role string) ReportCheck {
	const impact = "Nobody hears of updates and new versions by this channel."
	enabled, err := r.cfg.Channels.CheckRole(ctx, role)
	switch {
	case !enabled && err != nil:
		return failCheck("The settings of notifications cannot be read.", impact, "", "Look at the log of the core.")
	case !enabled:
		return skipCheck(naSwitch, "The channel is switched off.")
	case err != nil:
		why := "The channel cannot be asked."
		if f := (*fault.Error)(nil); errors.As(err, &f) {
			why = f.Message
		}
		return failCheck("The channel is switched on and cannot send.", impact, why,
			"Complete its settings on the page of notifications, or switch it off.")
	}
	last, err := r.cfg.Channels.LastDeliveries(ctx)
	if err != nil {
		return failCheck("The last deliveries cannot be read.", impact, "", "Look at the log of the core.")
	}
	d, sent := last[role]
	switch {
	case sent && d.State == string(notify.Failed):
		return failCheck("The last notification was not delivered.", impact, d.Error, "Send a test on the page of notifications.")
	case sent:
		return passCheck("The channel is complete.", "last delivery: "+d.State)
	}
	return passCheck("The channel is complete.", "nothing was sent yet")
}
