// Package libdnsadapter makes a DNS provider of a provider for github.com/libdns/libdns, of which there are some eighty.
package libdnsadapter

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/libdns/libdns"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/dns"
	"github.com/patchbay-dev/patchbay/sdk/dns/dnscheck"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Provider is what a provider for libdns must be able to do. One that is a libdns.ZoneLister lists its zones as well.
type Provider interface {
	libdns.RecordGetter
	libdns.RecordSetter
	libdns.RecordDeleter
}

// Config says how to use a provider.
type Config struct {
	Provider Provider
	// Zones are names of zones that the provider has; needed where it is no libdns.ZoneLister.
	Zones []string
	// TTL is that of records whose TTL is not asked for; 0 means five minutes.
	TTL time.Duration
	// Resolvers are asked whether records are visible; see dnscheck.Config.
	Resolvers []string
	// Secrets are cut from the provider's errors.
	Secrets []schema.Secret
	// Explain returns what an error of the provider means, such as that the vendor limits requests; nil, as a function and
	// as its answer, means that the vendor cannot be used at present.
	Explain func(error) *errs.Error
}

// defaultTTL is the TTL where neither the call nor Config.TTL names one.
const defaultTTL = 5 * time.Minute

// New makes a DNS provider. It sends nothing.
func New(cfg Config) (dns.Provider, error) {
	if cfg.Provider == nil {
		return nil, errors.New("libdnsadapter: Config.Provider is missing")
	}
	if _, ok := cfg.Provider.(libdns.ZoneLister); !ok && len(cfg.Zones) == 0 {
		return nil, errors.New("libdnsadapter: the provider cannot list its zones, and Config.Zones is empty")
	}
	if cfg.TTL <= 0 {
		cfg.TTL = defaultTTL
	}
	checker, err := dnscheck.New(dnscheck.Config{Resolvers: cfg.Resolvers})
	return &adapter{Config: cfg, checker: checker}, err
}

type adapter struct {
	Config
	checker *dnscheck.Checker
}

// explainError returns an error of the provider in the words of package errs.
func (a *adapter) explainError(ctx context.Context, err error) error {
	var own *errs.Error
	switch {
	case err == nil, errors.As(err, &own):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	}
	if a.Explain != nil {
		if own = a.Explain(err); own != nil {
			return own
		}
	}
	text := err.Error()
	for _, s := range a.Secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s.Reveal(), schema.Redacted)
		}
	}
	return errs.New(errs.Upstream, codes.Unavailable, errs.ReasonStatus, "%.500s", text)
}

// ListZones implements dns.Provider.
func (a *adapter) ListZones(ctx context.Context) ([]dns.Zone, error) {
	names := slices.Clone(a.Zones)
	if lister, ok := a.Provider.(libdns.ZoneLister); ok {
		found, err := lister.ListZones(ctx)
		if err != nil {
			return nil, a.explainError(ctx, err)
		}
		for _, z := range found {
			names = append(names, z.Name)
		}
	}
	var out []dns.Zone
	for _, name := range names {
		name = dns.NormalizeName(name)
		if !slices.ContainsFunc(out, func(z dns.Zone) bool { return z.Name == name }) {
			out = append(out, dns.Zone{ID: name, Name: name})
		}
	}
	return out, nil
}

// FindZone implements dns.Provider.
func (a *adapter) FindZone(ctx context.Context, name string) (*dns.Zone, error) {
	zones, err := a.ListZones(ctx)
	if err != nil {
		return nil, err
	}
	return dns.LongestZone(zones, name)
}

// found is a record as the provider has it, and what a set has of it.
type found struct {
	record libdns.Record
	name   string
	rr     libdns.RR
}

// getRecords returns the records of a zone that have one of the five types.
func (a *adapter) getRecords(ctx context.Context, zoneID, name string, recordType dns.Type) ([]found, error) {
	records, err := a.Provider.GetRecords(ctx, zoneID+".")
	if err != nil {
		return nil, a.explainError(ctx, err)
	}
	var out []found
	for _, r := range records {
		rr := r.RR()
		owner := dns.NormalizeName(libdns.AbsoluteName(rr.Name, zoneID+"."))
		if slices.Contains(dns.Types(), dns.Type(rr.Type)) && (name == "" || owner == name) &&
			(recordType == "" || rr.Type == string(recordType)) {
			out = append(out, found{record: r, name: owner, rr: rr})
		}
	}
	return out, nil
}

// ListRecords implements dns.Provider.
func (a *adapter) ListRecords(ctx context.Context, zoneID, name string, recordType dns.Type) ([]dns.RecordSet, error) {
	records, err := a.getRecords(ctx, zoneID, name, recordType)
	if err != nil {
		return nil, err
	}
	var out []dns.RecordSet
	for _, r := range records {
		value, err := dns.NormalizeValue(dns.Type(r.rr.Type), r.rr.Data)
		if err != nil {
			return nil, errs.Unavailable(errs.ReasonProtocol, "the record %s %s cannot be read", r.name, r.rr.Type)
		}
		i := slices.IndexFunc(out, func(s dns.RecordSet) bool { return s.Name == r.name && string(s.Type) == r.rr.Type })
		if i < 0 {
			i = len(out)
			out = append(out, dns.RecordSet{Name: r.name, Type: dns.Type(r.rr.Type), TTL: int(r.rr.TTL / time.Second)})
		}
		out[i].Values = append(out[i].Values, value)
	}
	return out, nil
}

// SetRecords implements dns.Provider.
func (a *adapter) SetRecords(ctx context.Context, zoneID string, set dns.RecordSet) (dns.Outcome, error) {
	if !dns.InZone(set.Name, zoneID) {
		return "", dns.InvalidRequest("the name %.80q is not in the zone %.80q", set.Name, zoneID)
	}
	ttl := time.Duration(set.TTL) * time.Second
	if ttl == 0 {
		ttl = a.TTL
	}
	var records []libdns.Record
	for _, value := range set.Values {
		r, err := newRecord(libdns.RelativeName(set.Name+".", zoneID+"."), ttl, set.Type, value)
		if err != nil {
			return "", err
		}
		records = append(records, r)
	}
	_, err := a.Provider.SetRecords(ctx, zoneID+".", records)
	return dns.Applied, a.explainError(ctx, err)
}

// newRecord returns a record of a type of its own, as providers expect.
func newRecord(name string, ttl time.Duration, recordType dns.Type, value string) (libdns.Record, error) {
	switch recordType {
	case dns.A, dns.AAAA:
		addr, err := netip.ParseAddr(value)
		return libdns.Address{Name: name, TTL: ttl, IP: addr}, err
	case dns.CNAME:
		return libdns.CNAME{Name: name, TTL: ttl, Target: value + "."}, nil
	case dns.MX:
		preference, host, err := dns.SplitMX(value)
		return libdns.MX{Name: name, TTL: ttl, Preference: preference, Target: strings.TrimSuffix(host, ".") + "."}, err
	case dns.TXT:
		return libdns.TXT{Name: name, TTL: ttl, Text: value}, nil
	}
	return nil, fmt.Errorf("there is no type %q", recordType)
}

// DeleteRecords implements dns.Provider.
func (a *adapter) DeleteRecords(ctx context.Context, zoneID, name string, recordType dns.Type) (dns.Outcome, error) {
	all, err := a.getRecords(ctx, zoneID, name, recordType)
	if err != nil || len(all) == 0 {
		return dns.Applied, err
	}
	var records []libdns.Record
	for _, r := range all {
		records = append(records, r.record)
	}
	_, err = a.Provider.DeleteRecords(ctx, zoneID+".", records)
	return dns.Applied, a.explainError(ctx, err)
}

// CheckRecords implements dns.Provider.
func (a *adapter) CheckRecords(ctx context.Context, zoneID string, sets []dns.RecordSet) ([]dns.Check, error) {
	return a.checker.Check(ctx, zoneID, sets)
}
