package domain

import (
	"cmp"
	"context"
	"slices"

	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/sdk/dns"
)

// What a domain tells of a catch-all that cannot be restored, since the provider does not have any more what it was restored in.
const (
	zoneGone     = "The DNS provider does not have the zone of the domain any more: make the zone there and try the domain again, or delete it."
	catchAllGone = "The DNS provider did not find the catch-all that was to be restored: set at the provider what is to become of mail without a mailbox."
)

// restoreCatchAll has the provider do again what it did before the catch-all of a domain. Where the provider says that what is to be restored does
// not exist any more, that is the end of it: the operation ends, and the domain tells so.
func (d *Domains) restoreCatchAll(ctx context.Context, c Connection, row *Domain) error {
	failed := explainFailure(c.DNS.RestoreCatchAll(ctx, row.ZoneID, row.CatchAllSnapshot))
	if failed = d.forgetGoneZone(ctx, c, row, failed); !isMissing(failed) {
		return failed
	}
	d.cfg.Logger.Warn("there is no catch-all of a mail domain any more that could be restored", "domain", row.Name, "error", failed)
	row.endOperation()
	row.ProvisionError = catchAllGone
	return nil
}

// forgetGoneZone ends what goes on with the zone of a domain, if the provider has refused it and does not list the zone any more. The domain is in
// error then. Otherwise it returns the failure. That the name is found in another zone, such as one of another account, says nothing about this one.
func (d *Domains) forgetGoneZone(ctx context.Context, c Connection, row *Domain, failed error) error {
	if !isMissing(failed) && client.CauseOf(failed) != client.CauseRefused {
		return failed
	}
	if listed, err := listsZone(ctx, c, *row); err != nil || listed {
		return cmp.Or(err, failed)
	}
	d.cfg.Logger.Warn("the DNS provider does not have the zone of a mail domain any more", "domain", row.Name, "zone", row.ZoneID)
	former := *row
	row.endOperation()
	row.ProvisionError = zoneGone
	if row.Status == Active {
		row.Status = ProvisioningError
	}
	if err := d.forgetZone(ctx, row); err != nil {
		*row = former
		return err
	}
	return nil
}

// listsZone reports whether the provider of a domain has its zone.
func listsZone(ctx context.Context, c Connection, row Domain) (bool, error) {
	zones, err := c.DNS.ListZones(ctx)
	return slices.ContainsFunc(zones, func(z dns.Zone) bool { return z.ID == row.ZoneID }), explainFailure(err)
}
