package domain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// maxPattern is the longest pattern of a catch-all, in bytes.
const maxPattern = 500

// catchAlls switches the catch-alls of domains on and off.
type catchAlls struct {
	*journal
	*router
}

// EnableCatchAll has mail to all addresses of a domain, or to those whose local part matches the pattern, make mailboxes, which
// belong to the owner. What the provider did with such mail is kept, to be restored. On a domain whose catch-all is on it
// changes the pattern.
func (a *catchAlls) EnableCatchAll(ctx context.Context, id, ownerID, pattern string) (Domain, error) {
	if err := checkPattern(pattern); err != nil {
		return Domain{}, err
	}
	return a.changeDomain(ctx, id, func(ctx context.Context, row *Domain) error {
		// It may end with a domain that is not active any more.
		if err := a.resumeCatchAll(context.WithoutCancel(ctx), row); err != nil {
			return err
		}
		if row.Status != Active {
			return fault.New(fault.Conflict, "Only an active mail domain can have a catch-all.")
		}
		if row.Operation == opProvision {
			return fault.New(fault.Conflict, "The provisioning of the mail domain has not finished: use \"Check again\" first.")
		}
		if !row.CatchAll {
			if err := a.enableProviderCatchAll(context.WithoutCancel(ctx), row); err != nil {
				return err
			}
			row.CatchAllOwnerID = ownerID
		}
		row.endOperation()
		row.CatchAll, row.CatchAllPattern = true, pattern
		return a.persistDomain(ctx, row)
	})
}

func checkPattern(pattern string) error {
	if len(pattern) > maxPattern {
		return fault.New(fault.InvalidArgument, "The pattern can have at most %d characters.", maxPattern).With("field", "pattern")
	}
	if _, err := regexp.Compile(pattern); err != nil {
		return fault.New(fault.InvalidArgument, "The pattern is not a regular expression: %v.", err).With("field", "pattern")
	}
	return nil
}

// enableProviderCatchAll has the provider hand mail that no rule is for to us. A failure restores what was there.
func (a *catchAlls) enableProviderCatchAll(ctx context.Context, row *Domain) error {
	c, routing, err := a.findConnection(*row)
	if err != nil || !routing {
		return err
	}
	if len(row.CatchAllSnapshot) == 0 {
		snapshot, err := c.DNS.ReadCatchAll(ctx, row.ZoneID)
		if err != nil {
			return explainFailure(err)
		}
		row.CatchAllSnapshot = snapshot
	}
	row.beginOperation(opCatchAllEnable)
	if err := a.persistDomain(ctx, row); err != nil {
		return err
	}
	failed := c.DNS.SetCatchAll(ctx, row.ZoneID)
	if failed == nil {
		return nil
	}
	if err := a.giveBackCatchAll(ctx, c, row); err != nil {
		a.cfg.Logger.Error("cannot restore the catch-all of a domain, retrying", "domain", row.Name, "error", err)
	}
	return explainFailure(failed)
}

// giveBackCatchAll restores what the provider did before, and forgets it. The operation ends only if that worked, or there is nothing to
// restore.
func (a *catchAlls) giveBackCatchAll(ctx context.Context, c Connection, row *Domain) error {
	if err := a.restoreCatchAll(ctx, c, row); err != nil {
		a.noteLimit(row, err)
		return cmp.Or(a.persistDomain(ctx, row), err)
	}
	row.endOperation()
	row.CatchAll, row.CatchAllSnapshot = false, nil
	return a.persistDomain(ctx, row)
}

// DisableCatchAll ends the catch-all of a domain and restores exactly what the provider did before. Registered mailboxes get
// rules of their own first; the mailboxes that the catch-all has made expire, so that they can be registered for a day.
func (a *catchAlls) DisableCatchAll(ctx context.Context, id string) (Domain, error) {
	return a.changeDomain(ctx, id, func(ctx context.Context, row *Domain) error {
		return a.endCatchAll(context.WithoutCancel(ctx), row)
	})
}

// endCatchAll is DisableCatchAll on a domain that is held. It may be repeated from any point.
func (a *catchAlls) endCatchAll(ctx context.Context, row *Domain) error {
	if !row.CatchAll {
		return nil
	}
	c, routing, err := a.findConnection(*row)
	if err != nil {
		return err
	}
	if routing {
		if len(row.CatchAllSnapshot) == 0 {
			return fault.New(fault.Conflict,
				"The routing before the catch-all is unknown: use \"Check again\", which ends the catch-all, and restore the routing at "+
					"the provider by hand.")
		}
		resumed := row.Operation == opCatchAllDisable
		if !resumed {
			row.beginOperation(opCatchAllDisable)
		}
		if err := a.persistDomain(ctx, row); err != nil {
			return err
		}
		if err := a.restoreRouting(ctx, c, row, resumed); err != nil {
			return err
		}
		row.endOperation()
	}
	return a.dropCatchAll(ctx, row)
}

// resumeCatchAll ends what has begun with the catch-all of a domain and is not known to have ended: the beginning goes back, the end goes
// on.
func (a *catchAlls) resumeCatchAll(ctx context.Context, row *Domain) error {
	switch row.Operation {
	case opCatchAllEnable:
		c, _, err := a.findConnection(*row)
		if err != nil {
			return err
		}
		return a.giveBackCatchAll(ctx, c, row)
	case opCatchAllDisable:
		return a.endCatchAll(ctx, row)
	}
	return nil
}

// dropCatchAll stores a domain without its catch-all, which the provider does not have any more, and expires the mailboxes that it has
// made. It locks the domain before its mailboxes, as whoever makes a mailbox does.
func (a *catchAlls) dropCatchAll(ctx context.Context, row *Domain) error {
	former := *row
	row.CatchAll, row.CatchAllSnapshot, row.CatchAllPattern, row.CatchAllOwnerID = false, nil, "", ""
	err := a.writeAsHolder(ctx, "end catch-all", func(ctx context.Context) error {
		// A mailbox that the catch-all makes now is stored before, and expires, or is refused.
		if _, err := a.LockDomain(ctx, row.ID); err != nil {
			return err
		}
		if err := a.cfg.Mailboxes.ExpireCaught(ctx, row.ID, a.cfg.Now()); err != nil {
			return err
		}
		row.UpdatedAt = a.cfg.Now().UnixMilli()
		return a.save(ctx, row)
	})
	if err != nil {
		*row = former
		return fmt.Errorf("end the catch-all of a mail domain: %w", err)
	}
	return nil
}

// restoreRouting makes the rules of registered mailboxes, then restores the provider's catch-all. If that fails, the catch-all
// stays ours, and the end of it is given up, unless it is resumed and may work later; the rules that were made stay, since they do no harm.
func (a *catchAlls) restoreRouting(ctx context.Context, c Connection, row *Domain, resumed bool) error {
	failed := explainUnlistedZone(ctx, c, *row, explainFailure(a.addMissingRules(ctx, row)))
	if failed == nil {
		failed = a.restoreCatchAll(ctx, c, row)
	}
	if failed == nil {
		return nil
	}
	unset := c.DNS.SetCatchAll(ctx, row.ZoneID)
	switch {
	case unset != nil:
		// The operation stays in the journal: it is carried to its end later.
		a.cfg.Logger.Error("catch-all of a domain in unknown state, retrying", "domain", row.Name, "error", unset)
	case !resumed:
		row.endOperation()
	case isRefusal(failed) && !isReplaced(failed) && !errors.Is(failed, errZoneUnlisted):
		// Somebody has to do something before. A zone that has taken the catch-all is there after all.
		row.endOperation()
		row.ProvisionError = operatorMessage(failed)
	}
	// What the provider has said last counts.
	a.noteLimit(row, failed)
	a.noteLimit(row, unset)
	return cmp.Or(a.persistDomain(ctx, row), failed)
}

// catchAllGone is what a domain tells of a catch-all that was not found where it was to be restored.
const catchAllGone = "The DNS provider did not find the catch-all that was to be restored: set at the provider what is to become of mail without a mailbox."

// restoreCatchAll has the provider do again what it did before the catch-all of a domain. Where the provider lists the zone, and says
// that what is to be restored does not exist any more, that is the end of it: the operation ends, and the domain tells so.
func (a *catchAlls) restoreCatchAll(ctx context.Context, c Connection, row *Domain) error {
	failed := explainFailure(c.DNS.RestoreCatchAll(ctx, row.ZoneID, row.CatchAllSnapshot))
	if failed = explainUnlistedZone(ctx, c, *row, failed); !isMissing(failed) {
		return failed
	}
	a.cfg.Logger.Warn("no catch-all left to restore", "domain", row.Name, "error", failed)
	row.endOperation()
	row.ProvisionError = catchAllGone
	return nil
}
