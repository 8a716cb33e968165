package containers

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/notify/kinds"
	"github.com/patchbay-dev/patchbay/sdk/schema"

	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

const (
	// ServiceName is what the core knows the service by.
	ServiceName = "containers"
	// settingNotify is the name of the settings of notifications.
	settingNotify = "notifications"
)

// EventSwitches say which events are told at all.
type EventSwitches struct {
	Update         bool `json:"update" doc:"An update has ended."`
	NewVersion     bool `json:"newVersion" doc:"A check that nobody asked for by hand has found new versions."`
	WebhookAnomaly bool `json:"ghcrWebhookAnomaly" doc:"The scheduled audit has found package webhooks that are not in order."`
}

// on tells whether a kind of event is told. Tests always are.
func (e EventSwitches) on(kind string) bool {
	switch kind {
	case kinds.JobFinished:
		return e.Update
	case kinds.NewVersionDiscovered:
		return e.NewVersion
	case kinds.WebhookAnomaly:
		return e.WebhookAnomaly
	}
	return true
}

// storedNotifications are the settings as they are stored; secrets are sealed.
type storedNotifications struct {
	Events  EventSwitches `json:"events"`
	Chat    storedChat    `json:"chat"`
	Email   storedEmail   `json:"email"`
	Webhook storedWebhook `json:"webhook"`
	WebPush storedPush    `json:"webPush"`
	// Instances are those that the settings of each role were made for.
	Instances map[string]string `json:"instances,omitempty"`
	// Channels are the switches of other channels, by name.
	Channels map[string]bool `json:"channels,omitempty"`
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

// on tells whether a channel is switched on. One that only the configuration knows is, until somebody switches it off.
func (set *storedNotifications) on(name string) bool {
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
	on, said := set.Channels[name]
	return on || !said
}

func (s *Service) storedNotifications(ctx context.Context) (storedNotifications, error) {
	out := storedNotifications{Events: EventSwitches{Update: true, NewVersion: true, WebhookAnomaly: true}}
	if _, err := s.repo.setting(ctx, settingNotify, &out); err != nil {
		return out, fmt.Errorf("read the settings of notifications: %w", err)
	}
	return out, nil
}

func (s *Service) openNotify(sealed, column string) (schema.Secret, error) {
	if sealed == "" {
		return "", nil
	}
	plain, err := s.cfg.Keyring.Open(sealed, "containers_settings", settingNotify, column)
	if err != nil {
		field := column
		for role, all := range attributes {
			if slices.ContainsFunc(all, func(a attribute) bool { return a.member == column }) {
				field = role + "." + column
			}
		}
		return "", fault.Wrap(err, fault.InvalidArgument,
			"%s: What is stored cannot be opened with the present master key. Enter it again, or add the former key to SVC_SECRET_KEY.", field).With("field", field).With("reason", "key_gone")
	}
	return schema.Secret(plain), nil
}

// shown opens a stored text to show it. What cannot be opened is shown masked: it can be entered again.
func (s *Service) shown(sealed, column string) string {
	plain, err := s.openNotify(sealed, column)
	if err != nil {
		s.log.Warn("a setting of notifications cannot be opened", "setting", column, "error", err)
		return masked
	}
	return plain.Reveal()
}

func (s *Service) sealNotify(plain, column string) string {
	if plain == "" {
		return ""
	}
	return s.cfg.Keyring.Seal([]byte(plain), "containers_settings", settingNotify, column)
}

// NotificationSettings are the settings as the API shows them.
type NotificationSettings struct {
	Events   EventSwitches            `json:"events"`
	Chat     ChatSettings             `json:"chat"`
	Email    EmailSettings            `json:"email"`
	Webhook  WebhookSettings          `json:"webhook"`
	WebPush  PushSettings             `json:"webPush"`
	Channels map[string]OtherSettings `json:"channels" doc:"Further channels of the configuration, by the names of their instances."`
	Locale   string                   `json:"locale" enum:"zh,en" doc:"The language of the texts; it is set in the configuration."`
}

// ChannelState is what the settings of every channel tell beside its own.
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
	SMTPURL           string `json:"smtpUrl,omitempty" doc:"With the password masked. Left out while it is not set, or set in the configuration." example:"smtps://ops:******@mail.example.com/?to=ops@example.com"`
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

// NotificationSettings reads the settings. Secrets are masked.
func (s *Service) NotificationSettings(ctx context.Context) (NotificationSettings, error) {
	var out NotificationSettings
	set, err := s.storedNotifications(ctx)
	if err != nil {
		return out, err
	}
	all, err := s.channels()
	if err != nil {
		return out, err
	}
	subs, err := s.repo.subscriptions(ctx)
	if err != nil {
		return out, fmt.Errorf("read the push subscriptions: %w", err)
	}
	out = NotificationSettings{
		Events: set.Events, Locale: s.settings().Locale, Channels: map[string]OtherSettings{},
		Chat:    ChatSettings{BotTokenConfigured: set.Chat.BotToken != "", ChatID: set.Chat.ChatID},
		Email:   EmailSettings{SMTPURL: maskURL(s.shown(set.Email.SMTPURL, "smtpUrl")), SMTPURLConfigured: set.Email.SMTPURL != ""},
		Webhook: WebhookSettings{URL: s.shown(set.Webhook.URL, "url"), SecretConfigured: set.Webhook.Secret != ""},
		WebPush: PushSettings{PublicKey: set.WebPush.PublicKey, Subject: set.WebPush.Subject, Subscriptions: len(subs)},
	}
	if set.WebPush.PrivateKey != "" {
		out.WebPush.PrivateKey = masked
	}
	return out, out.configured(all, &set)
}

// configured takes in which channels there are, and what the configuration sets for them.
func (out *NotificationSettings) configured(all []channel, set *storedNotifications) error {
	for role, to := range map[string]*ChannelState{
		sdk.RoleChat: &out.Chat.ChannelState, sdk.RoleEmail: &out.Email.ChannelState, sdk.RoleWebhook: &out.Webhook.ChannelState, sdk.RoleWebPush: &out.WebPush.ChannelState,
	} {
		*to = ChannelState{Enabled: set.on(role), ReadOnly: []string{}}
		c := find(all, role)
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
				out.fix(role, a.member, value)
			}
		}
	}
	for _, c := range all {
		if c.role == "" {
			out.Channels[c.name] = OtherSettings{ChannelState{Enabled: set.on(c.name), Available: true, Instance: c.Ref, ReadOnly: []string{}}}
		}
	}
	return nil
}

// fix shows a member as the configuration has it. Secrets come without a value.
func (out *NotificationSettings) fix(role, member, value string) {
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

// maskURL masks the password of a URL; what cannot be read is masked whole.
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

// keeps tells whether a secret in a change stands for the one that is stored.
func keeps(given string) bool {
	return strings.Trim(strings.TrimSpace(given), "•*") == "" || strings.Contains(given, masked)
}

// maxNotifyText bounds a setting, in bytes.
const maxNotifyText = 2000
