// Package manual is the DNS provider without an account: a person sets the records, and it looks whether they are there.
package manual

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/dns"
	"github.com/patchbay-dev/patchbay/sdk/dns/dnscheck"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Config is the config block of an instance.
type Config struct {
	Resolvers []string      `patchbay:"resolvers" doc:"Resolvers to check records with, such as 192.0.2.53 or 192.0.2.53:5353. Unset: the authoritative servers of each zone."`
	Timeout   time.Duration `patchbay:"timeout,default=3s" doc:"Longest time for one query."`
}

// Plugin declares the plugin.
func Plugin() framework.Plugin {
	return framework.Plugin{
		Name:    "manual",
		Version: "1.0.0",
		Summary: "Needs no account: you set the records, Patchbay checks them.",
		Documentation: "Every name is a zone of its own. Changes are answered with `pending_manual`, and the console shows the records to set. " +
			"Names at and below `localhost` need no records and are never looked up.",
		Kinds: []framework.Kind{dns.New(dns.Definition[Config]{Build: buildProvider, Manual: true})},
	}
}

// maxTimeout is the longest time that may be configured for one query.
const maxTimeout = time.Minute

func buildProvider(_ dns.Instance, cfg Config) (dns.Open, schema.Diagnostics) {
	var diags schema.Diagnostics
	for i, r := range cfg.Resolvers {
		if _, err := dnscheck.ParseServer(r); err != nil {
			diags = append(diags, schema.Errorf(schema.At("resolvers").Index(i), "%v", err)...)
		}
	}
	if cfg.Timeout <= 0 || cfg.Timeout > maxTimeout {
		diags = append(diags, schema.Errorf(schema.At("timeout"), "must be more than 0 and at most %s", maxTimeout)...)
	}
	if diags.HasErrors() {
		return nil, diags
	}
	return func(context.Context) (dns.Provider, error) {
		checker, err := dnscheck.New(dnscheck.Config{Resolvers: cfg.Resolvers, Timeout: cfg.Timeout})
		return &provider{checker: checker}, err
	}, diags
}

// provider implements dns.Provider.
type provider struct{ checker *dnscheck.Checker }

// ListZones implements dns.Provider. Nobody knows the zones.
func (p *provider) ListZones(context.Context) ([]dns.Zone, error) { return nil, nil }

// FindZone implements dns.Provider. Every name is a zone.
func (p *provider) FindZone(_ context.Context, name string) (*dns.Zone, error) {
	return &dns.Zone{ID: name, Name: name}, nil
}

// ListRecords implements dns.Provider. Nobody knows the records; CheckRecords looks for those that should be there.
func (p *provider) ListRecords(context.Context, string, string, dns.Type) ([]dns.RecordSet, error) {
	return nil, nil
}

// SetRecords implements dns.Provider.
func (p *provider) SetRecords(_ context.Context, zoneID string, set dns.RecordSet) (dns.Outcome, error) {
	return manualOutcome(zoneID, set.Name)
}

// DeleteRecords implements dns.Provider.
func (p *provider) DeleteRecords(_ context.Context, zoneID, name string, _ dns.Type) (dns.Outcome, error) {
	return manualOutcome(zoneID, name)
}

func manualOutcome(zone, name string) (dns.Outcome, error) {
	if !dns.InZone(name, zone) {
		return "", dns.InvalidRequest("the name %.80q is not in the zone %.80q", name, zone)
	}
	return dns.PendingManual, nil
}

// CheckRecords implements dns.Provider.
func (p *provider) CheckRecords(ctx context.Context, zoneID string, sets []dns.RecordSet) ([]dns.Check, error) {
	return p.checker.Check(ctx, zoneID, sets)
}
