package mailbox

import (
	"context"
	"errors"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/mail/domain"
)

// maxRoutes is how often the provider is told of the address of one reservation, if its domain changes meanwhile.
const maxRoutes = 2

// activateReservation has the provider route the address of a reservation, and puts the mailbox into use. What fails is taken back; what
// cannot be taken back now is left to the clean-up, since a reservation is a mailbox that is being destroyed. If the answer of the
// provider is lost, the clean-up looks for the rule once more.
func (m *Mailboxes) activateReservation(ctx context.Context, d domain.Domain, box Mailbox) (Mailbox, error) {
	for round := 1; ; round++ {
		ruleID, failed := m.cfg.Router.AddRoute(ctx, d, box.Address)
		known, now := failed == nil || domain.IsDeclined(failed), d
		if failed == nil {
			now, failed = m.useReservation(ctx, d, &box, ruleID)
		}
		switch {
		case failed == nil && box.Status == Active:
			box.CleanupAt = 0
			return box, nil
		case failed == nil && round < maxRoutes:
			d = now
			continue
		case failed == nil:
			failed = errDomainChanged(box, "The mail domain %s is being changed: try again.")
		}
		m.cancelReservation(ctx, d, box, ruleID, known)
		return Mailbox{}, failed
	}
}

// useReservation puts a reservation into use with the rule that was made for it on a former state of its domain. It returns the present
// state; if mail needs another rule there, the reservation stays one. It locks the domain before the mailbox.
func (m *Mailboxes) useReservation(ctx context.Context, former domain.Domain, box *Mailbox, ruleID string) (now domain.Domain, err error) {
	err = m.store.Tx(ctx, "activate mailbox", func(ctx context.Context) error {
		if now, err = m.shareActive(ctx, *box); err != nil {
			return err
		}
		if err := m.lockReservation(ctx, *box); err != nil {
			return err
		}
		if !now.KeepsRulesOf(former) || former.KeepsCatchAll() && !now.KeepsCatchAll() {
			// What is made next is made for the present state, and may be there from now on.
			return m.updateMailbox(ctx, box.ID, map[string]any{"rule_requests": 1})
		}
		box.Status, box.RuleID = Active, ruleID
		return m.updateMailbox(ctx, box.ID, map[string]any{"status": Active, "rule_id": ruleID, "rule_requests": 0, "cleanup_at": 0})
	})
	return now, err
}

// lockReservation locks a reservation in the running transaction. The error for one that somebody has begun to destroy is a conflict, and
// wraps errNoMailbox.
func (m *Mailboxes) lockReservation(ctx context.Context, box Mailbox) error {
	now, err := m.lockMailbox(ctx, box.ID)
	if err != nil && !errors.Is(err, errNoMailbox) {
		return err
	}
	// Whoever destroys it gives it another time.
	if err != nil || now.Status != Destroying || now.CleanupAt != box.CleanupAt {
		return fault.Wrap(errNoMailbox, fault.Conflict, "The mailbox was deleted while it was being created.")
	}
	return nil
}

// cancelReservation deletes a reservation that is not put into use, and its rule on a state of the domain. A reservation whose rule is
// not known becomes a destroyed mailbox. If somebody destroys it, or has destroyed it meanwhile, another mailbox may have the address,
// and this rule: then the clean-up looks for the rule, while nobody else can have the address.
func (m *Mailboxes) cancelReservation(ctx context.Context, d domain.Domain, box Mailbox, ruleID string, known bool) {
	isReserved := false
	lock, err := m.lockContents(ctx, box.ID)
	switch {
	case errors.Is(err, cluster.ErrLocked):
		err = nil
	case err == nil:
		defer lock.Release()
		ctx = lock.Hold(ctx)
		var now Mailbox
		now, err = m.FindMailbox(ctx, box.ID)
		isReserved = err == nil && now.Status == Destroying
	}
	switch {
	case isReserved:
		err = m.cfg.Router.RemoveRoute(ctx, d, box.Address, ruleID, known)
	case err == nil && known:
		err = m.endRule(ctx, d, box.ID, ruleID)
	}
	if err != nil {
		m.cfg.Logger.Warn("mailbox not created; cleaning up its routing rule later", "address", box.Address, "error", err)
	}
	if err != nil || !isReserved {
		return
	}
	err = m.store.Tx(ctx, "cancel reservation", func(ctx context.Context) error {
		if err := m.lockReservation(ctx, box); err != nil {
			return err
		}
		if known {
			return m.deleteReservation(ctx, box.ID)
		}
		return m.storeDestroyed(ctx, &box, false)
	})
	if err != nil && !errors.Is(err, errNoMailbox) {
		m.cfg.Logger.Warn("mailbox not created; cleaning up its reservation later", "address", box.Address, "error", err)
	}
}
