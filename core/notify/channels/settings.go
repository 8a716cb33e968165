package channels

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

// masked stands for a secret that is set.
const masked = "******"

// storedSettings are the settings as they are stored; secrets are sealed.
type storedSettings struct {
	// Events holds the switches of events by name. An event that it lacks is on.
	Events  map[string]bool `json:"events"`
	Chat    storedChat      `json:"chat"`
	Email   storedEmail     `json:"email"`
	Webhook storedWebhook   `json:"webhook"`
	WebPush storedPush      `json:"webPush"`
	// Instances are those that the settings of each role were made for.
	Instances map[string]string `json:"instances,omitempty"`
	// Channels are the switches of other channels, by name.
	Channels map[string]bool `json:"channels,omitempty"`
	// sealedAs is the table that the secrets are sealed for.
	sealedAs string
}

type storedChat struct {
	Enabled  bool   `json:"enabled"`
	BotToken string `json:"botToken,omitempty"`
	ChatID   string `json:"chatId,omitempty"`
}

type storedEmail struct {
	Enabled bool   `json:"enabled"`
	SMTPURL string `json:"smtpUrl,omitempty"`
}

type storedWebhook struct {
	Enabled bool `json:"enabled"`
	// URL is sealed as well: with many receivers whoever knows it may post.
	URL    string `json:"url,omitempty"`
	Secret string `json:"secret,omitempty"`
}

type storedPush struct {
	Enabled    bool   `json:"enabled"`
	PublicKey  string `json:"vapidPublicKey,omitempty"`
	PrivateKey string `json:"vapidPrivateKey,omitempty"`
	Subject    string `json:"vapidSubject,omitempty"`
}

// channelEnabled reports whether a channel is switched on. One that only the configuration knows is on until somebody
// switches it off.
func (set *storedSettings) channelEnabled(name string) bool {
	switch name {
	case sdk.RoleChat:
		return set.Chat.Enabled
	case sdk.RoleEmail:
		return set.Email.Enabled
	case sdk.RoleWebhook:
		return set.Webhook.Enabled
	case sdk.RoleWebPush:
		return set.WebPush.Enabled
	}
	enabled, ok := set.Channels[name]
	return enabled || !ok
}

// hasRole reports whether anybody has set anything for a role.
func (set *storedSettings) hasRole(role string) bool {
	if set.Instances[role] != "" {
		return true
	}
	switch role {
	case sdk.RoleChat:
		return set.Chat != storedChat{}
	case sdk.RoleEmail:
		return set.Email != storedEmail{}
	case sdk.RoleWebhook:
		return set.Webhook != storedWebhook{}
	}
	return set.WebPush != storedPush{}
}

// eventEnabled reports whether messages of a kind are sent. Those that are none of the events always are.
func (set *storedSettings) eventEnabled(events []Event, kind string) bool {
	for _, e := range events {
		if enabled, ok := set.Events[e.Name]; e.Kind == kind && ok {
			return enabled
		}
	}
	return true
}

// EventSwitches say which events are told, by name.
type EventSwitches map[string]bool

// NotificationSettings are the settings as the API shows them.
type NotificationSettings struct {
	Events   EventSwitches            `json:"events" doc:"Which events are told at all, by name."`
	Chat     ChatSettings             `json:"chat"`
	Email    EmailSettings            `json:"email"`
	Webhook  WebhookSettings          `json:"webhook"`
	WebPush  PushSettings             `json:"webPush"`
	Channels map[string]OtherSettings `json:"channels" doc:"Further channels of the configuration, by the names of their instances."`
	Locale   string                   `json:"locale" enum:"zh,en" doc:"The language of the texts; it is set in the configuration."`
}

// ChannelState is what the settings of every channel have in common.
type ChannelState struct {
	Enabled   bool     `json:"enabled"`
	Available bool     `json:"available" doc:"Whether the configuration names an instance for it."`
	Instance  string   `json:"instance,omitempty" example:"notify.chat"`
	ReadOnly  []string `json:"readOnly" doc:"The members that the configuration sets. What is stored for them does not count."`
}

// ChatSettings are those of the chat.
type ChatSettings struct {
	ChannelState
	BotTokenConfigured bool   `json:"botTokenConfigured" doc:"The token itself is never returned."`
	ChatID             string `json:"chatId" example:"-1001234567890"`
}

// EmailSettings are those of mail.
type EmailSettings struct {
	ChannelState
	SMTPURL           string `json:"smtpUrl,omitempty" doc:"With the password masked. Left out while it is not set, or set in the configuration." example:"smtps://ops:******@smtp.example.com/?to=ops@example.com"`
	SMTPURLConfigured bool   `json:"smtpUrlConfigured"`
}

// WebhookSettings are those of the webhook.
type WebhookSettings struct {
	ChannelState
	URL              string `json:"url,omitempty" example:"https://hooks.example.com/patchbay"`
	SecretConfigured bool   `json:"secretConfigured" doc:"Whether posts are signed."`
}

// PushSettings are those of Web Push.
type PushSettings struct {
	ChannelState
	PublicKey     string `json:"vapidPublicKey,omitempty" doc:"What browsers subscribe with."`
	PrivateKey    string `json:"vapidPrivateKey,omitempty" doc:"Masked." example:"******"`
	Subject       string `json:"vapidSubject,omitempty" doc:"How a push service reaches the sender; if it is not set, the public base URL." example:"mailto:ops@example.com"`
	Subscriptions int    `json:"subscriptions" doc:"How many browsers have subscribed."`
}

// OtherSettings are those of a channel whose recipient stands in the configuration.
type OtherSettings struct {
	ChannelState
}

// Settings returns the settings. Secrets are masked.
func (m *Manager) Settings(ctx context.Context) (NotificationSettings, error) {
	var out NotificationSettings
	set, err := m.readSettings(ctx)
	if err != nil {
		return out, err
	}
	all, err := m.listChannels()
	if err != nil {
		return out, err
	}
	subs, err := m.readSubscriptions(ctx)
	if err != nil {
		return out, err
	}
	out = NotificationSettings{
		Events: EventSwitches{}, Locale: m.Locale(), Channels: map[string]OtherSettings{},
		Chat: ChatSettings{BotTokenConfigured: set.Chat.BotToken != "", ChatID: set.Chat.ChatID},
		Email: EmailSettings{SMTPURL: maskURL(m.revealForDisplay(set, set.Email.SMTPURL, "smtpUrl")),
			SMTPURLConfigured: set.Email.SMTPURL != ""},
		Webhook: WebhookSettings{URL: m.revealForDisplay(set, set.Webhook.URL, "url"), SecretConfigured: set.Webhook.Secret != ""},
		WebPush: PushSettings{PublicKey: set.WebPush.PublicKey, Subject: set.WebPush.Subject, Subscriptions: len(subs)},
	}
	for _, e := range m.declaredEvents() {
		out.Events[e.Name] = set.eventEnabled(m.declaredEvents(), e.Kind)
	}
	if set.WebPush.PrivateKey != "" {
		out.WebPush.PrivateKey = masked
	}
	return out, out.addConfigured(all, &set)
}

// addConfigured adds which channels there are, and what the configuration sets for them.
func (out *NotificationSettings) addConfigured(all []channel, set *storedSettings) error {
	for role, to := range map[string]*ChannelState{
		sdk.RoleChat: &out.Chat.ChannelState, sdk.RoleEmail: &out.Email.ChannelState, sdk.RoleWebhook: &out.Webhook.ChannelState,
		sdk.RoleWebPush: &out.WebPush.ChannelState,
	} {
		*to = ChannelState{Enabled: set.channelEnabled(role), ReadOnly: []string{}}
		c := findChannel(all, role)
		if c == nil {
			continue
		}
		to.Available, to.Instance = true, c.Ref
		has, err := c.Configured()
		if err != nil {
			return fmt.Errorf("read the configuration of %s: %w", c.Ref, err)
		}
		for _, a := range attributes[role] {
			if value, ok := has[a.attribute]; ok {
				to.ReadOnly = append(to.ReadOnly, a.member)
				out.showConfigured(role, a.member, value)
			}
		}
	}
	for _, c := range all {
		if c.role == "" {
			out.Channels[c.name] = OtherSettings{ChannelState{Enabled: set.channelEnabled(c.name), Available: true, Instance: c.Ref,
				ReadOnly: []string{}}}
		}
	}
	return nil
}

// showConfigured shows a member as the configuration has it. Secrets come without a value.
func (out *NotificationSettings) showConfigured(role, member, value string) {
	switch role + "." + member {
	case "chat.botToken":
		out.Chat.BotTokenConfigured = true
	case "chat.chatId":
		out.Chat.ChatID = value
	case "email.smtpUrl":
		out.Email.SMTPURL, out.Email.SMTPURLConfigured = "", true
	case "webhook.url":
		out.Webhook.URL = value
	case "webhook.secret":
		out.Webhook.SecretConfigured = true
	case "webPush.vapidPublicKey":
		out.WebPush.PublicKey = value
	case "webPush.vapidPrivateKey":
		out.WebPush.PrivateKey = masked
	case "webPush.vapidSubject":
		out.WebPush.Subject = value
	}
}

// maskURL returns a URL with its password masked. What cannot be read is masked whole.
func maskURL(raw string) string {
	if raw == "" {
		return ""
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return masked
	}
	if _, set := u.User.Password(); !set {
		return u.String()
	}
	const mark = "-masked-"
	u.User = url.UserPassword(u.User.Username(), mark)
	return strings.Replace(u.String(), ":"+mark+"@", ":"+masked+"@", 1)
}

// keepsStored reports whether a secret in a change stands for the one that is stored.
func keepsStored(given string) bool {
	return strings.Trim(strings.TrimSpace(given), "•*") == "" || strings.Contains(given, masked)
}

// maxSettingBytes bounds a text of the settings, in bytes.
const maxSettingBytes = 2000
