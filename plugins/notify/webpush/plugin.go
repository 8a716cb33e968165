// Package webpush is the notification channel to browsers: messages are encrypted for one subscription (RFC 8291),
// signed with the sender's key pair (VAPID, RFC 8292) and posted to the push service that the browser named (RFC 8030).
//
// The message is the notification's payload, to which the members id, title, body and url are added where they are
// missing; a notification without a payload is sent as an object of these four.
package webpush

import (
	"context"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Config is the config block of an instance.
type Config struct {
	VAPIDPublicKey  string        `patchbay:"vapid_public_key" doc:"The sender's public key, base64url; empty leaves the pair to each recipient."`
	VAPIDPrivateKey schema.Secret `patchbay:"vapid_private_key" doc:"The private key that belongs to it."`
	VAPIDSubject    string        `patchbay:"vapid_subject" doc:"Contact for push services: mailto:… or https://…; empty leaves it to each recipient."`
	TTL             time.Duration `patchbay:"ttl,default=24h" doc:"How long a push service keeps a message for a device that is away, at most 28 days."`
	Urgency         string        `patchbay:"urgency,enum=very-low|low|normal|high,default=normal" doc:"Urgency, for devices that save battery."`
	AllowHosts      []string      `patchbay:"allow_hosts" doc:"Private push services that the plugin may reach, also without TLS: names, addresses or networks; name:port allows a port besides 80 and 443."`
	Timeout         time.Duration `patchbay:"timeout,default=10s" doc:"Longest time for an answer of a push service."`
}

const targetSchema = `{"type":"object","properties":{` +
	`"endpoint":{"type":"string","format":"uri","description":"The subscription's address."},` +
	`"keys":{"type":"object","properties":{"p256dh":{"type":"string"},"auth":{"type":"string"}},"required":["p256dh","auth"],"additionalProperties":false,` +
	`"description":"The subscription's keys, base64url."},` +
	`"vapidPublicKey":{"type":"string","description":"The sender's public key, base64url; the private one is the secret."},` +
	`"vapidSubject":{"type":"string","description":"How a push service reaches the sender: mailto:… or https://…"}},` +
	`"required":["endpoint","keys"],"additionalProperties":false}`

// Bounds of what is sent, in bytes. A push service need not take more than one record of 4096 bytes (RFC 8030, 7.2): a
// header of 86 (salt 16, record size 4, key length 1, key 65), the text, a delimiter of 1 and a tag of 16 (RFC 8188, 2).
// That leaves 3993 for the text, the number that RFC 8291, 4 names too.
const (
	recordSize = 4096
	maxText    = recordSize - 86 - 1 - 16
	// maxHuman leaves room for escapes and the other members.
	maxHuman = 3000
)

const (
	maxTimeout = 90 * time.Second
	maxTTL     = 28 * 24 * time.Hour
)

// Plugin declares the plugin.
func Plugin() framework.Plugin {
	return framework.Plugin{
		Name:    "webpush",
		Version: "1.0.0",
		Summary: "Pushes notifications to browsers.",
		Documentation: "A message is encrypted for its subscription and fits one record of 4096 bytes, which leaves 3993 bytes for its text. " +
			"2xx counts as delivered; 404 and 410 tell that the subscription has ended; 408, 429, 5xx and no answer are tried again, all others are not. " +
			"A repetition replaces what the push service still keeps, and has the same `id`, which the browser shows once.",
		Kinds: []framework.Kind{notify.New(notify.Definition[Config]{
			Role: notify.RoleWebPush, PerUserTarget: true, Idempotent: true, MaxTextBytes: maxHuman, MaxPayloadBytes: maxText,
			TargetSchema: targetSchema, Build: buildInstance,
		})},
	}
}

func buildInstance(inst notify.Instance, cfg Config) (notify.Open, schema.Diagnostics) {
	guard, err := httpx.NewGuard(httpx.GuardConfig{Allow: cfg.AllowHosts, Hint: "allow_hosts in the configuration can permit it"})
	if err != nil {
		return nil, schema.Errorf(schema.At("allow_hosts"), "%v", err)
	}
	c := &channel{cfg: cfg, guard: guard, now: time.Now, log: inst.Log}
	diags := c.setSender(cfg)
	if cfg.TTL < 0 || cfg.TTL > maxTTL {
		diags = append(diags, schema.Errorf(schema.At("ttl"), "must be 0 to %s", maxTTL)...)
	}
	if cfg.Timeout <= 0 || cfg.Timeout > maxTimeout {
		diags = append(diags, schema.Errorf(schema.At("timeout"), "must be more than 0 and at most %s", maxTimeout)...)
	}
	if diags.HasErrors() {
		return nil, diags
	}
	return func(context.Context) (notify.Channel, error) {
		c.http, err = httpx.New(httpx.Config{UserAgent: inst.UserAgent, Guard: guard})
		return c, err
	}, diags
}

// setSender takes the pair and the subject of the configuration.
func (c *channel) setSender(cfg Config) (diags schema.Diagnostics) {
	public, private := cfg.VAPIDPublicKey, cfg.VAPIDPrivateKey.Reveal()
	switch {
	case public != "" && private == "":
		diags = schema.Errorf(schema.At("vapid_private_key"), "is missing: a pair of keys is set as a whole or left to each recipient")
	case public == "" && private != "":
		diags = schema.Errorf(schema.At("vapid_public_key"), "is missing: a pair of keys is set as a whole or left to each recipient")
	case public != "":
		var problem error
		var atSecret bool
		if c.pair, atSecret, problem = parsePair(public, private); problem != nil && atSecret {
			diags = schema.Errorf(schema.At("vapid_private_key"), "%v", problem)
		} else if problem != nil {
			diags = schema.Errorf(schema.At("vapid_public_key"), "%v", problem)
		}
	}
	if cfg.VAPIDSubject != "" {
		if err := checkSubject(cfg.VAPIDSubject); err != nil {
			diags = append(diags, schema.Errorf(schema.At("vapid_subject"), "%v", err)...)
		}
	}
	return diags
}

// allowsPlainHTTP reports whether a push service may be reached without TLS: only where the configuration names it.
func (c *channel) allowsPlainHTTP(u *url.URL) bool {
	addr, _ := netip.ParseAddr(u.Hostname())
	return slices.ContainsFunc(c.cfg.AllowHosts, func(entry string) bool {
		if prefix, err := netip.ParsePrefix(entry); err == nil {
			return prefix.Contains(addr)
		}
		return strings.EqualFold(entry, u.Host) || strings.EqualFold(entry, u.Hostname())
	})
}
