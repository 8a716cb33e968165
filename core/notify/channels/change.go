package channels

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/notify"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// NotificationChange is a change of the settings. Members that are left out stay as they are; so do secrets that are empty
// or masked.
type NotificationChange struct {
	Events   EventChange            `json:"events" required:"false" example:"{\"update\":true,\"newVersion\":true,\"ghcrWebhookAnomaly\":false}"`
	Chat     *ChatChange            `json:"chat" required:"false" example:"{\"enabled\":false,\"chatId\":\"-1001234567890\"}"`
	Email    *EmailChange           `json:"email" required:"false"`
	Webhook  *WebhookChange         `json:"webhook" required:"false"`
	WebPush  *PushChange            `json:"webPush" required:"false"`
	Channels map[string]OtherChange `json:"channels" required:"false" doc:"Further channels by the names of their instances."`
}

// EventChange switches events, by name.
type EventChange map[string]*bool

// ChatChange changes the chat.
type ChatChange struct {
	Enabled  *bool   `json:"enabled" required:"false"`
	BotToken *string `json:"botToken" required:"false" maxLength:"2000" doc:"Empty or masked keeps the stored one."`
	ChatID   *string `json:"chatId" required:"false" maxLength:"2000"`
}

// EmailChange changes mail.
type EmailChange struct {
	Enabled *bool   `json:"enabled" required:"false"`
	SMTPURL *string `json:"smtpUrl" required:"false" maxLength:"2000" doc:"smtp:// or smtps://, with to and from in the query. Empty or masked keeps the stored one." example:"smtps://ops:password@smtp.example.com/?to=ops@example.com&from=Patchbay <ops@example.com>"`
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

// Change stores a change of the settings. A channel can be switched on only if it is complete, and what is stored for one that is off is
// checked as well once it names a recipient.
func (m *Manager) Change(ctx context.Context, c NotificationChange) error {
	// The channels are asked in between, which is no work for a transaction.
	lock, err := m.cfg.Locks.Lock(ctx, "notify.channels")
	if err != nil {
		return err
	}
	defer lock.Release()
	ctx = lock.Hold(ctx)
	all, err := m.listChannels()
	if err != nil {
		return err
	}
	before, err := m.readSettings(ctx)
	if err != nil {
		return err
	}
	configured, err := configuredFields(all)
	if err != nil {
		return err
	}
	set := before
	if err := m.mergeChange(&set, c, all, configured); err != nil {
		return err
	}
	for _, role := range sdk.Roles() {
		if ch := findChannel(all, role); ch != nil && c.changesRole(role) {
			set.Instances = withMember(set.Instances, role, ch.Ref)
		}
		isOn := set.channelEnabled(role)
		if isOn && !before.channelEnabled(role) || c.changesRole(role) && (isOn || set.hasRecipient(role) && findChannel(all, role) != nil) {
			if err := m.checkComplete(ctx, &set, all, role); err != nil {
				return err
			}
		}
	}
	return m.writeSettings(ctx, set, set.WebPush.PublicKey != before.WebPush.PublicKey)
}

// hasRecipient reports whether all that names the recipient of a channel is set.
func (s *storedSettings) hasRecipient(role string) bool {
	switch role {
	case sdk.RoleChat:
		return s.Chat.BotToken != "" && s.Chat.ChatID != ""
	case sdk.RoleEmail:
		return s.Email.SMTPURL != ""
	case sdk.RoleWebhook:
		return s.Webhook.URL != ""
	}
	return false
}

// changesRole reports whether a change is about the channel that plays a role.
func (c *NotificationChange) changesRole(role string) bool {
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

// assign sets *to to *from unless from is nil.
func assign[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

// mergeChange puts a change into set, with its secrets sealed.
func (m *Manager) mergeChange(set *storedSettings, c NotificationChange, all []channel, configured map[string]string) error {
	for name, enabled := range c.Events {
		if enabled != nil && slices.ContainsFunc(m.declaredEvents(), func(e Event) bool { return e.Name == name }) {
			set.Events = withMember(set.Events, name, *enabled)
		}
	}
	for name, other := range c.Channels {
		if ch := findChannel(all, name); ch == nil || ch.role != "" {
			return invalid("channels."+name, "The configuration has no such channel.")
		}
		if other.Enabled != nil {
			set.Channels = withMember(set.Channels, name, *other.Enabled)
		}
	}
	var fields []field
	if in := c.Chat; in != nil {
		assign(&set.Chat.Enabled, in.Enabled)
		fields = append(fields, field{"chat.botToken", in.BotToken, &set.Chat.BotToken, "botToken"},
			field{"chat.chatId", in.ChatID, &set.Chat.ChatID, ""})
	}
	if in := c.Email; in != nil {
		assign(&set.Email.Enabled, in.Enabled)
		fields = append(fields, field{"email.smtpUrl", in.SMTPURL, &set.Email.SMTPURL, "smtpUrl"})
	}
	if in := c.Webhook; in != nil {
		assign(&set.Webhook.Enabled, in.Enabled)
		fields = append(fields, field{"webhook.url", in.URL, &set.Webhook.URL, "url"},
			field{"webhook.secret", in.Secret, &set.Webhook.Secret, "secret"})
	}
	if in := c.WebPush; in != nil {
		assign(&set.WebPush.Enabled, in.Enabled)
		fields = append(fields, field{"webPush.vapidPublicKey", in.PublicKey, &set.WebPush.PublicKey, ""},
			field{"webPush.vapidPrivateKey", in.PrivateKey, &set.WebPush.PrivateKey, "vapidPrivateKey"},
			field{"webPush.vapidSubject", in.Subject, &set.WebPush.Subject, ""})
	}
	for _, f := range fields {
		if value, ok := configured[f.name]; ok {
			if err := f.checkUnchanged(value); err != nil {
				return err
			}
			continue
		}
		if err := m.setField(set, f); err != nil {
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

// checkUnchanged refuses another value for what the configuration sets. What was shown may come back.
func (f field) checkUnchanged(value string) error {
	if f.given == nil || keepsStored(*f.given) || f.column == "" && strings.TrimSpace(*f.given) == value || f.column != "" && value != "" &&
		*f.given == value {
		return nil
	}
	return invalid(f.name, "The value is set in plugin.hcl: change it there.")
}

// configuredFields returns the members that the configuration sets, with their values where those are no secrets.
func configuredFields(all []channel) (map[string]string, error) {
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

// setField puts a given text into the settings.
func (m *Manager) setField(set *storedSettings, f field) error {
	if f.given == nil || f.column != "" && f.column != "smtpUrl" && keepsStored(*f.given) {
		return nil
	}
	text := strings.TrimSpace(*f.given)
	if f.column == "smtpUrl" && keepsStored(text) {
		var err error
		if text, err = m.restorePassword(set, f, text); err != nil || text == "" {
			return err
		}
	}
	switch {
	case len(text) > maxSettingBytes:
		return invalid(f.name, "The value must have at most %d bytes.", maxSettingBytes)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return invalid(f.name, "The value has characters that are not allowed here.")
	}
	if f.column != "" {
		text = m.sealSecret(set, text, f.column)
	}
	*f.to = text
	return nil
}

// restorePassword returns an address with the stored password in place of the mask, or "" if nothing else differs. The
// password goes to no other server, and stands for no other user.
func (m *Manager) restorePassword(set *storedSettings, f field, text string) (string, error) {
	stored, err := m.openSecret(*set, *f.to, f.column)
	if !strings.Contains(text, "://") || err == nil && text == maskURL(stored.Reveal()) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	was, err := url.Parse(stored.Reveal())
	next, err2 := url.Parse(text)
	if err != nil || err2 != nil || next.Scheme != was.Scheme || next.Host != was.Host || was.User == nil ||
		next.User.String() != url.UserPassword(was.User.Username(), masked).String() {
		return "", invalid(f.name, "Enter the password again: it is kept only for the same server and user.").With("reason",
			"password_masked")
	}
	next.User = was.User
	return next.String(), nil
}

// withMember returns a copy of m with one more member.
func withMember[T any](m map[string]T, name string, v T) map[string]T {
	out := map[string]T{name: v}
	for k, v := range m {
		if k != name {
			out[k] = v
		}
	}
	return out
}

// checkComplete returns what a channel lacks before it can be switched on. The channel itself checks its recipient.
func (m *Manager) checkComplete(ctx context.Context, set *storedSettings, all []channel, role string) error {
	c := findChannel(all, role)
	if c == nil {
		return invalid(role+".enabled", "No instance for the channel %s stands in the configuration: name one under notify.", role)
	}
	if role == sdk.RoleWebPush {
		return m.checkPushComplete(c, set)
	}
	to, err := m.openTarget(ctx, *set, notify.Recipient{Channel: c.Ref, Name: role})
	if err != nil {
		return err
	}
	ds, err := c.ValidateTarget(ctx, to)
	if err != nil {
		return err
	}
	if ds.HasErrors() {
		return refusalError(role, ds)
	}
	return nil
}

// refusalError returns what a channel says of a recipient as an error about the setting.
func refusalError(role string, ds schema.Diagnostics) error {
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
