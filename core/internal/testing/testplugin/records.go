package testplugin

import (
	"context"

	"github.com/patchbay-dev/patchbay/sdk/dns"
)

// records is a DNS provider that answers with what it was asked with.
type records struct{ wellbeing }

// ListZones implements dns.Provider.
func (records) ListZones(context.Context) ([]dns.Zone, error) {
	return []dns.Zone{{ID: "1", Name: "example.com", Status: "active", NameServers: []string{"ns1.example.net"}}}, nil
}

// FindZone implements dns.Provider.
func (records) FindZone(ctx context.Context, name string) (*dns.Zone, error) {
	return &dns.Zone{ID: "1", Name: name}, endAs(ctx, name)
}

// CreateZone implements dns.ZoneCreator.
func (records) CreateZone(ctx context.Context, name string) (*dns.Zone, bool, error) {
	return &dns.Zone{ID: "2", Name: name}, true, endAs(ctx, name)
}

// DeleteZone implements dns.ZoneCreator.
func (records) DeleteZone(ctx context.Context, zoneID string) error { return endAs(ctx, zoneID) }

// ListRecords implements dns.Provider.
func (records) ListRecords(ctx context.Context, zoneID, name string, t dns.Type) ([]dns.RecordSet, error) {
	return []dns.RecordSet{{Name: name, Type: t, TTL: 60, Values: []string{zoneID}}}, endAs(ctx, zoneID)
}

// SetRecords implements dns.Provider.
func (records) SetRecords(ctx context.Context, zoneID string, _ dns.RecordSet) (dns.Outcome, error) {
	return dns.PendingManual, endAs(ctx, zoneID)
}

// DeleteRecords implements dns.Provider.
func (records) DeleteRecords(ctx context.Context, zoneID, _ string, _ dns.Type) (dns.Outcome, error) {
	return dns.Applied, endAs(ctx, zoneID)
}

// CheckRecords implements dns.Provider.
func (records) CheckRecords(ctx context.Context, zoneID string, sets []dns.RecordSet) (out []dns.Check, err error) {
	for _, s := range sets {
		seen := dns.Observation{Server: "ns1", Values: s.Values, TTL: s.TTL, Problem: "as asked"}
		out = append(out, dns.Check{Name: s.Name, Type: s.Type, Visibility: dns.Different, Observations: []dns.Observation{seen}})
	}
	return out, endAs(ctx, zoneID)
}

// EnableRouting implements dns.MailRouter.
func (records) EnableRouting(ctx context.Context, zoneID, _ string) error { return endAs(ctx, zoneID) }

// DisableRouting implements dns.MailRouter.
func (records) DisableRouting(ctx context.Context, zoneID, _ string) error { return endAs(ctx, zoneID) }

// CreateRule implements dns.MailRouter.
func (records) CreateRule(ctx context.Context, zoneID, address string) (string, error) {
	return "rule of " + address, endAs(ctx, zoneID)
}

// DeleteRule implements dns.MailRouter.
func (records) DeleteRule(ctx context.Context, zoneID, _ string) error { return endAs(ctx, zoneID) }

// ReadCatchAll implements dns.MailRouter.
func (records) ReadCatchAll(ctx context.Context, zoneID string) ([]byte, error) {
	return []byte("snapshot"), endAs(ctx, zoneID)
}

// SetCatchAll implements dns.MailRouter.
func (records) SetCatchAll(ctx context.Context, zoneID string) error { return endAs(ctx, zoneID) }

// RestoreCatchAll implements dns.MailRouter.
func (records) RestoreCatchAll(_ context.Context, _ string, snapshot []byte) error {
	if string(snapshot) != "snapshot" {
		return dns.InvalidRequest("the snapshot is not the one that was read")
	}
	return nil
}
