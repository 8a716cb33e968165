package domain

import (
	"cmp"
	"context"
	"errors"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// zoneGivenUp is what a domain tells whose zone a person has given up.
const zoneGivenUp = "Patchbay stopped managing the DNS zone of this domain. " +
	"If your DNS provider still has it, check there how mail to the domain is routed."

// Disable ends that mailboxes are made on a domain. Those that there are go on receiving. Its catch-all ends first. A provisioning that was
// interrupted does not go on. A domain in error whose zone the provider does not list any more gives the zone up when that was told before.
func (d *Domains) Disable(ctx context.Context, id string) (Domain, error) {
	return d.changeDomain(ctx, id, func(ctx context.Context, row *Domain) error {
		if row.Status == Disabled && row.Operation != opProvision {
			return nil
		}
		if err := d.endCatchAllOrZone(context.WithoutCancel(ctx), row); err != nil {
			return err
		}
		if row.Operation == opProvision {
			// A crash has interrupted it, and it would make the domain active.
			row.endOperation()
		}
		row.Status, row.DisabledAt = Disabled, d.cfg.Now().UnixMilli()
		return d.persistDomain(ctx, row)
	})
}

// endCatchAllOrZone ends the catch-all of a domain. Where a person has tried that before, or has checked the domain, and was told that
// the provider does not list the zone any more, the domain is left without the zone.
func (d *Domains) endCatchAllOrZone(ctx context.Context, row *Domain) error {
	enabling := row.Operation == opCatchAllEnable
	told := row.Status == ProvisioningError && (enabling || row.Operation == opCatchAllDisable)
	err := d.endCatchAll(ctx, row)
	if told && enabling {
		// What fails otherwise is tried again.
		if failed := d.resumeCatchAll(ctx, row); errors.Is(failed, errZoneUnlisted) {
			err = failed
		}
	}
	if !told || !errors.Is(err, errZoneUnlisted) {
		return err
	}
	d.cfg.Logger.Warn("zone removed at the DNS provider, dropping it", "domain", row.Name, "zone",
		row.ZoneID)
	row.endOperation()
	row.ProvisionError = zoneGivenUp
	return d.forgetZone(ctx, row)
}

// Delete deletes the zone that was made for a domain, and then hides the domain. A zone of the catalog stays, with its records. It
// refuses a domain with mailboxes that are not destroyed. It may be repeated. A failure leaves the domain as it was: also one whose
// deletion recovery tries again.
func (d *Domains) Delete(ctx context.Context, id string) error {
	if row, err := d.findAny(ctx, id); err != nil || row.DeletedAt != 0 {
		return err
	}
	_, err := d.changeDomain(ctx, id, func(ctx context.Context, row *Domain) error {
		if err := checkDeletable(*row); err != nil {
			return err
		}
		former := *row
		ctx = context.WithoutCancel(ctx)
		if err := d.hide(ctx, row); err != nil {
			return err
		}
		failed := d.deleteZone(ctx, row)
		if failed == nil {
			return nil
		}
		*row = former
		if row.Operation == opDelete {
			d.noteLimit(row, failed)
		}
		if err := d.persistDomain(ctx, row); err != nil {
			return err
		}
		return failed
	})
	return err
}

// checkDeletable refuses a domain of the settings, which would come back, and one whose catch-all is on.
func checkDeletable(row Domain) error {
	switch {
	case row.Binding == FromSettings:
		return fault.New(fault.Conflict, "This mail domain is listed in plugin.hcl: remove it from domains there, and disable it here.")
	case row.CatchAll:
		return fault.New(fault.Conflict, "The catch-all of the mail domain is on: disable it first.")
	}
	return nil
}

// hide marks a domain as deleted, if it has no mailbox left.
func (d *Domains) hide(ctx context.Context, row *Domain) error {
	return d.writeAsHolder(ctx, "delete mail domain", func(ctx context.Context) error {
		// Whoever makes a mailbox now waits, and then finds the domain deleted.
		if _, err := d.LockDomain(ctx, row.ID); err != nil {
			return err
		}
		n, err := d.cfg.Mailboxes.CountLive(ctx, row.ID)
		if err != nil {
			return err
		}
		if n > 0 {
			return fault.New(fault.Conflict, "The mail domain has %d mailboxes that are not destroyed: delete them first.", n).With("mailboxes", n)
		}
		now := d.cfg.Now().UnixMilli()
		row.beginOperation(opDelete)
		row.Status, row.DeletedAt, row.DisabledAt, row.UpdatedAt = Disabled, now, now, now
		return d.save(ctx, row)
	})
}

// deleteZone deletes the zone of a hidden domain, if it was made here, and ends the operation.
func (d *Domains) deleteZone(ctx context.Context, row *Domain) error {
	if row.Binding == FromBind && row.ZoneID != "" {
		if err := d.removeZone(ctx, *row); err != nil {
			return err
		}
	}
	return d.endDeletion(ctx, row)
}

// removeZone deletes the zone of a domain at its provider. That there is none any more is no error.
func (d *Domains) removeZone(ctx context.Context, row Domain) error {
	c := d.cfg.Connect()
	if err := sameProvider(c, row); err != nil {
		return err
	}
	if err := c.DNS.DeleteZone(ctx, row.ZoneID); !isMissing(err) {
		return explainFailure(err)
	}
	return nil
}

// endDeletion hides a domain that has no zone any more for good.
func (d *Domains) endDeletion(ctx context.Context, row *Domain) error {
	row.endOperation()
	row.ZoneID, row.DeletedAt = "", cmp.Or(row.DeletedAt, d.cfg.Now().UnixMilli())
	return d.persistDomain(ctx, row)
}
