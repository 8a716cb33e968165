package cloudflare

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/patchbay-dev/patchbay/sdk/dns"
	"github.com/patchbay-dev/patchbay/sdk/dns/dnsrr"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// The TTLs of the API, in seconds. automaticTTL leaves it to Cloudflare.
const (
	automaticTTL = 1
	minTTL       = 60
	maxTTL       = 86_400
)

// record is a record in the words of the API, in which a set is several of them.
type record struct {
	ID       string  `json:"id,omitempty"`
	Name     string  `json:"name,omitempty"`
	Type     string  `json:"type,omitempty"`
	Content  string  `json:"content,omitempty"`
	TTL      int     `json:"ttl,omitempty"`
	Priority *uint16 `json:"priority,omitempty"`
	Proxied  *bool   `json:"proxied,omitempty"`
}

// setValue returns the value of a record as a set has it.
func (r record) setValue() (string, error) {
	recordType := dns.Type(r.Type)
	switch {
	case recordType == dns.MX && r.Priority == nil:
		return "", errs.Unavailable(errs.ReasonProtocol, "the MX record of %s has no priority", r.Name)
	case recordType == dns.MX:
		return dns.NormalizeValue(dns.MX, strconv.Itoa(int(*r.Priority))+" "+r.Content)
	case recordType == dns.TXT && strings.HasPrefix(r.Content, `"`):
		return dnsrr.ValueOfContent(dns.TXT, r.Content)
	}
	return dns.NormalizeValue(recordType, r.Content)
}

// newRecords returns the records of a set.
func newRecords(set dns.RecordSet) (map[string]record, error) {
	contents, err := dnsrr.Contents(set)
	if err != nil {
		return nil, err
	}
	ttl := automaticTTL
	if set.TTL > 0 {
		ttl = min(max(set.TTL, minTTL), maxTTL)
	}
	out := map[string]record{}
	for i, value := range set.Values {
		r := record{Name: set.Name, Type: string(set.Type), Content: strings.TrimSuffix(contents[i], "."), TTL: ttl}
		switch set.Type {
		case dns.MX:
			preference, host, err := dns.SplitMX(value)
			if err != nil {
				return nil, err
			}
			r.Priority, r.Content = &preference, host
		case dns.TXT:
			r.Content = contents[i]
		default:
			r.Proxied = new(bool)
		}
		out[value] = r
	}
	return out, nil
}

// listRecords returns the records of a name and type; empty ones mean all.
func (p *provider) listRecords(ctx context.Context, zoneID, name string, recordType dns.Type) ([]record, error) {
	query := url.Values{}
	if name != "" {
		query.Set("name", name)
	}
	if recordType != "" {
		query.Set("type", string(recordType))
	}
	found, err := listAll[record](ctx, p, []string{"zones", zoneID, "dns_records"}, query)
	if isMissing(err) {
		return nil, dns.NoZone(zoneID)
	}
	return slices.DeleteFunc(found, func(r record) bool {
		return !slices.Contains(dns.Types(), dns.Type(r.Type)) || name != "" && dns.NormalizeName(r.Name) != name || recordType != "" &&
			r.Type != string(recordType)
	}), err
}

// ListRecords implements dns.Provider.
func (p *provider) ListRecords(ctx context.Context, zoneID, name string, recordType dns.Type) ([]dns.RecordSet, error) {
	found, err := p.listRecords(ctx, zoneID, name, recordType)
	if err != nil {
		return nil, err
	}
	var out []dns.RecordSet
	for _, r := range found {
		value, err := r.setValue()
		if err != nil {
			return nil, errs.Unavailable(errs.ReasonProtocol, "the record %s %s cannot be read: %v", r.Name, r.Type, err)
		}
		owner := dns.NormalizeName(r.Name)
		i := slices.IndexFunc(out, func(s dns.RecordSet) bool { return s.Name == owner && string(s.Type) == r.Type })
		if i < 0 {
			i = len(out)
			out = append(out, dns.RecordSet{Name: owner, Type: dns.Type(r.Type), TTL: r.TTL})
			if r.TTL == automaticTTL {
				out[i].TTL = 0
			}
		}
		out[i].Values = append(out[i].Values, value)
	}
	return out, nil
}

// batch is several changes of records, of which all are made or none.
type batch struct {
	Deletes []record `json:"deletes,omitempty"`
	Puts    []record `json:"puts,omitempty"`
	Posts   []record `json:"posts,omitempty"`
}

func (p *provider) sendBatch(ctx context.Context, zoneID string, b batch) error {
	if len(b.Deletes)+len(b.Puts)+len(b.Posts) == 0 {
		return nil
	}
	err := p.inZone(ctx, http.MethodPost, zoneID, []string{"dns_records", "batch"}, b, nil)
	if hasCode(err, codeHostExists, codeCNAMEExists) {
		return dns.Conflict("%s", errs.From(err).Message)
	}
	return err
}

// SetRecords implements dns.Provider: what is there already stays, and all else is changed at once.
func (p *provider) SetRecords(ctx context.Context, zoneID string, set dns.RecordSet) (dns.Outcome, error) {
	wanted, err := newRecords(set)
	if err != nil {
		return "", err
	}
	found, err := p.listRecords(ctx, zoneID, set.Name, set.Type)
	if err != nil {
		return "", err
	}
	var b batch
	for _, r := range found {
		value, err := r.setValue()
		want, ok := wanted[value]
		if err != nil || !ok {
			b.Deletes = append(b.Deletes, record{ID: r.ID})
			continue
		}
		delete(wanted, value)
		if r.TTL != want.TTL || r.Proxied != nil && *r.Proxied {
			want.ID = r.ID
			b.Puts = append(b.Puts, want)
		}
	}
	for _, value := range set.Values {
		if r, ok := wanted[value]; ok {
			b.Posts = append(b.Posts, r)
		}
	}
	return dns.Applied, p.sendBatch(ctx, zoneID, b)
}

// DeleteRecords implements dns.Provider.
func (p *provider) DeleteRecords(ctx context.Context, zoneID, name string, recordType dns.Type) (dns.Outcome, error) {
	found, err := p.listRecords(ctx, zoneID, name, recordType)
	if err != nil {
		return "", err
	}
	var b batch
	for _, r := range found {
		b.Deletes = append(b.Deletes, record{ID: r.ID})
	}
	return dns.Applied, p.sendBatch(ctx, zoneID, b)
}
