package domain

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/sdk/dns"
)

// errZoneUnlisted is in the chain of errors about a zone that the provider does not list any more. Whether the zone was deleted there, or
// is hidden from the credentials, is not to be told from what a provider answers: nothing is forgotten until it shows another zone of the
// name.
var errZoneUnlisted = errors.New("the DNS provider does not list the zone")

func errUnlisted() error {
	return fault.Wrap(errZoneUnlisted, fault.Conflict,
		"The DNS provider does not list the zone of the domain any more. If its credentials lack the permission, grant it again. "+
			"If the zone was deleted there, make it again, and then use \"Check again\". To give the zone up, use \"Check again\" and then \"Disable\".")
}

// explainUnlistedZone returns the failure of a request about the zone of a domain. It is errZoneUnlisted if the provider has refused the
// request, and does not list the zone any more. That the name is found in another zone, such as one of another account, says nothing
// about this one.
func explainUnlistedZone(ctx context.Context, c Connection, row Domain, failed error) error {
	switch client.CauseOf(failed) {
	case client.CauseMissing, client.CauseDenied, client.CauseRefused:
	default:
		return failed
	}
	if listed, err := listsZone(ctx, c, row); err != nil || listed {
		return cmp.Or(err, failed)
	}
	return errUnlisted()
}

// replaceUnlistedZone is moveToOtherZone for a domain whose catch-all is to be taken back. Without another zone the domain is in error.
func (p *provisioner) replaceUnlistedZone(ctx context.Context, c Connection, row *Domain, create bool) error {
	failed := p.moveToOtherZone(ctx, c, row, create)
	if failed == nil {
		return nil
	}
	if isRefusal(failed) {
		row.Status, row.ProvisionError = ProvisioningError, operatorMessage(failed)
	}
	p.noteLimit(row, failed)
	return cmp.Or(p.persistDomain(ctx, row), failed)
}

// leaveUnlistedZone is moveToOtherZone for a domain that could not be provisioned. It reports true if the domain has another zone now,
// and false with the failure if the provider lists the zone, or there is no other one.
func (p *provisioner) leaveUnlistedZone(ctx context.Context, c Connection, row *Domain, create bool, failed error) (moved bool, err error) {
	if !errors.Is(explainUnlistedZone(ctx, c, *row, failed), errZoneUnlisted) {
		return false, failed
	}
	err = p.moveToOtherZone(ctx, c, row, create)
	if err != nil && !isRefusal(failed) {
		// A domain that works as before stays active.
		err = failed
	}
	return err == nil, err
}

// moveToOtherZone gives a domain another zone than one that the provider does not list any more: the zone that it has of the name, or,
// for a domain that is bound, a new one. What the domain had in the former zone is forgotten then, and its provisioning has begun.
// Without another zone all of it is kept.
func (p *provisioner) moveToOtherZone(ctx context.Context, c Connection, row *Domain, create bool) error {
	zone, created, err := p.findOtherZone(ctx, c, *row, create)
	if err != nil {
		return err
	}
	p.cfg.Logger.Warn("zone replaced at the DNS provider", "domain", row.Name, "former",
		row.ZoneID, "zone", zone.ID)
	former := *row
	row.endOperation()
	row.beginOperation(opProvision)
	row.Status, row.ProvisionError = ProvisioningError, notFinished
	if err := p.forgetZone(ctx, row); err != nil {
		*row = former
		return err
	}
	row.useZone(zone, created)
	return nil
}

// findOtherZone returns the zone that the provider has of the name of a domain, or makes one. The zone of the domain, which may be listed
// again by now, is no other one.
func (p *provisioner) findOtherZone(ctx context.Context, c Connection, row Domain, create bool) (zone *dns.Zone, created bool, err error) {
	can, err := c.DNS.Describe()
	if err != nil {
		return nil, false, explainFailure(err)
	}
	if create && can.CreateZones {
		zone, created, err = c.DNS.CreateZone(ctx, row.Name)
		if err != nil {
			return nil, false, explainFailure(err)
		}
		if created || zone.ID != row.ZoneID {
			return zone, created, nil
		}
		return nil, false, errUnlisted()
	}
	zones, err := c.DNS.ListZones(ctx)
	if err != nil {
		return nil, false, explainFailure(err)
	}
	for _, z := range zones {
		if z.Name == row.Name && z.ID != row.ZoneID {
			return &z, false, nil
		}
	}
	return nil, false, errUnlisted()
}

// listsZone reports whether the provider of a domain has its zone.
func listsZone(ctx context.Context, c Connection, row Domain) (bool, error) {
	zones, err := c.DNS.ListZones(ctx)
	return slices.ContainsFunc(zones, func(z dns.Zone) bool { return z.ID == row.ZoneID }), explainFailure(err)
}
