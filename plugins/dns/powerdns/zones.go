package powerdns

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/internal/jsonapi"
	"github.com/patchbay-dev/patchbay/sdk/dns"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// zone is a zone in the words of the API. Names end with a dot.
type zone struct {
	ID          string   `json:"id,omitempty"`
	Name        string   `json:"name"`
	Kind        string   `json:"kind,omitempty"`
	NameServers []string `json:"nameservers,omitempty"`
	Sets        []rrset  `json:"rrsets,omitempty"`
}

func (z zone) toZone(nameServers []string) dns.Zone {
	return dns.Zone{ID: z.ID, Name: dns.NormalizeName(z.Name), NameServers: nameServers}
}

// callAPI makes a request about zones. A zone that does not exist is NoZone.
func (p *provider) callAPI(ctx context.Context, method, zoneID string, query url.Values, body, out any) error {
	path := []string{"api", "v1", "servers", p.cfg.ServerID, "zones"}
	if zoneID != "" {
		path = append(path, zoneID)
	}
	err := p.api.Do(ctx, jsonapi.Call{Method: method, Path: path, Query: query, Body: body}, out)
	e := errs.From(err)
	switch {
	case err == nil:
		return nil
	case e.Code == codes.NotFound && zoneID != "":
		return dns.NoZone(zoneID)
	case e.Code == codes.InvalidArgument && zoneID != "" && strings.Contains(e.Message, "Could not find domain"):
		return dns.NoZone(zoneID)
	case e.Code == codes.InvalidArgument && strings.Contains(strings.ToLower(e.Message), "conflict"):
		return dns.Conflict("%s", e.Message)
	}
	return err
}

func (p *provider) listZones(ctx context.Context, query url.Values) ([]dns.Zone, error) {
	var found []zone
	if err := p.callAPI(ctx, http.MethodGet, "", query, nil, &found); err != nil {
		return nil, err
	}
	var out []dns.Zone
	for _, z := range found {
		if z.ID == "" || z.Name == "" {
			return nil, errs.Unavailable(errs.ReasonProtocol, "the list of zones has one without an id or a name")
		}
		out = append(out, z.toZone(nil))
	}
	return out, nil
}

// ListZones implements dns.Provider.
func (p *provider) ListZones(ctx context.Context) ([]dns.Zone, error) {
	return p.listZones(ctx, url.Values{"dnssec": {"false"}})
}

// FindZone implements dns.Provider.
func (p *provider) FindZone(ctx context.Context, name string) (*dns.Zone, error) {
	zones, err := p.ListZones(ctx)
	if err != nil {
		return nil, err
	}
	return dns.LongestZone(zones, name)
}

// CreateZone implements dns.ZoneCreator.
func (p *provider) CreateZone(ctx context.Context, name string) (*dns.Zone, bool, error) {
	if len(p.cfg.NameServers) == 0 {
		return nil, false, dns.NotConfigured("name_servers")
	}
	var servers, plain []string
	for _, s := range p.cfg.NameServers {
		plain = append(plain, dns.NormalizeName(s))
		servers = append(servers, dns.NormalizeName(s)+".")
	}
	var made zone
	err := p.callAPI(ctx, http.MethodPost, "", nil, zone{Name: name + ".", Kind: p.cfg.ZoneKind, NameServers: servers}, &made)
	if e := errs.From(err); e != nil && e.Code == codes.AlreadyExists {
		zones, listErr := p.listZones(ctx, url.Values{"zone": {name + "."}})
		if listErr != nil || len(zones) != 1 {
			return nil, false, err
		}
		return &zones[0], false, nil
	}
	if err != nil {
		return nil, false, err
	}
	out := made.toZone(plain)
	return &out, true, nil
}

// DeleteZone implements dns.ZoneCreator.
func (p *provider) DeleteZone(ctx context.Context, zoneID string) error {
	err := p.callAPI(ctx, http.MethodDelete, zoneID, nil, nil, nil)
	if e := errs.From(err); e != nil && e.Reason == dns.ReasonNoZone {
		return nil
	}
	return err
}
