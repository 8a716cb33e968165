package rfc2136

import (
	"context"
	"slices"
	"time"

	mdns "github.com/miekg/dns"

	"github.com/patchbay-dev/patchbay/sdk/dns"
	"github.com/patchbay-dev/patchbay/sdk/dns/dnscheck"
	"github.com/patchbay-dev/patchbay/sdk/dns/dnsrr"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// provider implements dns.Provider.
type provider struct {
	server         string
	zones          []dns.Zone
	key, algorithm string
	secret         schema.Secret
	ttl            int
	timeout        time.Duration
	checker        *dnscheck.Checker
}

// ListZones implements dns.Provider: the zones of the configuration.
func (p *provider) ListZones(context.Context) ([]dns.Zone, error) { return slices.Clone(p.zones), nil }

// FindZone implements dns.Provider.
func (p *provider) FindZone(_ context.Context, name string) (*dns.Zone, error) {
	return dns.LongestZone(slices.Clone(p.zones), name)
}

// checkZone refuses a zone that is not in the configuration, and a name that is not in the zone.
func (p *provider) checkZone(zoneID, name string) error {
	if !slices.ContainsFunc(p.zones, func(z dns.Zone) bool { return z.ID == zoneID }) {
		return dns.NoZone(zoneID)
	}
	if name != "" && !dns.InZone(name, zoneID) {
		return dns.InvalidRequest("the name %.80q is not in the zone %.80q", name, zoneID)
	}
	return nil
}

// ListRecords implements dns.Provider: by a query for each type where a name is given, else by a zone transfer.
func (p *provider) ListRecords(ctx context.Context, zoneID, name string, recordType dns.Type) ([]dns.RecordSet, error) {
	if err := p.checkZone(zoneID, name); err != nil {
		return nil, err
	}
	if name == "" {
		records, err := p.transferZone(ctx, zoneID)
		return dnsrr.Sets(records, "", recordType), err
	}
	types := dns.Types()
	if recordType != "" {
		types = []dns.Type{recordType}
	}
	var records []mdns.RR
	for _, t := range types {
		found, err := p.queryRecords(ctx, name, t)
		if err != nil {
			return nil, err
		}
		records = append(records, found...)
	}
	return dnsrr.Sets(records, name, recordType), nil
}

// queryRecords returns the records of a name and type. An alias is not followed.
func (p *provider) queryRecords(ctx context.Context, name string, recordType dns.Type) ([]mdns.RR, error) {
	answer, err := p.askServer(ctx, name, recordType)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(answer.Answer, func(rr mdns.RR) bool { return rr.Header().Rrtype != dnsrr.TypeOf(recordType) }), nil
}

// askServer sends one question.
func (p *provider) askServer(ctx context.Context, name string, recordType dns.Type) (*mdns.Msg, error) {
	msg := new(mdns.Msg)
	msg.SetQuestion(mdns.Fqdn(name), dnsrr.TypeOf(recordType))
	msg.RecursionDesired = false
	return p.exchangeSigned(ctx, msg, "")
}

// SetRecords implements dns.Provider: one update that deletes the set and adds it anew. The server refuses an update whose
// records exclude others silently, so that is looked for before.
func (p *provider) SetRecords(ctx context.Context, zoneID string, set dns.RecordSet) (dns.Outcome, error) {
	if err := p.checkZone(zoneID, set.Name); err != nil {
		return "", err
	}
	if set.TTL == 0 {
		set.TTL = p.ttl
	}
	records, err := dnsrr.Records(set)
	if err != nil {
		return "", err
	}
	if err := p.checkConflict(ctx, zoneID, set); err != nil {
		return "", err
	}
	if err := p.checkMailHosts(ctx, zoneID, set); err != nil {
		return "", err
	}
	msg := new(mdns.Msg)
	msg.SetUpdate(mdns.Fqdn(zoneID))
	msg.RemoveRRset([]mdns.RR{&mdns.ANY{Hdr: mdns.RR_Header{Name: mdns.Fqdn(set.Name), Rrtype: dnsrr.TypeOf(set.Type)}}})
	msg.Insert(records)
	_, err = p.exchangeSigned(ctx, msg, zoneID)
	return dns.Applied, err
}

// DeleteRecords implements dns.Provider.
func (p *provider) DeleteRecords(ctx context.Context, zoneID, name string, recordType dns.Type) (dns.Outcome, error) {
	if err := p.checkZone(zoneID, name); err != nil {
		return "", err
	}
	msg := new(mdns.Msg)
	msg.SetUpdate(mdns.Fqdn(zoneID))
	msg.RemoveRRset([]mdns.RR{&mdns.ANY{Hdr: mdns.RR_Header{Name: mdns.Fqdn(name), Rrtype: dnsrr.TypeOf(recordType)}}})
	_, err := p.exchangeSigned(ctx, msg, zoneID)
	return dns.Applied, err
}

// CheckRecords implements dns.Provider.
func (p *provider) CheckRecords(ctx context.Context, zoneID string, sets []dns.RecordSet) ([]dns.Check, error) {
	if err := p.checkZone(zoneID, ""); err != nil {
		return nil, err
	}
	return p.checker.Check(ctx, zoneID, sets)
}
