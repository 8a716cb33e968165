// Package webhook is the notification channel that posts JSON to an address, signed as the Standard Webhooks
// specification says, so that a receiver can verify it with any library for that.
//
// The body is the notification's payload, byte for byte; a notification without one is sent as an object of its texts
// and links.
package webhook

import (
	"context"
	"encoding/json"
	"net/http"
	"net/textproto"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Config is the config block of an instance.
type Config struct {
	URL        schema.Secret     `patchbay:"url" doc:"URL to post to; empty leaves it to each recipient."`
	Secrets    []string          `patchbay:"secrets,sensitive" doc:"Signing secrets, each whsec_ and base64; with several, each signs, so that they can be rotated."`
	Headers    map[string]string `patchbay:"headers,sensitive" doc:"More request headers; they need url."`
	AllowHosts []string          `patchbay:"allow_hosts" doc:"Private hosts that the plugin may reach: names, addresses or networks; name:port allows a port besides 80 and 443."`
	Timeout    time.Duration     `patchbay:"timeout,default=15s" doc:"Longest time for an answer."`
}

const targetSchema = `{"type":"object","properties":{"url":{"type":"string","format":"uri","description":"Where notifications are posted."}},"additionalProperties":false}`

// Plugin declares the plugin.
func Plugin() framework.Plugin {
	return framework.Plugin{
		Name:    "webhook",
		Version: "1.0.0",
		Summary: "Posts notifications as JSON, signed by Standard Webhooks.",
		Documentation: "A 2xx status counts as delivered; 408, 429, 5xx and no answer are tried again, all others are not. Redirects are not followed. " +
			"A repetition has the same `webhook-id`. A recipient's own address and secret count where `url` and `secrets` are not set.",
		Kinds: []framework.Kind{notify.New(notify.Definition[Config]{Role: notify.RoleWebhook, PerUserTarget: true, Idempotent: true,
			TargetSchema: targetSchema, Build: buildInstance})},
	}
}

const maxTimeout = 90 * time.Second

func buildInstance(inst notify.Instance, cfg Config) (notify.Open, schema.Diagnostics) {
	guard, err := httpx.NewGuard(httpx.GuardConfig{Allow: cfg.AllowHosts, Hint: "allow_hosts in the configuration can permit it"})
	if err != nil {
		return nil, schema.Errorf(schema.At("allow_hosts"), "%v", err)
	}
	c := &channel{cfg: cfg, guard: guard, now: time.Now, log: inst.Log}
	var diags schema.Diagnostics
	if cfg.URL != "" {
		if c.url, err = c.parseAddress(cfg.URL.Reveal()); err != nil {
			diags = append(diags, schema.Errorf(schema.At("url"), "%v", err)...)
		}
	}
	for i, s := range cfg.Secrets {
		key, err := parseSecret(s)
		if err != nil {
			diags = append(diags, schema.Errorf(schema.At("secrets").Index(i), "%v", err)...)
		}
		c.keys = append(c.keys, key)
	}
	diags = append(diags, c.setHeaders(cfg)...)
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

var (
	headerName  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$") })
	headerValue = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\t\x20-\x7e]*$`) })
	// ownHeader are headers that the channel or the protocol sets.
	ownHeader = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(webhook-.*|content-type|content-length|host|connection|transfer-encoding|te|trailer|upgrade|expect)$`)
	})
)

func (c *channel) setHeaders(cfg Config) (diags schema.Diagnostics) {
	if len(cfg.Headers) > 0 && cfg.URL == "" {
		return schema.Errorf(schema.At("headers"), "needs url: a recipient's own address must not get them")
	}
	c.headers = http.Header{}
	for name, value := range cfg.Headers {
		if !headerName().MatchString(name) || ownHeader().MatchString(name) || !headerValue().MatchString(value) {
			diags = append(diags, schema.Errorf(schema.At("headers"), "%q is no header that can be set, or its value is not printable ASCII",
				name)...)
			continue
		}
		c.headers[textproto.CanonicalMIMEHeaderKey(name)] = []string{value}
	}
	return diags
}

// ValidateTarget implements notify.TargetValidator.
func (c *channel) ValidateTarget(to notify.Target) schema.Diagnostics {
	_, _, diags := c.readRecipient(to)
	return diags
}

// readRecipient returns the address that a call goes to and the keys that sign it. What the configuration says goes before what the
// target says.
func (c *channel) readRecipient(to notify.Target) (*url.URL, [][]byte, schema.Diagnostics) {
	var in notify.WebhookTarget
	var diags schema.Diagnostics
	if len(to.JSON) > 0 {
		dec := json.NewDecoder(strings.NewReader(string(to.JSON)))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&in); err != nil {
			return nil, nil, schema.Errorf(nil, "the target must be an object with the member url, a string")
		}
	}
	u, keys := c.url, c.keys
	if u == nil {
		var err error
		if u, err = c.parseAddress(in.URL); err != nil {
			diags = append(diags, schema.Errorf(schema.At("url"), "%v", err)...)
		}
	}
	if len(keys) == 0 {
		for _, s := range strings.Fields(to.Secret.Reveal()) {
			key, err := parseSecret(s)
			if err != nil {
				diags = append(diags, schema.Errorf(nil, "the secret: %v", err)...)
			}
			keys = append(keys, key)
		}
	}
	return u, keys, diags
}
