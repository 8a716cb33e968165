package powerdns

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/patchbay-dev/patchbay/sdk/dns"
	"github.com/patchbay-dev/patchbay/sdk/dns/dnsrr"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// rrset is a record set in the words of the API.
type rrset struct {
	Name       string   `json:"name"`
	Type       string   `json:"type"`
	TTL        int      `json:"ttl,omitempty"`
	ChangeType string   `json:"changetype,omitempty"`
	Records    []record `json:"records,omitempty"`
}

type record struct {
	Content  string `json:"content"`
	Disabled bool   `json:"disabled"`
}

// ListRecords implements dns.Provider. Disabled records count as not there.
func (p *provider) ListRecords(ctx context.Context, zoneID, name string, recordType dns.Type) ([]dns.RecordSet, error) {
	query := url.Values{}
	if name != "" {
		query.Set("rrset_name", name+".")
		if recordType != "" {
			query.Set("rrset_type", string(recordType))
		}
	}
	var found zone
	if err := p.callAPI(ctx, http.MethodGet, zoneID, query, nil, &found); err != nil {
		return nil, err
	}
	var out []dns.RecordSet
	for _, s := range found.Sets {
		set := dns.RecordSet{Name: dns.NormalizeName(s.Name), Type: dns.Type(s.Type), TTL: s.TTL}
		if !slices.Contains(dns.Types(), set.Type) || name != "" && set.Name != name || recordType != "" && set.Type != recordType {
			continue
		}
		for _, r := range s.Records {
			if r.Disabled {
				continue
			}
			value, err := dnsrr.ValueOfContent(set.Type, r.Content)
			if err != nil {
				return nil, errs.Unavailable(errs.ReasonProtocol, "%s %s: %v", s.Name, s.Type, err)
			}
			set.Values = append(set.Values, value)
		}
		if len(set.Values) > 0 {
			out = append(out, set)
		}
	}
	return out, nil
}

// changeSet sends one change of a record set.
func (p *provider) changeSet(ctx context.Context, zoneID string, set rrset) (dns.Outcome, error) {
	return dns.Applied, p.callAPI(ctx, http.MethodPatch, zoneID, nil, map[string][]rrset{"rrsets": {set}}, nil)
}

// SetRecords implements dns.Provider.
func (p *provider) SetRecords(ctx context.Context, zoneID string, set dns.RecordSet) (dns.Outcome, error) {
	contents, err := dnsrr.Contents(set)
	if err != nil {
		return "", err
	}
	out := rrset{Name: set.Name + ".", Type: string(set.Type), TTL: set.TTL, ChangeType: "REPLACE"}
	if out.TTL == 0 {
		out.TTL = p.cfg.TTL
	}
	for _, c := range contents {
		out.Records = append(out.Records, record{Content: c})
	}
	return p.changeSet(ctx, zoneID, out)
}

// DeleteRecords implements dns.Provider.
func (p *provider) DeleteRecords(ctx context.Context, zoneID, name string, recordType dns.Type) (dns.Outcome, error) {
	return p.changeSet(ctx, zoneID, rrset{Name: name + ".", Type: string(recordType), ChangeType: "DELETE"})
}

// CheckRecords implements dns.Provider.
func (p *provider) CheckRecords(ctx context.Context, zoneID string, sets []dns.RecordSet) ([]dns.Check, error) {
	return p.checker.Check(ctx, dns.NormalizeName(zoneID), sets)
}
