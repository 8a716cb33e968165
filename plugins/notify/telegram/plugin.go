// Package telegram is the notification channel that sends to a chat through the Bot API: the card as a photo with a short
// caption, then the detail as a text.
package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Config is the config block of an instance.
type Config struct {
	BotToken   schema.Secret `patchbay:"bot_token" doc:"The bot's token; empty leaves it to each recipient."`
	ChatID     string        `patchbay:"chat_id" doc:"The chat: a number, or @name of a public channel; empty leaves it to each recipient."`
	BaseURL    string        `patchbay:"base_url,default=https://api.telegram.org" doc:"Address of the Bot API; http only for a host of allow_hosts."`
	AllowHosts []string      `patchbay:"allow_hosts" doc:"Private hosts that the plugin may reach: names, addresses or networks; name:port allows a port besides 80 and 443."`
	Timeout    time.Duration `patchbay:"timeout,default=8s" doc:"Longest time for one request; a notification makes up to three."`
	Silent     bool          `patchbay:"silent" doc:"Deliver without a sound."`
}

const targetSchema = `{"type":"object","properties":{"chatId":{"type":"string","pattern":"^(-?[0-9]{1,19}|@[A-Za-z][A-Za-z0-9_]{3,31})$","description":"The chat: a number, or @name of a public channel."}},"additionalProperties":false}`

// Plugin declares the plugin.
func Plugin() framework.Plugin {
	return framework.Plugin{
		Name:    "telegram",
		Version: "1.0.0",
		Summary: "Sends notifications to a chat through the Telegram Bot API.",
		Documentation: "A notification with an image is a photo with title, summary and the first link, and its detail is a second message without link previews. " +
			"If the photo cannot be sent, one text stands for both. A recipient's own chat and token count where `chat_id` and `bot_token` are not set.",
		Kinds: []framework.Kind{notify.New(notify.Definition[Config]{
			Role: notify.RoleChat, PerUserTarget: true, Image: true, HTML: true, TargetSchema: targetSchema, Build: buildInstance,
		})},
	}
}

const maxTimeout = 30 * time.Second

var (
	tokenForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]{5,20}:[A-Za-z0-9_-]{30,64}$`) })
	chatForm  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(-?[0-9]{1,19}|@[A-Za-z][A-Za-z0-9_]{3,31})$`) })
)

// What is wrong with a token or a chat. The words hold neither.
const (
	badToken = "the bot token must have the form 123456789:AbC…, digits and about 35 characters"
	badChat  = "must be a number, or @ and the name of a public channel"
)

func buildInstance(inst notify.Instance, cfg Config) (notify.Open, schema.Diagnostics) {
	guard, err := httpx.NewGuard(httpx.GuardConfig{Allow: cfg.AllowHosts, Hint: "allow_hosts in the configuration can permit it"})
	if err != nil {
		return nil, schema.Errorf(schema.At("allow_hosts"), "%v", err)
	}
	c := &channel{cfg: cfg, log: inst.Log, now: time.Now}
	var diags schema.Diagnostics
	base, err := httpx.ParseBase(cfg.BaseURL)
	if err == nil {
		err = guard.CheckURL(base)
	}
	switch {
	case err != nil:
		diags = append(diags, schema.Errorf(schema.At("base_url"), "%v", err)...)
	case base.Scheme == "http" && !isAllowedHost(cfg.AllowHosts, base):
		diags = append(diags, schema.Errorf(schema.At("base_url"),
			"must be https: the token would be readable on the way; a host of allow_hosts may be reached by http")...)
	default:
		c.host = base.Host
	}
	if cfg.BotToken != "" && !tokenForm().MatchString(cfg.BotToken.Reveal()) {
		diags = append(diags, schema.Errorf(schema.At("bot_token"), badToken)...)
	}
	if cfg.ChatID != "" && !chatForm().MatchString(cfg.ChatID) {
		diags = append(diags, schema.Errorf(schema.At("chat_id"), badChat)...)
	}
	if cfg.Timeout <= 0 || cfg.Timeout > maxTimeout {
		diags = append(diags, schema.Errorf(schema.At("timeout"), "must be more than 0 and at most %s", maxTimeout)...)
	}
	if diags.HasErrors() {
		return nil, diags
	}
	return func(context.Context) (notify.Channel, error) {
		c.http, err = httpx.New(httpx.Config{
			BaseURL: cfg.BaseURL, UserAgent: inst.UserAgent, Guard: guard, MaxBody: maxAnswer, Timeout: cfg.Timeout,
			DialTimeout: cfg.Timeout * 3 / 4,
		})
		return c, err
	}, diags
}

// isAllowedHost reports whether the operator has named the host of an address, by itself or within a network.
func isAllowedHost(allow []string, u *url.URL) bool {
	if slices.Contains(allow, u.Hostname()) || slices.Contains(allow, u.Host) {
		return true
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return err == nil && slices.ContainsFunc(allow, func(entry string) bool {
		prefix, err := netip.ParsePrefix(entry)
		return err == nil && prefix.Contains(addr)
	})
}

// recipient is who gets a notification, and the bot that sends it.
type recipient struct {
	token schema.Secret
	chat  string
}

// ValidateTarget implements notify.TargetValidator.
func (c *channel) ValidateTarget(to notify.Target) schema.Diagnostics {
	_, diags := c.readRecipient(to)
	return diags
}

// readRecipient reads a target. What the configuration says goes before it.
func (c *channel) readRecipient(to notify.Target) (recipient, schema.Diagnostics) {
	var in notify.ChatTarget
	if len(to.JSON) > 0 {
		dec := json.NewDecoder(bytes.NewReader(to.JSON))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&in); err != nil {
			return recipient{}, schema.Errorf(nil, "the target must be an object with the member chatId, a string")
		}
	}
	r := recipient{token: c.cfg.BotToken, chat: c.cfg.ChatID}
	var diags schema.Diagnostics
	if r.chat == "" {
		switch r.chat = in.ChatID; {
		case r.chat == "":
			diags = append(diags, schema.Errorf(schema.At("chatId"), "there is no chat to send to")...)
		case !chatForm().MatchString(r.chat):
			diags = append(diags, schema.Errorf(schema.At("chatId"), badChat)...)
		}
	}
	if r.token == "" {
		switch r.token = to.Secret; {
		case r.token == "":
			diags = append(diags, schema.Errorf(nil, "the secret: there is no bot token")...)
		case !tokenForm().MatchString(r.token.Reveal()):
			diags = append(diags, schema.Errorf(nil, "the secret: %s", badToken)...)
		}
	}
	return r, diags
}
