// Package rfc2136 is the DNS provider for name servers that take dynamic updates (RFC 2136), signed with TSIG.
package rfc2136

import (
	"context"
	"encoding/base64"
	"time"

	mdns "github.com/miekg/dns"

	"github.com/patchbay-dev/patchbay/sdk/dns"
	"github.com/patchbay-dev/patchbay/sdk/dns/dnscheck"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Config is the config block of an instance.
type Config struct {
	Server    string        `patchbay:"server,required" doc:"Address of the primary name server, such as 192.0.2.53 or 192.0.2.53:5353. Uses TCP."`
	Zones     []string      `patchbay:"zones,required" doc:"Names of the zones that may be updated; the protocol cannot list them."`
	KeyName   string        `patchbay:"key_name,required" doc:"Name of the TSIG key."`
	KeySecret schema.Secret `patchbay:"key_secret,required" doc:"Secret of the TSIG key in base64, as tsig-keygen writes it."`
	Algorithm string        `patchbay:"algorithm,default=hmac-sha256,enum=hmac-sha224|hmac-sha256|hmac-sha384|hmac-sha512" doc:"Algorithm of the TSIG key."`
	TTL       int           `patchbay:"ttl,default=300" doc:"TTL in seconds of records whose TTL is not asked for."`
	Resolvers []string      `patchbay:"resolvers" doc:"Name servers to check records with. Unset: the server itself."`
	Timeout   time.Duration `patchbay:"timeout,default=10s" doc:"Longest time for one exchange with the server."`
}

// Plugin declares the plugin.
func Plugin() framework.Plugin {
	return framework.Plugin{
		Name:    "rfc2136",
		Version: "1.0.0",
		Summary: "Records of a name server that takes dynamic updates, such as BIND, Knot and PowerDNS.",
		Documentation: "Every message is signed with TSIG, and an answer without a good signature is not believed. " +
			"Records are listed by zone transfer (AXFR) where the server permits it to the key; records of one name are asked for one type at a time.",
		Kinds: []framework.Kind{dns.New(dns.Definition[Config]{Build: buildProvider})},
	}
}

// maxTimeout is the longest time that may be configured for one exchange.
const maxTimeout = 5 * time.Minute

func buildProvider(_ dns.Instance, cfg Config) (dns.Open, schema.Diagnostics) {
	var diags schema.Diagnostics
	p := &provider{timeout: cfg.Timeout, ttl: cfg.TTL, key: mdns.CanonicalName(cfg.KeyName), algorithm: mdns.Fqdn(cfg.Algorithm),
		secret: cfg.KeySecret}
	server, err := dnscheck.ParseServer(cfg.Server)
	if err != nil {
		diags = append(diags, schema.Errorf(schema.At("server"), "%v", err)...)
	}
	p.server = server
	if len(cfg.Zones) == 0 {
		diags = append(diags, schema.Errorf(schema.At("zones"), "needs at least one zone")...)
	}
	for i, zone := range cfg.Zones {
		name, err := dns.NormalizeValue(dns.CNAME, zone)
		if err != nil {
			diags = append(diags, schema.Errorf(schema.At("zones").Index(i), "%q is not the name of a zone", zone)...)
		}
		p.zones = append(p.zones, dns.Zone{ID: name, Name: name})
	}
	if _, ok := mdns.IsDomainName(cfg.KeyName); !ok || cfg.KeyName == "" {
		diags = append(diags, schema.Errorf(schema.At("key_name"), "is not the name of a key")...)
	}
	if raw, err := base64.StdEncoding.DecodeString(cfg.KeySecret.Reveal()); err != nil || len(raw) == 0 {
		diags = append(diags, schema.Errorf(schema.At("key_secret"), "must be base64")...)
	}
	if cfg.TTL < 1 || cfg.TTL > dns.MaxTTL {
		diags = append(diags, schema.Errorf(schema.At("ttl"), "must be 1 to %d", dns.MaxTTL)...)
	}
	if cfg.Timeout <= 0 || cfg.Timeout > maxTimeout {
		diags = append(diags, schema.Errorf(schema.At("timeout"), "must be more than 0 and at most %s", maxTimeout)...)
	}
	resolvers := cfg.Resolvers
	for i, r := range resolvers {
		if _, err := dnscheck.ParseServer(r); err != nil {
			diags = append(diags, schema.Errorf(schema.At("resolvers").Index(i), "%v", err)...)
		}
	}
	if diags.HasErrors() {
		return nil, diags
	}
	if len(resolvers) == 0 {
		resolvers = []string{server}
	}
	return func(context.Context) (dns.Provider, error) {
		p.checker, err = dnscheck.New(dnscheck.Config{Resolvers: resolvers})
		return p, err
	}, diags
}
