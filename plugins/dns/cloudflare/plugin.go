// Package cloudflare is the DNS provider for Cloudflare: zones, records and Email Routing, whose mail a worker posts to the
// mail service. The worker is in the folder worker.
package cloudflare

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/plugins/internal/jsonapi"
	"github.com/patchbay-dev/patchbay/sdk/dns"
	"github.com/patchbay-dev/patchbay/sdk/dns/dnscheck"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Config is the config block of an instance.
type Config struct {
	BaseURL   string        `patchbay:"base_url,default=https://api.cloudflare.com/client/v4" doc:"Address of the API."`
	APIToken  schema.Secret `patchbay:"api_token,required" doc:"An API token; the plugin's documentation lists its permissions."`
	AccountID string        `patchbay:"account_id" doc:"Account that owns new zones. Unset: no new zones."`
	Worker    string        `patchbay:"worker" doc:"Name of the worker that posts mail to the mail service. Unset: no routing rules and no catch-all."`
	Cooldown  time.Duration `patchbay:"cooldown,default=15m" doc:"Pause after the API rate limited a request without saying for how long."`
	Resolvers []string      `patchbay:"resolvers" doc:"Name servers to check records with. Unset: the authoritative servers of each zone."`
	Timeout   time.Duration `patchbay:"timeout,default=30s" doc:"Longest time for one request."`
}

// Plugin declares the plugin.
func Plugin() framework.Plugin {
	return framework.Plugin{
		Name:    "cloudflare",
		Version: "1.0.0",
		Summary: "Zones, records and Email Routing of Cloudflare.",
		Documentation: "The token needs Zone Read and DNS Edit; for mail Email Routing Rules Edit and Zone Settings Edit; to make and delete zones Zone Edit for the account. " +
			"TTLs are 60 to 86,400 seconds; others become the nearest.",
		Kinds: []framework.Kind{dns.New(dns.Definition[Config]{Build: buildProvider, CreateZones: true, MailRouting: true})},
	}
}

const (
	maxTimeout = 5 * time.Minute
	// maxCooldown is the longest pause that may be configured.
	maxCooldown = 24 * time.Hour
	// maxBody is the largest answer that is read, in bytes.
	maxBody = 8 << 20
)

func buildProvider(inst dns.Instance, cfg Config) (dns.Open, schema.Diagnostics) {
	var diags schema.Diagnostics
	base, err := httpx.ParseBase(cfg.BaseURL)
	if err != nil {
		diags = append(diags, schema.Errorf(schema.At("base_url"), "%v", err)...)
	}
	for i, r := range cfg.Resolvers {
		if _, err := dnscheck.ParseServer(r); err != nil {
			diags = append(diags, schema.Errorf(schema.At("resolvers").Index(i), "%v", err)...)
		}
	}
	if cfg.Cooldown <= 0 || cfg.Cooldown > maxCooldown {
		diags = append(diags, schema.Errorf(schema.At("cooldown"), "must be more than 0 and at most %s", maxCooldown)...)
	}
	if cfg.Timeout <= 0 || cfg.Timeout > maxTimeout {
		diags = append(diags, schema.Errorf(schema.At("timeout"), "must be more than 0 and at most %s", maxTimeout)...)
	}
	if diags.HasErrors() {
		return nil, diags
	}
	return func(context.Context) (dns.Provider, error) { return openProvider(inst, cfg, base) }, diags
}

func openProvider(inst dns.Instance, cfg Config, base *url.URL) (dns.Provider, error) {
	client, err := httpx.New(httpx.Config{UserAgent: inst.UserAgent, Timeout: cfg.Timeout, MaxBody: maxBody, Compression: true, Proxy: true,
		Own: []*url.URL{base}})
	if err != nil {
		return nil, err
	}
	checker, err := dnscheck.New(dnscheck.Config{Resolvers: cfg.Resolvers})
	if err != nil {
		return nil, err
	}
	api := &jsonapi.Client{
		HTTP: client, Base: base, Header: http.Header{"Authorization": {"Bearer " + cfg.APIToken.Reveal()}},
		Secret: cfg.APIToken, Message: errorMessage, Pause: cfg.Cooldown,
	}
	return &provider{api: api, cfg: cfg, checker: checker}, nil
}

// provider implements dns.Provider, dns.ZoneCreator and dns.MailRouter.
type provider struct {
	api      *jsonapi.Client
	cfg      Config
	checker  *dnscheck.Checker
	cooldown cooldown
}

// Close lets idle connections go.
func (p *provider) Close() error { return p.api.HTTP.Close() }
