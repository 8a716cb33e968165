package containers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/sdk/schema"

	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

// Channel is an instance that the settings name for notifications.
type Channel struct {
	// Ref is its reference, such as notify.ops.
	Ref string
	client.Notifier
}

// channel is one of them with its place in the settings.
type channel struct {
	Channel
	// name is the role that it plays, else the instance's name.
	name string
	// role is empty for a channel that has its recipient in the configuration.
	role string
}

// attribute is a setting of a role, and the name that it has in the configuration of an instance.
type attribute struct{ member, attribute string }

// attributes are the settings of the roles. The first of each is the secret.
var attributes = map[string][]attribute{
	sdk.RoleChat:    {{"botToken", "bot_token"}, {"chatId", "chat_id"}},
	sdk.RoleEmail:   {{"smtpUrl", "smtp_url"}},
	sdk.RoleWebhook: {{"secret", "secrets"}, {"url", "url"}},
	sdk.RoleWebPush: {{"vapidPrivateKey", "vapid_private_key"}, {"vapidPublicKey", "vapid_public_key"}, {"vapidSubject", "vapid_subject"}},
}

// channels are the channels in the order of the settings. The first that can play a role plays it; others are known by
// their instance's name.
func (s *Service) channels() ([]channel, error) {
	var out []channel
	taken := map[string]bool{}
	for _, c := range s.state.Load().providers.Notify {
		about, err := c.Describe()
		if err != nil {
			return nil, fmt.Errorf("ask the channel %s what it can do: %w", c.Ref, err)
		}
		next := channel{Channel: c, role: about.Role}
		if next.role == "" || taken[next.role] || attributes[next.role] == nil {
			next.role = ""
			_, next.name, _ = strings.Cut(c.Ref, ".")
			if attributes[next.name] != nil || taken[next.name] {
				next.name = c.Ref
			}
		} else {
			next.name = next.role
		}
		taken[next.name] = true
		out = append(out, next)
	}
	return out, nil
}

// find is the channel with a name; nil without one.
func find(all []channel, name string) *channel {
	i := slices.IndexFunc(all, func(c channel) bool { return c.name == name })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// recipients are where notifications go at present.
func (s *Service) recipients(ctx context.Context, set storedNotifications) (to []notify.Recipient, err error) {
	all, err := s.channels()
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		if !set.on(c.name) {
			continue
		}
		more, err := s.recipientsOf(ctx, c)
		if err != nil {
			return nil, err
		}
		to = append(to, more...)
	}
	return to, nil
}

// recipientsOf are those of one channel: each subscription for web push. Without any there is one that nobody answers for, so
// that it is seen that nobody was reached.
func (s *Service) recipientsOf(ctx context.Context, c channel) (to []notify.Recipient, err error) {
	if c.role != sdk.RoleWebPush {
		return []notify.Recipient{{Channel: c.Ref, Name: c.name}}, nil
	}
	subs, err := s.repo.subscriptions(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the push subscriptions: %w", err)
	}
	for _, sub := range subs {
		to = append(to, notify.Recipient{Channel: c.Ref, Name: c.name, Key: sub.ID})
	}
	if len(to) == 0 {
		to = append(to, notify.Recipient{Channel: c.Ref, Name: c.name})
	}
	return to, nil
}

// Target implements notify.Owner: what the settings say goes with each call, and never into the store of messages.
func (s *Service) Target(ctx context.Context, r notify.Recipient) (sdk.Target, error) {
	set, err := s.storedNotifications(ctx)
	if err != nil {
		return sdk.Target{}, err
	}
	// A second instance does not get the secrets of the first because that did not start.
	if made := set.Instances[r.Name]; made != "" && made != r.Channel && slices.Contains(s.settings().Notify, made) {
		return sdk.Target{}, notify.NoRecipient(fmt.Sprintf("the settings of the channel %s were made for %s, which is not the one that plays it now: save them again for %s", r.Name, made, r.Channel))
	}
	return s.targetOf(ctx, set, r)
}

func (s *Service) targetOf(ctx context.Context, set storedNotifications, r notify.Recipient) (sdk.Target, error) {
	switch r.Name {
	case sdk.RoleChat:
		secret, err := s.openNotify(set.Chat.BotToken, "botToken")
		return target(sdk.ChatTarget{ChatID: set.Chat.ChatID}, secret, err)
	case sdk.RoleEmail:
		secret, err := s.openNotify(set.Email.SMTPURL, "smtpUrl")
		return target(nil, secret, err)
	case sdk.RoleWebhook:
		secret, err := s.openNotify(set.Webhook.Secret, "secret")
		if err != nil {
			return sdk.Target{}, err
		}
		url, err := s.openNotify(set.Webhook.URL, "url")
		return target(sdk.WebhookTarget{URL: url.Reveal()}, secret, err)
	case sdk.RoleWebPush:
		return s.pushTarget(ctx, set, r.Key)
	}
	return sdk.Target{}, nil
}

func target(v any, secret schema.Secret, err error) (sdk.Target, error) {
	if err != nil {
		return sdk.Target{}, err
	}
	return sdk.NewTarget(v, secret)
}

// pushTarget is a subscription with the keys that it was made for.
func (s *Service) pushTarget(ctx context.Context, set storedNotifications, id string) (sdk.Target, error) {
	if id == "" {
		return sdk.Target{}, notify.NoRecipient("no browser has subscribed")
	}
	sub, err := s.repo.subscription(ctx, id)
	if err != nil {
		return sdk.Target{}, fmt.Errorf("read the push subscription: %w", err)
	}
	if sub == nil {
		return sdk.Target{}, notify.NoRecipient("the browser's subscription has ended")
	}
	out := sdk.PushTarget{Endpoint: sub.Endpoint, VAPIDPublicKey: set.WebPush.PublicKey, VAPIDSubject: s.vapidSubject(ctx, set)}
	for _, f := range []struct {
		from, column string
		to           *string
	}{{sub.P256dh, "p256dh", &out.Keys.P256dh}, {sub.Auth, "auth", &out.Keys.Auth}} {
		plain, err := s.cfg.Keyring.Open(f.from, "containers_push_subscriptions", sub.ID, f.column)
		if err != nil {
			return sdk.Target{}, fault.Wrap(err, fault.Unprocessable, "The browser's subscription cannot be opened with the present master key: it must subscribe again.")
		}
		*f.to = string(plain)
	}
	secret, err := s.openNotify(set.WebPush.PrivateKey, "vapidPrivateKey")
	return target(out, secret, err)
}

// Wanted implements notify.Owner. Nothing more goes to a channel that was switched off meanwhile, or of such an event. News of
// new versions are wanted as long as one of the versions is still a candidate.
func (s *Service) Wanted(ctx context.Context, messageID, kind string, r notify.Recipient) (bool, error) {
	set, err := s.storedNotifications(ctx)
	if err != nil {
		return false, err
	}
	switch {
	case !set.on(r.Name):
		return false, notify.NoRecipient("the channel was switched off before it was sent")
	case !set.Events.on(kind):
		return false, notify.NoRecipient("the event was switched off before it was sent")
	}
	if err := s.repo.supersede(ctx, s.now()); err != nil {
		return false, fmt.Errorf("end old notices: %w", err)
	}
	wanted, err := s.repo.current(ctx, messageID)
	if err != nil {
		return false, fmt.Errorf("read the notices: %w", err)
	}
	return wanted, nil
}

// Ended implements notify.Owner.
func (s *Service) Ended(ctx context.Context, d notify.Delivery, gone bool) error {
	if gone && d.Recipient.Name == sdk.RoleWebPush && d.Recipient.Key != "" {
		s.log.Info("a push subscription has ended and is deleted", "subscription", d.Recipient.Key)
		if err := s.repo.deleteSubscription(ctx, d.Recipient.Key); err != nil {
			return fmt.Errorf("delete the push subscription: %w", err)
		}
	}
	all, err := s.cfg.Sender.DeliveriesOf(ctx, d.MessageID)
	if err != nil {
		return err
	}
	return s.repo.noticeEnded(ctx, d, all, s.now())
}
