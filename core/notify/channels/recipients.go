package channels

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/notify"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// EventRecipients returns where a message of a kind goes at present: the channels that are switched on. If there are
// none, why says so.
func (m *Manager) EventRecipients(ctx context.Context, kind string) (to []notify.Recipient, why string, err error) {
	set, err := m.readSettings(ctx)
	if err != nil {
		return nil, "", err
	}
	if !set.eventEnabled(m.declaredEvents(), kind) {
		return nil, "the event is switched off", nil
	}
	if to, err = m.enabledRecipients(ctx, set); err != nil {
		return nil, "", err
	}
	if len(to) == 0 {
		return nil, "no channel is switched on", nil
	}
	return to, "", nil
}

func (m *Manager) enabledRecipients(ctx context.Context, set storedSettings) (to []notify.Recipient, err error) {
	all, err := m.listChannels()
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		if !set.channelEnabled(c.name) {
			continue
		}
		more, err := m.recipientsThrough(ctx, c)
		if err != nil {
			return nil, err
		}
		to = append(to, more...)
	}
	return to, nil
}

// AlertRecipients implements notify.Channels: it returns where an alert goes through the channels that a service names.
// A channel that somebody has switched off is left out; one without settings goes where its configuration says.
func (m *Manager) AlertRecipients(ctx context.Context, refs []string) (to []notify.Recipient, err error) {
	set, err := m.readSettings(ctx)
	if err != nil {
		return nil, err
	}
	all, err := m.listChannels()
	if err != nil {
		// A channel that does not answer keeps no alert from the others.
		m.cfg.Logger.Warn("cannot read channel roles, using the stored ones", "error", err)
		all = m.storedChannels(set)
	}
	for _, ref := range refs {
		i := slices.IndexFunc(all, func(c channel) bool { return c.Ref == ref })
		if i < 0 || all[i].role != "" && !set.hasRole(all[i].role) {
			to = append(to, notify.Recipient{Channel: ref, Name: unlistedName(all, ref)})
			continue
		}
		if !set.channelEnabled(all[i].name) {
			continue
		}
		more, err := m.recipientsThrough(ctx, all[i])
		if err != nil {
			return nil, err
		}
		to = append(to, more...)
	}
	return to, nil
}

// storedChannels returns the channels with the roles that they had when their settings were stored.
func (m *Manager) storedChannels(set storedSettings) (out []channel) {
	for _, c := range m.listed.Load().channels {
		next := channel{Channel: c}
		for role, ref := range set.Instances {
			if ref == c.Ref {
				next.role, next.name = role, role
			}
		}
		if next.role == "" {
			next.name = unlistedName(nil, c.Ref)
		}
		out = append(out, next)
	}
	return out
}

// unlistedName returns the name of a channel to which the settings do not apply: that of its instance, or its reference
// where the settings use that name for something else.
func unlistedName(all []channel, ref string) string {
	_, name, _ := strings.Cut(ref, ".")
	if attributes[name] != nil || findChannel(all, name) != nil {
		return ref
	}
	return name
}

// recipientsThrough returns the recipients of one channel: each subscription for web push. If there is none, it is one
// that cannot be reached, so that it is seen that nobody was.
func (m *Manager) recipientsThrough(ctx context.Context, c channel) (to []notify.Recipient, err error) {
	if c.role != sdk.RoleWebPush {
		return []notify.Recipient{{Channel: c.Ref, Name: c.name}}, nil
	}
	subs, err := m.readSubscriptions(ctx)
	if err != nil {
		return nil, err
	}
	for _, sub := range subs {
		to = append(to, notify.Recipient{Channel: c.Ref, Name: c.name, Key: sub.ID})
	}
	if len(to) == 0 {
		to = append(to, notify.Recipient{Channel: c.Ref, Name: c.name})
	}
	return to, nil
}

// Target implements notify.Channels: what the settings say goes with each call, and never into the store of messages.
func (m *Manager) Target(ctx context.Context, r notify.Recipient) (sdk.Target, error) {
	set, err := m.readSettings(ctx)
	if err != nil {
		return sdk.Target{}, err
	}
	// A second instance does not get the secrets of the first because that did not start.
	if made := set.Instances[r.Name]; made != "" && made != r.Channel && slices.Contains(m.listed.Load().declared, made) {
		return sdk.Target{}, notify.NoRecipient(fmt.Sprintf("the settings of the channel %s were made for %s, which is not the one that plays it now: save them again for %s", r.Name, made, r.Channel))
	}
	return m.openTarget(ctx, set, r)
}

func (m *Manager) openTarget(ctx context.Context, set storedSettings, r notify.Recipient) (sdk.Target, error) {
	switch r.Name {
	case sdk.RoleChat:
		secret, err := m.openSecret(set, set.Chat.BotToken, "botToken")
		return newTarget(sdk.ChatTarget{ChatID: set.Chat.ChatID}, secret, err)
	case sdk.RoleEmail:
		secret, err := m.openSecret(set, set.Email.SMTPURL, "smtpUrl")
		return newTarget(nil, secret, err)
	case sdk.RoleWebhook:
		secret, err := m.openSecret(set, set.Webhook.Secret, "secret")
		if err != nil {
			return sdk.Target{}, err
		}
		url, err := m.openSecret(set, set.Webhook.URL, "url")
		return newTarget(sdk.WebhookTarget{URL: url.Reveal()}, secret, err)
	case sdk.RoleWebPush:
		return m.pushTarget(ctx, set, r.Key)
	}
	return sdk.Target{}, nil
}

func newTarget(v any, secret schema.Secret, err error) (sdk.Target, error) {
	if err != nil {
		return sdk.Target{}, err
	}
	return sdk.NewTarget(v, secret)
}

// pushTarget returns the target of a subscription, with the keys that it was made for.
func (m *Manager) pushTarget(ctx context.Context, set storedSettings, id string) (sdk.Target, error) {
	if id == "" {
		return sdk.Target{}, notify.NoRecipient("no browser has subscribed")
	}
	sub, err := m.readSubscription(ctx, id)
	if err != nil {
		return sdk.Target{}, err
	}
	if sub == nil {
		return sdk.Target{}, notify.NoRecipient("the browser's subscription has ended")
	}
	out := sdk.PushTarget{Endpoint: sub.Endpoint, VAPIDPublicKey: set.WebPush.PublicKey, VAPIDSubject: m.vapidSubject(ctx, set)}
	for _, f := range []struct {
		from, column string
		to           *string
	}{{sub.P256dh, "p256dh", &out.Keys.P256dh}, {sub.Auth, "auth", &out.Keys.Auth}} {
		plain, err := m.cfg.Keyring.Open(f.from, sub.SealedAs, sub.ID, f.column)
		if err != nil {
			return sdk.Target{}, fault.Wrap(err, fault.Unprocessable,
				"The browser's subscription cannot be opened with the present master key: it must subscribe again.")
		}
		*f.to = string(plain)
	}
	secret, err := m.openSecret(set, set.WebPush.PrivateKey, "vapidPrivateKey")
	return newTarget(out, secret, err)
}

// CheckEnabled implements notify.Channels: it returns an error of notify.NoRecipient if the channel was switched off since
// the message was posted, or the event.
func (m *Manager) CheckEnabled(ctx context.Context, kind string, r notify.Recipient) error {
	set, err := m.readSettings(ctx)
	if err != nil {
		return err
	}
	switch {
	case !set.channelEnabled(r.Name) && (attributes[r.Name] == nil || set.hasRole(r.Name)):
		return notify.NoRecipient("the channel was switched off before it was sent")
	case !set.eventEnabled(m.declaredEvents(), kind):
		return notify.NoRecipient("the event was switched off before it was sent")
	}
	return nil
}

// RecipientGone implements notify.Channels: it forgets a browser whose subscription has ended. The caller has a
// transaction.
func (m *Manager) RecipientGone(ctx context.Context, r notify.Recipient) error {
	if r.Name != sdk.RoleWebPush || r.Key == "" {
		return nil
	}
	m.cfg.Logger.Info("push subscription expired, deleted", "subscription", r.Key)
	if _, err := m.deleteSubscriptions(ctx, "", r.Key); err != nil {
		return fmt.Errorf("delete the push subscription: %w", err)
	}
	return nil
}
