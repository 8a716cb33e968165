package mailbox

import (
	"cmp"
	"context"
	"errors"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/mail/address"
	"github.com/patchbay-dev/patchbay/core/services/mail/domain"
)

// Ensure returns the mailbox with an address, and makes it if there is none. One that exists is never shortened: it lives
// until the later of both ends, an expired one begins anew, and one that the catch-all has made becomes registered. It
// reports true if the mailbox was made. Address, or LocalPart, must be set.
func (m *Mailboxes) Ensure(ctx context.Context, caller Caller, in NewMailbox) (box Mailbox, created bool, err error) {
	at, err := m.findPlace(ctx, caller, in)
	if err != nil {
		return Mailbox{}, false, err
	}
	expires, err := in.Lifetime.expiry(m.cfg.Now())
	if err != nil {
		return Mailbox{}, false, err
	}
	in.Address = at.local + "@" + at.host()
	// Somebody may make or destroy the mailbox between the two attempts.
	for range 3 {
		box, found, err := m.findByAddress(ctx, in.Address)
		if err != nil {
			return Mailbox{}, false, err
		}
		if found {
			box, err = m.extendMailbox(ctx, caller, box, expires)
		} else {
			box, err = m.Create(ctx, caller, in)
		}
		if !errors.Is(err, errNoMailbox) && (found || fault.CodeOf(err) != CodeExists) {
			return box, err == nil && !found, err
		}
	}
	return Mailbox{}, false, errExists()
}

// extendMailbox gives a mailbox a later end. It returns errNoMailbox if the mailbox is destroyed meanwhile. It locks the domain before the mailbox.
func (m *Mailboxes) extendMailbox(ctx context.Context, caller Caller, found Mailbox, expires int64) (box Mailbox, err error) {
	var d domain.Domain
	err = m.store.Tx(ctx, "extend mailbox", func(ctx context.Context) error {
		if d, err = m.shareActive(ctx, found); err != nil {
			return err
		}
		if box, err = m.lockMailbox(ctx, found.ID); err != nil {
			return err
		}
		switch {
		case !caller.sees(box), box.Status == Destroying:
			return errTaken(caller, box)
		case box.Status == Destroyed:
			return errNoMailbox
		}
		changes := map[string]any{}
		if isLater(expires, box.ExpiresAt) {
			box.ExpiresAt, changes["expires_at"] = expires, expires
		}
		if box.Source == CatchAll {
			box.Source, changes["source"] = Registered, Registered
		}
		if len(changes) == 0 {
			return nil
		}
		return m.updateMailbox(ctx, box.ID, changes)
	})
	if err != nil || box.Rule() != "" {
		return box, err
	}
	box, err = m.addMissingRule(ctx, d, box)
	return box, explainError(caller, d.Name, err)
}

// addMissingRule makes the rule of a mailbox that is in use without one, where the provider needs it. It returns errNoMailbox if the mailbox is
// destroyed meanwhile. It locks the domain before the mailbox.
func (m *Mailboxes) addMissingRule(ctx context.Context, d domain.Domain, box Mailbox) (Mailbox, error) {
	if needed, err := m.cfg.Router.NeedsRoute(d, box.host()); err != nil || !needed {
		return box, err
	}
	ctx = context.WithoutCancel(ctx)
	// A rule whose making is not confirmed goes with the mailbox.
	if unused, err := m.noteRule(ctx, d, box, unknownRule); err != nil || unused {
		return Mailbox{}, errOr(err, errNoMailbox)
	}
	ruleID, err := m.cfg.Router.AddRoute(ctx, d, box.Address)
	if fault.CodeOf(err) == fault.Conflict {
		// Where the provider refuses there is no more than before.
		if _, noteErr := m.noteRule(ctx, d, box, box.RuleID); noteErr != nil {
			return Mailbox{}, noteErr
		}
	}
	if err != nil {
		return box, err
	}
	// Where the catch-all does without a rule now, one may be left of a former request.
	unused, err := m.noteRule(ctx, d, box, cmp.Or(ruleID, box.RuleID))
	if err == nil && unused {
		err = m.cfg.Router.RemoveRoute(ctx, d, box.Address, ruleID, true)
	}
	if err != nil {
		return Mailbox{}, err
	}
	if box, err = m.FindMailbox(ctx, box.ID); err == nil && box.Status != Active {
		err = errNoMailbox
	}
	return box, err
}

// noteRule notes the rule of a mailbox on a state of its domain. It reports true if nobody needs the rule any more.
func (m *Mailboxes) noteRule(ctx context.Context, d domain.Domain, box Mailbox, ruleID string) (unused bool, err error) {
	err = m.store.Tx(ctx, "note the rule of a mailbox", func(ctx context.Context) error {
		now, err := m.cfg.Domains.ShareDomain(ctx, d.ID)
		if err != nil || !now.KeepsRulesOf(d) {
			// Whoever has given the domain to another provider makes its rules there.
			return err
		}
		unused, err = m.SetRule(ctx, domain.Unrouted{ID: box.ID, Address: box.Address}, ruleID)
		return err
	})
	return unused, err
}

// Resolve returns the active or expired mailbox with an address that the caller may see.
func (m *Mailboxes) Resolve(ctx context.Context, caller Caller, text string) (Mailbox, error) {
	a, err := address.Parse(text)
	if err != nil {
		return Mailbox{}, err
	}
	box, found, err := m.findByAddress(ctx, a.String())
	if err != nil {
		return Mailbox{}, err
	}
	if !found || box.Status != Active || !caller.sees(box) {
		return Mailbox{}, errNoMailbox
	}
	return box, nil
}
