package cloudflare

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/patchbay-dev/patchbay/sdk/dns"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// zone is a zone in the words of the API.
type zone struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Status      string   `json:"status"`
	NameServers []string `json:"name_servers"`
}

func (z zone) toZone() (*dns.Zone, error) {
	if z.ID == "" || z.Name == "" {
		return nil, errs.Unavailable(errs.ReasonProtocol, "the API answers with a zone without an id or a name")
	}
	return &dns.Zone{ID: z.ID, Name: dns.NormalizeName(z.Name), Status: z.Status, NameServers: z.NameServers}, nil
}

func (p *provider) listZones(ctx context.Context, query url.Values) ([]dns.Zone, error) {
	found, err := listAll[zone](ctx, p, []string{"zones"}, query)
	if err != nil {
		return nil, err
	}
	var out []dns.Zone
	for _, f := range found {
		z, err := f.toZone()
		if err != nil {
			return nil, err
		}
		out = append(out, *z)
	}
	return out, nil
}

// ListZones implements dns.Provider.
func (p *provider) ListZones(ctx context.Context) ([]dns.Zone, error) { return p.listZones(ctx, nil) }

// FindZone implements dns.Provider: name and those above it are asked for, the longest first.
func (p *provider) FindZone(ctx context.Context, name string) (*dns.Zone, error) {
	for candidate := strings.TrimPrefix(name, "*."); strings.Contains(candidate, "."); {
		zones, err := p.listZones(ctx, url.Values{"name": {candidate}})
		if err != nil {
			return nil, err
		}
		for _, z := range zones {
			if z.Name == candidate {
				return &z, nil
			}
		}
		_, candidate, _ = strings.Cut(candidate, ".")
	}
	return nil, dns.NoZone(name)
}

// readZone returns the zone of an id.
func (p *provider) readZone(ctx context.Context, zoneID string) (*dns.Zone, error) {
	var found zone
	if err := p.inZone(ctx, http.MethodGet, zoneID, nil, nil, &found); err != nil {
		return nil, err
	}
	return found.toZone()
}

type newZone struct {
	Account struct {
		ID string `json:"id"`
	} `json:"account"`
	Name string `json:"name"`
	Type string `json:"type"`
}

// CreateZone implements dns.ZoneCreator.
func (p *provider) CreateZone(ctx context.Context, name string) (*dns.Zone, bool, error) {
	if p.cfg.AccountID == "" {
		return nil, false, dns.NotConfigured("account_id")
	}
	body := newZone{Name: name, Type: "full"}
	body.Account.ID = p.cfg.AccountID
	var made zone
	_, err := p.callAPI(ctx, http.MethodPost, []string{"zones"}, nil, body, &made)
	if hasCode(err, codeZoneExists) {
		zones, listErr := p.listZones(ctx, url.Values{"name": {name}})
		if listErr != nil {
			return nil, false, listErr
		}
		if len(zones) == 0 {
			return nil, false, dns.Conflict("another account has the zone %s", name)
		}
		return &zones[0], false, nil
	}
	if err != nil {
		return nil, false, err
	}
	out, err := made.toZone()
	return out, err == nil, err
}

// DeleteZone implements dns.ZoneCreator.
func (p *provider) DeleteZone(ctx context.Context, zoneID string) error {
	err := p.inZone(ctx, http.MethodDelete, zoneID, nil, nil, nil)
	if e := errs.From(err); e != nil && e.Reason == dns.ReasonNoZone {
		return nil
	}
	return err
}

// CheckRecords implements dns.Provider.
func (p *provider) CheckRecords(ctx context.Context, zoneID string, sets []dns.RecordSet) ([]dns.Check, error) {
	zone, err := p.readZone(ctx, zoneID)
	if err != nil {
		return nil, err
	}
	return p.checker.Check(ctx, zone.Name, sets)
}
