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

// EnableCatchAll has mail to all addresses of a domain, or to those whose local part matches the pattern, make mailboxes, which
// belong to the owner. What the provider did with such mail is kept, to be restored. On a domain whose catch-all is on it
// changes the pattern.
func (d *Domains) EnableCatchAll(ctx context.Context, id, ownerID, pattern string) (Domain, error) {
	if err := checkPattern(pattern); err != nil {
		return Domain{}, err
	}
	return d.change(ctx, id, func(ctx context.Context, row *Domain) error {
		// It may end with a domain that is not active any more.
		if err := d.resumeCatchAll(context.WithoutCancel(ctx), row); err != nil {
			return err
		}
		if row.Status != Active {
			return fault.New(fault.Conflict, "Only an active mail domain can have a catch-all.")
		}
		if row.Operation == opProvision {
			return fault.New(fault.Conflict, "The provisioning of the mail domain has not finished: use \"Check again\" first.")
		}
		if !row.CatchAll {
			if err := d.enableProviderCatchAll(context.WithoutCancel(ctx), row); err != nil {
				return err
			}
			row.CatchAllOwnerID = ownerID
		}
		row.endOperation()
		row.CatchAll, row.CatchAllPattern = true, pattern
		return d.persist(ctx, row)
	})
}

func checkPattern(pattern string) error {
	if len(pattern) > maxPattern {
		return fault.New(fault.InvalidArgument, "The pattern may have %d characters.", maxPattern).With("field", "pattern")
	}
	if _, err := regexp.Compile(pattern); err != nil {
		return fault.New(fault.InvalidArgument, "The pattern is not a regular expression: %v.", err).With("field", "pattern")
	}
	return nil
}

// enableProviderCatchAll has the provider hand mail that no rule is for to us. A failure restores what was there.
func (d *Domains) enableProviderCatchAll(ctx context.Context, row *Domain) error {
	c, routing, err := d.routing(*row)
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
	if err := d.persist(ctx, row); err != nil {
		return err
	}
	failed := c.DNS.SetCatchAll(ctx, row.ZoneID)
	if failed == nil {
		return nil
	}
	if err := d.giveBackCatchAll(ctx, c, row); err != nil {
		d.cfg.Logger.Error("the catch-all of a mail domain could not be restored; it is tried again", "domain", row.Name, "error", err)
	}
	return explainFailure(failed)
}

// giveBackCatchAll restores what the provider did before, and forgets it. The operation ends only if that worked, or there is nothing to
// restore.
func (d *Domains) giveBackCatchAll(ctx context.Context, c Connection, row *Domain) error {
	if err := d.restoreCatchAll(ctx, c, row); err != nil {
		d.noteLimit(row, err)
		return cmp.Or(d.persist(ctx, row), err)
	}
	row.endOperation()
	row.CatchAll, row.CatchAllSnapshot = false, nil
	return d.persist(ctx, row)
}

// DisableCatchAll ends the catch-all of a domain and restores exactly what the provider did before. Registered mailboxes get
// rules of their own first; the mailboxes that the catch-all has made expire, so that they can be registered for a day.
func (d *Domains) DisableCatchAll(ctx context.Context, id string) (Domain, error) {
	return d.change(ctx, id, func(ctx context.Context, row *Domain) error {
		return d.endCatchAll(context.WithoutCancel(ctx), row)
	})
}

// endCatchAll is DisableCatchAll on a domain that is held. It may be repeated from any point.
func (d *Domains) endCatchAll(ctx context.Context, row *Domain) error {
	if !row.CatchAll {
		return nil
	}
	c, routing, err := d.routing(*row)
	if err != nil {
		return err
	}
	if routing {
		if len(row.CatchAllSnapshot) == 0 {
			return fault.New(fault.Conflict, "What the DNS provider did before the catch-all is not known: use \"Check again\", which ends the catch-all, and set at the provider by hand what it did.")
		}
		resumed := row.Operation == opCatchAllDisable
		if !resumed {
			row.beginOperation(opCatchAllDisable)
		}
		if err := d.persist(ctx, row); err != nil {
			return err
		}
		if err := d.restoreRouting(ctx, c, row, resumed); err != nil {
			return err
		}
		row.endOperation()
	}
	return d.dropCatchAll(ctx, row)
}

// resumeCatchAll ends what has begun with the catch-all of a domain and is not known to have ended: the beginning goes back, the end goes
// on.
func (d *Domains) resumeCatchAll(ctx context.Context, row *Domain) error {
	switch row.Operation {
	case opCatchAllEnable:
		c, _, err := d.routing(*row)
		if err != nil {
			return err
		}
		return d.giveBackCatchAll(ctx, c, row)
	case opCatchAllDisable:
		return d.endCatchAll(ctx, row)
	}
	return nil
}

// dropCatchAll stores a domain without its catch-all, which the provider does not have any more, and expires the mailboxes that it has
// made. It locks the domain before its mailboxes, as whoever makes a mailbox does.
func (d *Domains) dropCatchAll(ctx context.Context, row *Domain) error {
	former := *row
	row.CatchAll, row.CatchAllSnapshot, row.CatchAllPattern, row.CatchAllOwnerID = false, nil, "", ""
	err := d.cfg.Store.Tx(ctx, "end catch-all", func(ctx context.Context) error {
		// A mailbox that the catch-all makes now is stored before, and expires, or is refused.
		if _, err := d.LockDomain(ctx, row.ID); err != nil {
			return err
		}
		if err := d.cfg.Mailboxes.ExpireCaught(ctx, row.ID, d.cfg.Now()); err != nil {
			return err
		}
		row.UpdatedAt = d.cfg.Now().UnixMilli()
		return d.save(ctx, row)
	})
	if err != nil {
		*row = former
		return fmt.Errorf("end the catch-all of a mail domain: %w", err)
	}
	return nil
}

// restoreRouting makes the rules of registered mailboxes, then restores the provider's catch-all. If that fails, the catch-all
// stays ours, and the end of it is given up, unless it is resumed and may work later; the rules that were made stay, since they do no harm.
func (d *Domains) restoreRouting(ctx context.Context, c Connection, row *Domain, resumed bool) error {
	failed := explainUnlistedZone(ctx, c, *row, explainFailure(d.addMissingRules(ctx, row)))
	if failed == nil {
		failed = d.restoreCatchAll(ctx, c, row)
	}
	if failed == nil {
		return nil
	}
	unset := c.DNS.SetCatchAll(ctx, row.ZoneID)
	switch {
	case unset != nil:
		// The operation stays in the journal: it is carried to its end later.
		d.cfg.Logger.Error("the catch-all of a mail domain is in an unknown state; it is tried again", "domain", row.Name, "error", unset)
	case !resumed:
		row.endOperation()
	case isRefusal(failed) && !isReplaced(failed) && !errors.Is(failed, errZoneUnlisted):
		// Somebody has to do something before. A zone that has taken the catch-all is there after all.
		row.endOperation()
		row.ProvisionError = messageOf(failed)
	}
	// What the provider has said last counts.
	d.noteLimit(row, failed)
	d.noteLimit(row, unset)
	return cmp.Or(d.persist(ctx, row), failed)
}

// addMissingRules makes the rules of the registered mailboxes that have none. A rule of somebody else for one of the addresses does not
// keep the other mailboxes from getting theirs; it is the error.
func (d *Domains) addMissingRules(ctx context.Context, row *Domain) error {
	missing, err := d.cfg.Mailboxes.ListUnrouted(ctx, row.ID)
	if err != nil {
		return err
	}
	enabled := map[string]bool{row.Name: true}
	var foreign error
	for _, box := range missing {
		err := d.addMissingRule(ctx, *row, box, enabled)
		if err != nil && !isForeignRule(err) {
			return err
		}
		foreign = cmp.Or(foreign, err)
	}
	return foreign
}

// addMissingRule makes the rule of a mailbox. Before its id is known, the request is noted: the rule goes with the mailbox also if the
// answer of the provider is lost.
func (d *Domains) addMissingRule(ctx context.Context, row Domain, box Unrouted, enabled map[string]bool) error {
	if needed, err := d.beginRule(ctx, box); err != nil || !needed {
		return err
	}
	ruleID, err := d.addRoute(ctx, row, box.Address, enabled)
	if err != nil && !IsDeclined(err) {
		return err
	}
	return cmp.Or(d.endRule(ctx, box.ID, ruleID), err)
}

// beginRule is BeginRule of the mailboxes in a transaction of its own.
func (d *Domains) beginRule(ctx context.Context, box Unrouted) (needed bool, err error) {
	err = d.cfg.Store.Tx(ctx, "begin the rule of a mailbox", func(ctx context.Context) error {
		needed, err = d.cfg.Mailboxes.BeginRule(ctx, box.ID)
		return err
	})
	return needed, err
}

// endRule is EndRule of the mailboxes in a transaction of its own.
func (d *Domains) endRule(ctx context.Context, mailboxID, ruleID string) error {
	at := d.cfg.Now()
	return d.cfg.Store.Tx(ctx, "note the rule of a mailbox",
		func(ctx context.Context) error { return d.cfg.Mailboxes.EndRule(ctx, mailboxID, ruleID, at) })
}
