package domain

import (
	"cmp"
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/sdk/dns"
)

// recheckAfter is how often records that cannot be seen are looked up again.
const recheckAfter = 15 * time.Minute

// maxCooldown is the longest pause that a provider which limits requests is given before an interrupted provisioning goes on.
const maxCooldown = 24 * time.Hour

// Recover carries on with what a crash, or a provider that failed in the middle of going back, has left open: a provisioning
// and the end of a catch-all go on, the beginning of a catch-all goes back, and a zone that is to be deleted is. If another
// provider is in use, the zone is left, and a domain that is active or disabled stays as it is. What fails is left for the next time; a
// provisioning waits while no provider is in use, and as long as one that limits requests has asked for.
func (d *Domains) Recover(ctx context.Context) error {
	pending, err := d.listPending(ctx)
	if err != nil {
		return err
	}
	for _, row := range pending {
		if err := d.recoverDomain(ctx, row.ID, row.Name); err != nil {
			d.cfg.Logger.Warn("what was begun with a mail domain could not be ended; it is tried again", "domain", row.Name, "operation", row.Operation, "error", err)
		}
	}
	return ctx.Err()
}

// recoverDomain ends the operation of a domain that nobody works on.
func (d *Domains) recoverDomain(ctx context.Context, id, name string) error {
	release, err := d.acquire(name)
	if err != nil {
		// It is not left over: somebody works on it.
		return nil
	}
	defer release()
	row, err := d.findAny(ctx, id)
	if err != nil {
		return err
	}
	row = d.assumePlugin(row)
	switch row.Operation {
	case opProvision:
		if c := d.cfg.Connect(); c.DNS == nil && row.Provider != "" {
			// It goes on when there is a provider again, or a person decides.
			return nil
		}
		if row.Status != ProvisioningError && hasOtherProvider(d.cfg.Connect(), row) {
			// Mail comes by the former provider, which only a person gives up.
			row.ProvisionError, row.Operation, row.Step = cmp.Or(row.ProvisionError, notFinished), "", ""
			return d.persist(ctx, &row)
		}
		if d.isCoolingDown(row) {
			return nil
		}
		return d.reprovisionDomain(ctx, d.cfg.Connect(), &row, false)
	case opCatchAllEnable, opCatchAllDisable:
		return d.resumeCatchAll(ctx, &row)
	case opDelete:
		if hasOtherProvider(d.cfg.Connect(), row) {
			d.cfg.Logger.Warn("the zone of a deleted mail domain is left at its former DNS provider", "domain", row.Name, "provider", row.Provider, "plugin", row.Plugin)
			return d.endDeletion(ctx, &row)
		}
		return d.deleteZone(ctx, &row)
	}
	return nil
}

// isCoolingDown reports whether the provider of a domain limits requests and has asked to be left alone until later.
func (d *Domains) isCoolingDown(row Domain) bool {
	wait := time.UnixMilli(row.RetryAt).Sub(d.cfg.Now())
	// Where it is longer, the clock was set back since.
	return wait > 0 && wait <= maxCooldown && !hasOtherProvider(d.cfg.Connect(), row)
}

// retryTime returns when a provider that limits requests may be asked again, in Unix milliseconds.
func (d *Domains) retryTime(limited error) int64 {
	return d.cfg.Now().Add(min(fault.As(limited).RetryAfter, maxCooldown)).UnixMilli()
}

// CheckRecords looks up the records of the domains that lack some, now and then.
func (d *Domains) CheckRecords(ctx context.Context) error {
	c := d.cfg.Connect()
	if c.DNS == nil {
		return nil
	}
	all, err := d.ListDomains(ctx)
	if err != nil {
		return err
	}
	for _, row := range all {
		if row.Status == Disabled || row.CheckedAt > d.cfg.Now().Add(-recheckAfter).UnixMilli() || !lacksRecords(row) {
			continue
		}
		_, err := d.change(ctx, row.ID, func(ctx context.Context, row *Domain) error {
			d.checkRecords(ctx, c, row)
			row.CheckedAt = d.cfg.Now().UnixMilli()
			return d.persist(ctx, row)
		})
		if err != nil {
			d.cfg.Logger.Debug("the records of a mail domain were not looked up", "domain", row.Name, "error", err)
		}
	}
	return ctx.Err()
}

// lacksRecords reports whether not all records of a domain can be seen.
func lacksRecords(row Domain) bool {
	for _, r := range row.Records() {
		if r.State != string(dns.Visible) && r.State != string(dns.Unneeded) {
			return true
		}
	}
	return false
}
