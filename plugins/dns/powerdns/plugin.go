// Package powerdns is the DNS provider for PowerDNS Authoritative Server, by its HTTP API.
package powerdns

import (
	"context"
	"encoding/json"
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
	APIURL      string        `patchbay:"api_url,required" doc:"Address of the web server of PowerDNS, such as http://127.0.0.1:8081."`
	APIKey      schema.Secret `patchbay:"api_key,required" doc:"The api-key of PowerDNS."`
	ServerID    string        `patchbay:"server_id,default=localhost" doc:"Id of the server in the API."`
	NameServers []string      `patchbay:"name_servers" doc:"Names of the name servers of a new zone. Unset: no new zones."`
	ZoneKind    string        `patchbay:"zone_kind,default=Native,enum=Native|Master" doc:"Kind of a new zone."`
	TTL         int           `patchbay:"ttl,default=300" doc:"TTL in seconds of records whose TTL is not asked for."`
	Resolvers   []string      `patchbay:"resolvers" doc:"Name servers to check records with, such as 192.0.2.53:5353. Unset: the authoritative servers of each zone."`
	Timeout     time.Duration `patchbay:"timeout,default=15s" doc:"Longest time for one request."`
}

// Plugin declares the plugin.
func Plugin() framework.Plugin {
	return framework.Plugin{
		Name:          "powerdns",
		Version:       "1.0.0",
		Summary:       "Zones and records of PowerDNS, by its HTTP API.",
		Documentation: "Needs `api=yes`, `api-key` and `webserver=yes` in the configuration of PowerDNS 4.2 or newer, and the API reachable from here.",
		Kinds:         []framework.Kind{dns.New(dns.Definition[Config]{Build: buildProvider, CreateZones: true})},
	}
}

const (
	maxTimeout = 5 * time.Minute
	// maxBody is the largest answer that is read, in bytes: a zone with some 100,000 records.
	maxBody = 15 << 20
	// limitPause is when to try again after a 429 of a proxy that does not say it; PowerDNS itself has no limit.
	limitPause = time.Minute
)

func buildProvider(inst dns.Instance, cfg Config) (dns.Open, schema.Diagnostics) {
	var diags schema.Diagnostics
	base, err := httpx.ParseBase(cfg.APIURL)
	if err != nil {
		diags = append(diags, schema.Errorf(schema.At("api_url"), "%v", err)...)
	}
	if cfg.ServerID == "" {
		diags = append(diags, schema.Errorf(schema.At("server_id"), "must not be empty")...)
	}
	for i, name := range cfg.NameServers {
		if _, err := dns.NormalizeValue(dns.CNAME, name); err != nil {
			diags = append(diags, schema.Errorf(schema.At("name_servers").Index(i), "%q is not the name of a name server", name)...)
		}
	}
	for i, r := range cfg.Resolvers {
		if _, err := dnscheck.ParseServer(r); err != nil {
			diags = append(diags, schema.Errorf(schema.At("resolvers").Index(i), "%v", err)...)
		}
	}
	if cfg.TTL < 1 || cfg.TTL > dns.MaxTTL {
		diags = append(diags, schema.Errorf(schema.At("ttl"), "must be 1 to %d", dns.MaxTTL)...)
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
		HTTP: client, Base: base, Header: http.Header{"X-Api-Key": {cfg.APIKey.Reveal()}}, Secret: cfg.APIKey, Message: errorMessage,
		Pause: limitPause,
	}
	return &provider{api: api, cfg: cfg, checker: checker}, nil
}

// errorMessage returns what the body of a refusal says.
func errorMessage(body []byte) string {
	var said struct{ Error string }
	_ = json.Unmarshal(body, &said)
	return said.Error
}

// provider implements dns.Provider and dns.ZoneCreator.
type provider struct {
	api     *jsonapi.Client
	cfg     Config
	checker *dnscheck.Checker
}

// Close lets idle connections go.
func (p *provider) Close() error { return p.api.HTTP.Close() }
