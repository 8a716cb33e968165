package dns

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/exchange"
	dnsv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/dns/v1"
)

// Client calls one instance over a connection to its plugin. Its errors are *errs.Error.
type Client struct {
	rpc      dnsv1.DNSClient
	instance string
}

var (
	_ Provider    = (*Client)(nil)
	_ ZoneCreator = (*Client)(nil)
	_ MailRouter  = (*Client)(nil)
)

// NewClient makes a client for an instance.
func NewClient(conn grpc.ClientConnInterface, instance string) *Client {
	return &Client{rpc: dnsv1.NewDNSClient(conn), instance: instance}
}

// Close does nothing; a client holds nothing open.
func (c *Client) Close() error { return nil }

// callInstance makes one call for the instance.
func callInstance[I, O any](ctx context.Context, c *Client, rpc func(context.Context, *I, ...grpc.CallOption) (*O, error),
	in *I) (*O, error) {
	out, err := rpc(metadata.AppendToOutgoingContext(ctx, exchange.MetaInstance, c.instance), in)
	if err != nil {
		return nil, errs.From(err)
	}
	return out, nil
}

// ListZones implements Provider.
func (c *Client) ListZones(ctx context.Context) ([]Zone, error) {
	out, err := callInstance(ctx, c, c.rpc.ListZones, &dnsv1.ListZonesRequest{})
	var zones []Zone
	for _, z := range out.GetZones() {
		zones = append(zones, *zoneFrom(z))
	}
	return zones, err
}

// FindZone implements Provider.
func (c *Client) FindZone(ctx context.Context, name string) (*Zone, error) {
	out, err := callInstance(ctx, c, c.rpc.FindZone, &dnsv1.FindZoneRequest{Name: name})
	if err != nil {
		return nil, err
	}
	return zoneFrom(out.GetZone()), nil
}

// CreateZone implements ZoneCreator.
func (c *Client) CreateZone(ctx context.Context, name string) (*Zone, bool, error) {
	out, err := callInstance(ctx, c, c.rpc.CreateZone, &dnsv1.CreateZoneRequest{Name: name})
	if err != nil {
		return nil, false, err
	}
	return zoneFrom(out.GetZone()), out.GetCreated(), nil
}

// DeleteZone implements ZoneCreator.
func (c *Client) DeleteZone(ctx context.Context, zoneID string) error {
	_, err := callInstance(ctx, c, c.rpc.DeleteZone, &dnsv1.DeleteZoneRequest{ZoneId: zoneID})
	return err
}

// ListRecords implements Provider.
func (c *Client) ListRecords(ctx context.Context, zoneID, name string, recordType Type) ([]RecordSet, error) {
	out, err := callInstance(ctx, c, c.rpc.ListRecords, &dnsv1.ListRecordsRequest{ZoneId: zoneID, Name: name, Type: typeProto(recordType)})
	var sets []RecordSet
	for _, s := range out.GetSets() {
		sets = append(sets, recordSetFrom(s))
	}
	return sets, err
}

// SetRecords implements Provider.
func (c *Client) SetRecords(ctx context.Context, zoneID string, set RecordSet) (Outcome, error) {
	out, err := callInstance(ctx, c, c.rpc.SetRecords, &dnsv1.SetRecordsRequest{ZoneId: zoneID, Set: set.toProto()})
	if err != nil {
		return "", err
	}
	return outcomeFrom(out.GetOutcome()), nil
}

// DeleteRecords implements Provider.
func (c *Client) DeleteRecords(ctx context.Context, zoneID, name string, recordType Type) (Outcome, error) {
	out, err := callInstance(ctx, c, c.rpc.DeleteRecords, &dnsv1.DeleteRecordsRequest{ZoneId: zoneID, Name: name, Type: typeProto(recordType)})
	if err != nil {
		return "", err
	}
	return outcomeFrom(out.GetOutcome()), nil
}

// CheckRecords implements Provider.
func (c *Client) CheckRecords(ctx context.Context, zoneID string, sets []RecordSet) ([]Check, error) {
	in := &dnsv1.CheckRecordsRequest{ZoneId: zoneID}
	for _, s := range sets {
		in.Sets = append(in.Sets, s.toProto())
	}
	out, err := callInstance(ctx, c, c.rpc.CheckRecords, in)
	var checks []Check
	for _, k := range out.GetChecks() {
		checks = append(checks, checkFrom(k))
	}
	return checks, err
}

// EnableRouting implements MailRouter.
func (c *Client) EnableRouting(ctx context.Context, zoneID, host string) error {
	_, err := callInstance(ctx, c, c.rpc.EnableRouting, &dnsv1.EnableRoutingRequest{ZoneId: zoneID, Host: host})
	return err
}

// DisableRouting implements MailRouter.
func (c *Client) DisableRouting(ctx context.Context, zoneID, host string) error {
	_, err := callInstance(ctx, c, c.rpc.DisableRouting, &dnsv1.DisableRoutingRequest{ZoneId: zoneID, Host: host})
	return err
}

// CreateRule implements MailRouter.
func (c *Client) CreateRule(ctx context.Context, zoneID, address string) (string, error) {
	out, err := callInstance(ctx, c, c.rpc.CreateRule, &dnsv1.CreateRuleRequest{ZoneId: zoneID, Address: address})
	return out.GetRuleId(), err
}

// DeleteRule implements MailRouter.
func (c *Client) DeleteRule(ctx context.Context, zoneID, ruleID string) error {
	_, err := callInstance(ctx, c, c.rpc.DeleteRule, &dnsv1.DeleteRuleRequest{ZoneId: zoneID, RuleId: ruleID})
	return err
}

// ReadCatchAll implements MailRouter.
func (c *Client) ReadCatchAll(ctx context.Context, zoneID string) ([]byte, error) {
	out, err := callInstance(ctx, c, c.rpc.ReadCatchAll, &dnsv1.ReadCatchAllRequest{ZoneId: zoneID})
	return out.GetSnapshot(), err
}

// SetCatchAll implements MailRouter.
func (c *Client) SetCatchAll(ctx context.Context, zoneID string) error {
	_, err := callInstance(ctx, c, c.rpc.SetCatchAll, &dnsv1.SetCatchAllRequest{ZoneId: zoneID})
	return err
}

// RestoreCatchAll implements MailRouter.
func (c *Client) RestoreCatchAll(ctx context.Context, zoneID string, snapshot []byte) error {
	_, err := callInstance(ctx, c, c.rpc.RestoreCatchAll, &dnsv1.RestoreCatchAllRequest{ZoneId: zoneID, Snapshot: snapshot})
	return err
}
