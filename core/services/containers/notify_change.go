package containers

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/sdk/schema"

	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

// NotificationChange is a change of the settings. Members that are left out stay as they are; so do secrets that are empty
// or masked.
type NotificationChange struct {
	Events   *EventChange           `json:"events" required:"false" example:"{\"update\":true,\"newVersion\":true,\"ghcrWebhookAnomaly\":false}"`
	Chat     *ChatChange            `json:"chat" required:"false" example:"{\"enabled\":false,\"chatId\":\"-1001234567890\"}"`
	Email    *EmailChange           `json:"email" required:"false"`
	Webhook  *WebhookChange         `json:"webhook" required:"false"`
	WebPush  *PushChange            `json:"webPush" required:"false"`
	Channels map[string]OtherChange `json:"channels" required:"false" doc:"Further channels by the names of their instances."`
}

// EventChange switches events.
type EventChange struct {
	Update         *bool `json:"update" required:"false"`
	NewVersion     *bool `json:"newVersion" required:"false"`
	WebhookAnomaly *bool `json:"ghcrWebhookAnomaly" required:"false"`
}

// ChatChange changes the chat.
type ChatChange struct {
	Enabled  *bool   `json:"enabled" required:"false"`
	BotToken *string `json:"botToken" required:"false" maxLength:"2000" doc:"Empty or masked keeps the stored one."`
	ChatID   *string `json:"chatId" required:"false" maxLength:"2000"`
}

// EmailChange changes mail.
type EmailChange struct {
	Enabled *bool   `json:"enabled" required:"false"`
	SMTPURL *string `json:"smtpUrl" required:"false" maxLength:"2000" doc:"smtp:// or smtps://, with to and from in the query. Empty or masked keeps the stored one." example:"smtps://ops:password@mail.example.com/?to=ops@example.com&from=Patchbay <ops@example.com>"`
}

// WebhookChange changes the webhook.
type WebhookChange struct {
	Enabled *bool   `json:"enabled" required:"false"`
	URL     *string `json:"url" required:"false" maxLength:"2000"`
	Secret  *string `json:"secret" required:"false" maxLength:"2000" doc:"Signing secrets by Standard Webhooks, whsec_…, separated by white space. Empty or masked keeps the stored ones."`
}

// PushChange changes Web Push. Another key pair ends all subscriptions, since they are bound to it.
type PushChange struct {
	Enabled    *bool   `json:"enabled" required:"false"`
	PublicKey  *string `json:"vapidPublicKey" required:"false" maxLength:"200"`
	PrivateKey *string `json:"vapidPrivateKey" required:"false" maxLength:"200" doc:"Empty or masked keeps the stored one."`
	Subject    *string `json:"vapidSubject" required:"false" maxLength:"2000" doc:"mailto:… or https://…; empty for the public base URL."`
}

// OtherChange switches a channel.
type OtherChange struct {
	Enabled *bool `json:"enabled" required:"false"`
}

// ChangeNotifications stores a change of the settings. A channel can be switched on only if it is complete.
func (s *Service) ChangeNotifications(ctx context.Context, c NotificationChange) error {
	// The channels are asked in between, which is no work for a transaction.
	unlock, err := s.applying.lock(ctx, settingNotify)
	if err != nil {
		return err
	}
	defer unlock()
	all, err := s.channels()
	if err != nil {
		return err
	}
	before, err := s.storedNotifications(ctx)
	if err != nil {
		return err
	}
	fixed, err := fixedFields(all)
	if err != nil {
		return err
	}
	set := before
	if err := s.merge(&set, c, all, fixed); err != nil {
		return err
	}
	for _, role := range sdk.Roles() {
		if ch := find(all, role); ch != nil && c.names(role) {
			set.Instances = with(set.Instances, role, ch.Ref)
		}
		if set.on(role) && (!before.on(role) || c.names(role)) {
			if err := s.complete(ctx, &set, all, role); err != nil {
				return err
			}
		}
	}
	return s.repo.tx(ctx, "change notifications", func(ctx context.Context, _ *gorm.DB) error {
		if set.WebPush.PublicKey != before.WebPush.PublicKey {
			if err := s.repo.clearSubscriptions(ctx); err != nil {
				return fmt.Errorf("delete the subscriptions of the former keys: %w", err)
			}
		}
		return s.repo.putSetting(ctx, settingNotify, set, s.now())
	})
}

// names tells whether a change is about a channel.
func (c *NotificationChange) names(role string) bool {
	switch role {
	case sdk.RoleChat:
		return c.Chat != nil
	case sdk.RoleEmail:
		return c.Email != nil
	case sdk.RoleWebhook:
		return c.Webhook != nil
	}
	return c.WebPush != nil
}

func put[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

// merge takes a change in, and seals its secrets.
func (s *Service) merge(set *storedNotifications, c NotificationChange, all []channel, fixed map[string]string) error {
	if e := c.Events; e != nil {
		put(&set.Events.Update, e.Update)
		put(&set.Events.NewVersion, e.NewVersion)
		put(&set.Events.WebhookAnomaly, e.WebhookAnomaly)
	}
	for name, other := range c.Channels {
		if ch := find(all, name); ch == nil || ch.role != "" {
			return invalid("channels."+name, "The configuration has no such channel.")
		}
		if other.Enabled != nil {
			set.Channels = with(set.Channels, name, *other.Enabled)
		}
	}
	var fields []field
	if in := c.Chat; in != nil {
		put(&set.Chat.Enabled, in.Enabled)
		fields = append(fields, field{"chat.botToken", in.BotToken, &set.Chat.BotToken, "botToken"}, field{"chat.chatId", in.ChatID, &set.Chat.ChatID, ""})
	}
	if in := c.Email; in != nil {
		put(&set.Email.Enabled, in.Enabled)
		fields = append(fields, field{"email.smtpUrl", in.SMTPURL, &set.Email.SMTPURL, "smtpUrl"})
	}
	if in := c.Webhook; in != nil {
		put(&set.Webhook.Enabled, in.Enabled)
		fields = append(fields, field{"webhook.url", in.URL, &set.Webhook.URL, "url"}, field{"webhook.secret", in.Secret, &set.Webhook.Secret, "secret"})
	}
	if in := c.WebPush; in != nil {
		put(&set.WebPush.Enabled, in.Enabled)
		fields = append(fields, field{"webPush.vapidPublicKey", in.PublicKey, &set.WebPush.PublicKey, ""},
			field{"webPush.vapidPrivateKey", in.PrivateKey, &set.WebPush.PrivateKey, "vapidPrivateKey"}, field{"webPush.vapidSubject", in.Subject, &set.WebPush.Subject, ""})
	}
	for _, f := range fields {
		if value, ok := fixed[f.name]; ok {
			if err := f.same(value); err != nil {
				return err
			}
			continue
		}
		if err := s.takeField(f); err != nil {
			return err
		}
	}
	return nil
}

// field is one text of a change; column is set for a secret.
type field struct {
	name   string
	given  *string
	to     *string
	column string
}

// same refuses another value for what the configuration sets. What was shown may come back.
func (f field) same(value string) error {
	if f.given == nil || keeps(*f.given) || f.column == "" && strings.TrimSpace(*f.given) == value || f.column != "" && value != "" && *f.given == value {
		return nil
	}
	return invalid(f.name, "The value is set in the configuration and cannot be changed here.")
}

// fixedFields are the members that the configuration sets, with their values where those are no secrets.
func fixedFields(all []channel) (map[string]string, error) {
	out := map[string]string{}
	for _, c := range all {
		if c.role == "" {
			continue
		}
		has, err := c.Configured()
		if err != nil {
			return nil, fmt.Errorf("read the configuration of %s: %w", c.Ref, err)
		}
		for _, a := range attributes[c.role] {
			if value, ok := has[a.attribute]; ok {
				out[c.role+"."+a.member] = value
			}
		}
	}
	return out, nil
}

func (s *Service) takeField(f field) error {
	if f.given == nil || f.column != "" && f.column != "smtpUrl" && keeps(*f.given) {
		return nil
	}
	text := strings.TrimSpace(*f.given)
	if f.column == "smtpUrl" && keeps(text) {
		var err error
		if text, err = s.unmask(f, text); err != nil || text == "" {
			return err
		}
	}
	switch {
	case len(text) > maxNotifyText:
		return invalid(f.name, "The value must have at most %d bytes.", maxNotifyText)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return invalid(f.name, "The value has characters that cannot stand there.")
	}
	if f.column != "" {
		text = s.sealNotify(text, f.column)
	}
	*f.to = text
	return nil
}

// unmask is an address with the password that is stored, for one in which that is masked; empty if nothing else differs. The
// password goes to no other server, and stands for no other user.
func (s *Service) unmask(f field, text string) (string, error) {
	stored, err := s.openNotify(*f.to, f.column)
	if !strings.Contains(text, "://") || err == nil && text == maskURL(stored.Reveal()) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	was, err := url.Parse(stored.Reveal())
	next, err2 := url.Parse(text)
	if err != nil || err2 != nil || next.Scheme != was.Scheme || next.Host != was.Host || was.User == nil || next.User.String() != url.UserPassword(was.User.Username(), masked).String() {
		return "", invalid(f.name, "The password is not shown, and only kept for the same server and user: enter it again.").With("reason", "password_masked")
	}
	next.User = was.User
	return next.String(), nil
}

// with is a copy of m with one more member.
func with[T any](m map[string]T, name string, v T) map[string]T {
	out := map[string]T{name: v}
	for k, v := range m {
		if k != name {
			out[k] = v
		}
	}
	return out
}

// complete tells what a channel lacks before it can be switched on. The channel itself checks its recipient.
func (s *Service) complete(ctx context.Context, set *storedNotifications, all []channel, role string) error {
	c := find(all, role)
	if c == nil {
		return invalid(role+".enabled", "No instance for the channel %s stands in the configuration: name one under notify.", role)
	}
	if role == sdk.RoleWebPush {
		return s.completePush(c, set)
	}
	to, err := s.targetOf(ctx, *set, notify.Recipient{Channel: c.Ref, Name: role})
	if err != nil {
		return err
	}
	ds, err := c.ValidateTarget(ctx, to)
	if err != nil {
		return err
	}
	if ds.HasErrors() {
		return refusal(role, ds)
	}
	return nil
}

// refusal turns what a channel says of a recipient into an error about the setting.
func refusal(role string, ds schema.Diagnostics) error {
	for _, d := range ds {
		if d.Severity != schema.Error {
			continue
		}
		field, words := role+"."+attributes[role][0].member, d.Summary
		if d.Path.String() != "" {
			field = role + "." + d.Path.String()
		}
		if d.Detail != "" {
			words += ": " + d.Detail
		}
		return fault.New(fault.InvalidArgument, "%s: %s.", field, strings.TrimSuffix(words, ".")).With("field", field)
	}
	return nil
}
