package mailbox

import (
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

// extendMailbox gives a mailbox a later end. It returns errNoMailbox if the mailbox is destroyed meanwhile. It locks the domain before
// the mailbox.
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
	if err != nil || box.RuleID != "" {
		return box, err
	}
	box, err = m.addMissingRule(ctx, d, box)
	return box, explainError(caller, d.Name, err)
}

// addMissingRule makes the rule of a mailbox that is in use without one, where the provider needs it. It returns errNoMailbox if the
// mailbox is destroyed meanwhile. It locks the domain before the mailbox.
func (m *Mailboxes) addMissingRule(ctx context.Context, d domain.Domain, box Mailbox) (Mailbox, error) {
	if needed, err := m.cfg.Router.NeedsRoute(d, box.host()); err != nil || !needed {
		return box, err
	}
	ctx = context.WithoutCancel(ctx)
	if needed, err := m.beginRule(ctx, d, box); err != nil || !needed {
		return Mailbox{}, errOr(err, errNoMailbox)
	}
	ruleID, err := m.cfg.Router.AddRoute(ctx, d, box.Address)
	if err == nil || domain.IsDeclined(err) {
		if noteErr := m.endRule(ctx, d, box.ID, ruleID); noteErr != nil {
			return Mailbox{}, noteErr
		}
	}
	if err != nil {
		return box, err
	}
	if box, err = m.FindMailbox(ctx, box.ID); err == nil && box.Status != Active {
		err = errNoMailbox
	}
	return box, err
}

// beginRule is BeginRule on a state of the domain of a mailbox. It reports false if the domain has another provider now.
func (m *Mailboxes) beginRule(ctx context.Context, d domain.Domain, box Mailbox) (needed bool, err error) {
	err = m.noteRule(ctx, d, func(ctx context.Context) error {
		needed, err = m.BeginRule(ctx, box.ID)
		return err
	})
	return needed, err
}

// endRule is EndRule on a state of the domain of a mailbox.
func (m *Mailboxes) endRule(ctx context.Context, d domain.Domain, mailboxID, ruleID string) error {
	at := m.cfg.Now()
	return m.noteRule(ctx, d, func(ctx context.Context) error { return m.EndRule(ctx, mailboxID, ruleID, at) })
}

// noteRule calls note in a transaction if the rules of a state of a domain are still good. Whoever has given the domain to another
// provider makes its rules there.
func (m *Mailboxes) noteRule(ctx context.Context, d domain.Domain, note func(context.Context) error) error {
	return m.store.Tx(ctx, "note the rule of a mailbox", func(ctx context.Context) error {
		now, err := m.cfg.Domains.ShareDomain(ctx, d.ID)
		if err != nil || !now.KeepsRulesOf(d) {
			return err
		}
		return note(ctx)
	})
}

// Resolve returns the active or expired mailbox with an address that the caller may see.
func (m *Mailboxes) Resolve(ctx context.Context, caller Caller, text string) (Mailbox, error) {
	a, err := address.ParseRecipient(text)
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
