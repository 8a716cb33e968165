// Package shoutrrr is the notification channel to the many services that the Shoutrrr library knows by an address:
// Slack, Discord, Teams, Matrix, ntfy, Gotify, Pushover, Zulip and others.
//
// They get plain text: a title where the service has one, else a first line, then summary, detail and links.
package shoutrrr

import (
	"context"
	"slices"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Config is the config block of an instance.
type Config struct {
	URLs    []string      `patchbay:"urls,sensitive,required" doc:"Addresses of services, such as ntfy://ntfy.example.com/topic or discord://token@id."`
	Timeout time.Duration `patchbay:"timeout,default=20s" doc:"Longest time for one service."`
}

const (
	maxURLs    = 20
	maxTimeout = 90 * time.Second
	// maxHuman leaves a fourth of maxMessage to links.
	maxHuman = 3000
)

// Plugin declares the plugin.
func Plugin() framework.Plugin {
	return framework.Plugin{
		Name:    "shoutrrr",
		Version: "1.0.0",
		Summary: "Sends plain text to Slack, Discord, Teams, Matrix, ntfy, Gotify and other services by their address.",
		Documentation: "The addresses are those of the Shoutrrr library. Several are served side by side; the notification counts as delivered if one of them got it, " +
			"with a warning for each that did not. A text has at most 4000 bytes, which the services take that refuse longer ones (ntfy, Lark and Telegram: 4096), " +
			"2000 for WeCom and 1000 for Pushover and PagerDuty. Log in to Matrix with an access token: a name and password log in anew each time.",
		Kinds: []framework.Kind{notify.New(notify.Definition[Config]{MaxTextBytes: maxHuman, Build: buildInstance})},
	}
}

func buildInstance(inst notify.Instance, cfg Config) (notify.Open, schema.Diagnostics) {
	c := &channel{timeout: cfg.Timeout, log: inst.Log}
	var diags schema.Diagnostics
	if len(cfg.URLs) == 0 || len(cfg.URLs) > maxURLs {
		diags = schema.Errorf(schema.At("urls"), "must be 1 to %d addresses", maxURLs)
	}
	for i, raw := range cfg.URLs[:min(len(cfg.URLs), maxURLs)] {
		r, err := newReceiver(raw)
		if err != nil {
			diags = append(diags, schema.Errorf(schema.At("urls").Index(i), "%v", err)...)
			continue
		}
		if slices.Contains(cfg.URLs[:i], raw) {
			diags = append(diags, schema.Errorf(schema.At("urls").Index(i), "stands twice")...)
		}
		c.receivers = append(c.receivers, r)
	}
	if cfg.Timeout <= 0 || cfg.Timeout > maxTimeout {
		diags = append(diags, schema.Errorf(schema.At("timeout"), "must be more than 0 and at most %s", maxTimeout)...)
	}
	if diags.HasErrors() {
		return nil, diags
	}
	return func(context.Context) (notify.Channel, error) {
		guardDefaultClient()
		return c, nil
	}, diags
}
