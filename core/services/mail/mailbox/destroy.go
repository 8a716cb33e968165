package mailbox

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/mail/domain"
	"github.com/patchbay-dev/patchbay/core/texts"
)

// maxCleanupError is how much of the message of an error is kept with a mailbox, in bytes.
const maxCleanupError = 1000

// Destroy deletes the messages and the rule of a mailbox, and gives its address free. One that is destroyed already stays so, and one
// that another call destroys is returned while that goes on. What fails is tried again by CleanUp.
func (m *Mailboxes) Destroy(ctx context.Context, caller Caller, id string) (Mailbox, error) {
	box, err := m.FindMailbox(ctx, id)
	switch {
	case err != nil:
		return Mailbox{}, err
	case !caller.sees(box):
		return Mailbox{}, errNoMailbox
	}
	destroyed, err := m.destroyMailbox(ctx, box, nil)
	return destroyed, explainError(caller, box.MailDomain, err)
}

// destroyMailbox runs the steps that destroy a mailbox, unless another call does. still, if not nil, may refuse it in the transaction
// that begins them, which locks the domain before the mailbox.
func (m *Mailboxes) destroyMailbox(ctx context.Context, found Mailbox, still func(Mailbox) bool) (box Mailbox, err error) {
	var d domain.Domain
	id, refused := found.ID, false
	lock, err := m.lockContents(ctx, id)
	if errors.Is(err, cluster.ErrLocked) {
		return m.FindMailbox(ctx, id)
	}
	if err != nil {
		return Mailbox{}, err
	}
	defer lock.Release()
	ctx = lock.Hold(ctx)
	err = m.store.Tx(ctx, "begin to destroy mailbox", func(ctx context.Context) error {
		// The rule is of the provider that the domain has now. A deleted domain has none.
		if d, err = m.cfg.Domains.ShareDomain(ctx, found.DomainID); err != nil && fault.CodeOf(err) != fault.NotFound {
			return err
		}
		if box, err = m.lockMailbox(ctx, id); err != nil {
			return err
		}
		if refused = box.Status == Destroyed || still != nil && !still(box); refused {
			return nil
		}
		box.Status, box.CleanupAt = Destroying, m.cfg.Now().Add(domain.RetryPause(box.CleanupTries, time.Hour)).UnixMilli()
		return m.updateMailbox(ctx, id, map[string]any{"status": Destroying, "cleanup_at": box.CleanupAt})
	})
	if err != nil || refused {
		return box, err
	}
	if err := m.removeContents(ctx, d, box); err != nil {
		m.noteFailure(context.WithoutCancel(ctx), box, err)
		return Mailbox{}, err
	}
	requests := box.RuleRequests
	err = m.store.Tx(ctx, "destroy mailbox", func(ctx context.Context) error {
		if err := cluster.FenceLock(ctx); err != nil {
			return err
		}
		// Requests for its rule may have ended, and another one may have destroyed it.
		if box, err = m.lockMailbox(ctx, id); err != nil || box.Status == Destroyed {
			return err
		}
		return m.storeDestroyed(ctx, &box, box.RuleRequests > requests)
	})
	return box, err
}

// storeDestroyed marks a mailbox whose contents and rule are deleted as destroyed, in the running transaction. A request for its rule may
// come to the provider after that: unless this was looked at before, it is when the request must have ended. So it is if a rule was made
// during this look.
func (m *Mailboxes) storeDestroyed(ctx context.Context, box *Mailbox, made bool) error {
	now := m.cfg.Now()
	if box.CleanupAt = 0; box.RuleRequests > 0 && (box.DestroyedAt == 0 || made) {
		box.CleanupAt = now.Add(reserveFor).UnixMilli()
	} else {
		box.RuleRequests = 0
	}
	box.Status, box.DestroyedAt, box.RuleID, box.CleanupError, box.CleanupTries = Destroyed, cmp.Or(box.DestroyedAt, now.UnixMilli()), "", "",
		0
	return m.updateMailbox(ctx, box.ID, map[string]any{
		"status": box.Status, "destroyed_at": box.DestroyedAt, "rule_id": "", "rule_requests": box.RuleRequests,
		"cleanup_error": "", "cleanup_at": box.CleanupAt, "cleanup_tries": 0,
	})
}

// reopenDestruction begins to destroy a destroyed mailbox once more, for whose address a rule may have been made since: it has the
// address again until that has ended, or the provider refuses it. Where another mailbox has taken the address, the rule goes with that
// one.
func (m *Mailboxes) reopenDestruction(ctx context.Context, id string) error {
	return m.store.Tx(ctx, "look at a destroyed mailbox again", func(ctx context.Context) error {
		box, err := m.lockMailbox(ctx, id)
		if err != nil || box.Status != Destroyed || box.CleanupAt == 0 {
			return err
		}
		other, taken, err := m.findReceiver(ctx, box.Address)
		if err == nil && taken {
			other, err = m.lockMailbox(ctx, other.ID)
		}
		if err != nil {
			return err
		}
		switch {
		case box.RuleRequests == 0:
		case !taken:
			return m.updateMailbox(ctx, id, map[string]any{"status": Destroying})
		case other.Status != Active:
			// A reservation, or one that is being destroyed, would not keep the requests.
			return m.updateMailbox(ctx, id, map[string]any{"cleanup_at": m.cfg.Now().Add(reserveFor).UnixMilli()})
		default:
			if err := m.addRuleRequests(ctx, other.ID, box.RuleRequests); err != nil {
				return err
			}
		}
		return m.updateMailbox(ctx, id, map[string]any{"rule_requests": 0, "cleanup_error": "", "cleanup_at": 0, "cleanup_tries": 0})
	})
}

// removeContents deletes the rule that a mailbox has on a state of its domain, and its messages. It may be repeated.
func (m *Mailboxes) removeContents(ctx context.Context, d domain.Domain, box Mailbox) error {
	if err := m.cfg.Router.RemoveRoute(ctx, d, box.Address, box.RuleID, box.isRuleKnown()); err != nil {
		return err
	}
	return m.cfg.Messages.DeleteMailboxMessages(ctx, box.ID)
}

// noteFailure keeps why a mailbox could not be destroyed, and when that is tried again. One that was destroyed before gives its address
// free until then if the provider has refused to be asked for its rule: that may last.
func (m *Mailboxes) noteFailure(ctx context.Context, box Mailbox, cause error) {
	said, longest, isRefused := fault.As(cause), time.Hour, box.DestroyedAt != 0 && domain.IsDeclined(cause)
	if isRefused {
		longest = 24 * time.Hour
	}
	pause := domain.RetryPause(box.CleanupTries, longest)
	changes := map[string]any{
		"cleanup_at": m.cfg.Now().Add(max(pause, said.RetryAfter)).UnixMilli(), "cleanup_tries": box.CleanupTries + 1,
		"cleanup_error": texts.Limit(said.Message, maxCleanupError),
	}
	if isRefused {
		changes["status"] = Destroyed
	}
	err := m.store.Tx(ctx, "postpone the destruction of mailbox", func(ctx context.Context) error {
		now, err := m.lockMailbox(ctx, box.ID)
		if err != nil || now.Status != Destroying {
			// Another one has destroyed it.
			return err
		}
		return m.updateMailbox(ctx, box.ID, changes)
	})
	if err != nil {
		m.cfg.Logger.Error("cannot mark a mailbox for deletion", "mailbox", box.ID, "error", err)
	}
}

// CleanUp destroys the mailboxes that have been expired for a day, and goes on with those whose destruction has failed or was
// interrupted, or after which a rule may have been made. It returns how many it destroyed, and how many failed; these do not hold up the
// others.
func (m *Mailboxes) CleanUp(ctx context.Context, batch int) (destroyed, failed int, err error) {
	due, err := m.listDue(ctx, m.cfg.Now(), batch)
	if err != nil {
		return 0, 0, err
	}
	for _, box := range due {
		if err := ctx.Err(); err != nil {
			return destroyed, failed, err
		}
		if err := m.cleanUpMailbox(ctx, box); err != nil {
			failed++
			m.cfg.Logger.Warn("cannot delete a mailbox, retrying", "mailbox", box.ID, "error", err)
			continue
		}
		destroyed++
	}
	return destroyed, failed, nil
}

// cleanUpMailbox destroys a mailbox that is due.
func (m *Mailboxes) cleanUpMailbox(ctx context.Context, box Mailbox) error {
	if box.Status == Destroyed {
		if err := m.reopenDestruction(ctx, box.ID); err != nil {
			return err
		}
	}
	_, err := m.destroyMailbox(ctx, box, func(now Mailbox) bool {
		// Somebody may have extended it since.
		return now.Status == Destroying || now.ExpiresAt == box.ExpiresAt
	})
	return err
}
