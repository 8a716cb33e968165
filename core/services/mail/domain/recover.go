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

// MaxCooldown is the longest pause that a provider which limits requests is given before recovery goes on.
const MaxCooldown = 24 * time.Hour

// Recover carries on with what a crash, or a provider that failed in the middle of going back, has left open: a provisioning
// and the end of a catch-all go on, the beginning of a catch-all goes back, and a zone that is to be deleted is. If another
// provider is in use, the zone is left, and a domain that is active or disabled stays as it is. What fails is left for a later time: a
// provider that limits requests is left alone as long as it has asked for, and the end of a catch-all or of a deletion is tried again after
// a minute at first and an hour at most. A provisioning waits while no provider is in use.
func (d *Domains) Recover(ctx context.Context) error {
	pending, err := d.listPending(ctx)
	if err != nil {
		return err
	}
	for _, row := range pending {
		if err := d.recoverDomain(ctx, row.ID, row.Name); err != nil {
			d.cfg.Logger.Warn("cannot finish a domain operation, retrying", "domain", row.Name, "operation",
				row.Operation, "error", err)
		}
	}
	return ctx.Err()
}

// recoverDomain ends the operation of a domain that nobody works on.
func (d *Domains) recoverDomain(ctx context.Context, id, name string) error {
	lock, err := d.lockDomain(ctx, name)
	if isBusy(err) {
		return nil // it is not left over
	}
	if err != nil {
		return err
	}
	defer lock.Release()
	ctx = lock.Hold(ctx)
	row, err := d.findAny(ctx, id)
	if err != nil {
		return err
	}
	row = d.assumePlugin(row)
	if d.isPostponed(row) {
		return nil
	}
	// What is noted from now on is what this attempt meets.
	row.RetryAt = 0
	switch row.Operation {
	case opProvision:
		return d.resumeProvisioning(ctx, &row)
	case opCatchAllEnable, opCatchAllDisable:
		err = d.resumeCatchAll(ctx, &row)
	case opDelete:
		err = d.resumeDeletion(ctx, &row)
	}
	return d.postponeRecovery(ctx, &row, err)
}

// resumeProvisioning goes on with a provisioning, unless that waits for a person or a provider.
func (d *Domains) resumeProvisioning(ctx context.Context, row *Domain) error {
	c := d.cfg.Connect()
	if c.DNS == nil && row.Provider != "" {
		// It goes on when there is a provider again, or a person decides.
		return nil
	}
	if row.Status != ProvisioningError && hasOtherProvider(c, *row) {
		// Mail comes by the former provider, which only a person gives up.
		row.endOperation()
		row.ProvisionError = cmp.Or(row.ProvisionError, notFinished)
		return d.persistDomain(ctx, row)
	}
	return d.reprovisionDomain(ctx, c, row, false)
}

// resumeDeletion goes on with a deletion. A zone at a former provider is left there.
func (d *Domains) resumeDeletion(ctx context.Context, row *Domain) error {
	if hasOtherProvider(d.cfg.Connect(), *row) {
		d.cfg.Logger.Warn("zone of a deleted domain stays at its DNS provider", "domain", row.Name, "provider", row.Provider,
			"plugin", row.Plugin)
		return d.endDeletion(ctx, row)
	}
	return d.deleteZone(ctx, row)
}

// isPostponed reports whether recovery leaves a domain alone until later. What a former provider has asked for says nothing about the
// next one.
func (d *Domains) isPostponed(row Domain) bool {
	wait := time.UnixMilli(row.RetryAt).Sub(d.cfg.Now())
	// Where it is longer, the clock was set back since.
	return wait > 0 && wait <= MaxCooldown && !hasOtherProvider(d.cfg.Connect(), row)
}

// postponeRecovery notes in a domain why recovery could not end its operation, and when that is tried again. A deleted domain is listed
// again, as a disabled one, since somebody may have to do something. It returns the failure, or nil if that is known already and nobody
// was asked.
func (d *Domains) postponeRecovery(ctx context.Context, row *Domain, failed error) error {
	if failed == nil || ctx.Err() != nil || row.Operation == "" {
		return failed
	}
	why, pause := pendingError(row.Operation, failed), max(RetryPause(row.RecoveryTries, time.Hour), fault.As(failed).RetryAfter)
	if isReplaced(failed) {
		// It goes on when the provider of the domain is in use again.
		if pause = 0; row.ProvisionError == why && row.DeletedAt == 0 {
			return nil
		}
	}
	row.ProvisionError, row.DeletedAt = why, 0
	// A limit that was met on the way may ask for more.
	row.RetryAt, row.RecoveryTries = max(row.RetryAt, d.retryTime(pause)), row.RecoveryTries+1
	return cmp.Or(d.persistDomain(ctx, row), failed)
}

// pendingError returns what a person is told of an operation that recovery could not end.
func pendingError(operation string, failed error) string {
	what := "What the DNS provider did before the catch-all could not be restored"
	if operation == opDelete {
		what = "The domain could not be deleted"
	}
	return what + ", which is tried again: " + operatorMessage(failed)
}

// RetryPause returns the pause after a failure that others have preceded: a minute at first, then twice as long each time up to the
// longest, which is a day at most.
func RetryPause(failures int, longest time.Duration) time.Duration {
	return min(time.Minute<<min(failures, 11), longest)
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
		_, err := d.changeDomain(ctx, row.ID, func(ctx context.Context, row *Domain) error {
			d.checkRecords(ctx, c, row)
			row.CheckedAt = d.cfg.Now().UnixMilli()
			return d.persistDomain(ctx, row)
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
