package message

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/store"
)

const (
	// fewMessages is how many messages are looked at one by one at most. The words of a long one take some 20 µs.
	fewMessages = 1000
	// fewMailboxes is in how many mailboxes messages are counted at most.
	fewMailboxes = 16
)

// The conditions that have indexes of their own, by owner and for all owners.
const (
	isRead          = "m.read_at > 0"
	isUnread        = "m.read_at = 0"
	withCode        = "m.code <> ''"
	withAttachments = "m.attachments > 0"
)

// ownerSeq is m.seq as PostgreSQL's indexes by owner for these conditions have it. No other index has this order: the planner takes it for
// granted that an owner has read as many messages as others, and might read the messages of all for one who has read none.
const ownerSeq = "m.seq + 0"

// usesOwnerFlags reports whether a statement for the filter is to read an index of ownerSeq.
func (s *Store) usesOwnerFlags(f Filter) bool {
	return s.store.Dialect() == store.Postgres && !f.Caller.Admin && !f.isNarrow && !f.OldestFirst && len(f.Query.terms) == 0 &&
		!f.Mailboxes.NamesMailboxes() && len(f.flagConditions()) > 0
}

// flagConditions returns those of the conditions with indexes that the filter has. With words the index of words knows codes and
// attachments, and with one mailbox an index of its own has the codes.
func (f *Filter) flagConditions() (all []string) {
	if f.Query.Unread != nil {
		if *f.Query.Unread {
			all = append(all, isUnread)
		} else {
			all = append(all, isRead)
		}
	}
	if len(f.Query.terms) == 0 && isWanted(f.Query.HasCode) && f.mailboxID == "" {
		all = append(all, withCode)
	}
	if len(f.Query.terms) == 0 && isWanted(f.Query.HasAttachment) {
		all = append(all, withAttachments)
	}
	return all
}

// narrowFilter looks for few messages among which all are that the filter chooses: those of its mailboxes, of which the ids are given
// unless there are too many, or those that fulfil one of its conditions. Several conditions of which each is fulfilled by many messages,
// and all by few, would otherwise have the database look at many. A condition that is alone is left to its index.
func (s *Store) narrowFilter(ctx context.Context, f *Filter, mailboxes []string) error {
	hasTerms := len(f.Query.terms) > 0
	if hasTerms && len(mailboxes) > 0 && len(mailboxes) <= fewMailboxes {
		if err := s.narrowToMailboxes(ctx, f, mailboxes); err != nil || f.isNarrow {
			return err
		}
	}
	conditions := f.flagConditions()
	if len(conditions) == 1 && !hasTerms && !f.Mailboxes.NamesMailboxes() {
		return nil
	}
	for _, condition := range conditions {
		found, err := s.listSeqs(ctx, f, condition)
		if err != nil {
			return err
		}
		if f.setFew(found); f.isNarrow {
			return nil
		}
	}
	return nil
}

// narrowToMailboxes narrows the filter to the messages of mailboxes, if they are few.
func (s *Store) narrowToMailboxes(ctx context.Context, f *Filter, mailboxes []string) error {
	var all []int64
	for _, id := range mailboxes {
		found, err := s.listSeqs(ctx, f, "m.mailbox_id = ?", id)
		if err != nil {
			return err
		}
		if all = append(all, found...); len(all) > fewMessages {
			return nil
		}
	}
	f.setFew(all)
	return nil
}

// setFew narrows the filter to messages, unless there are too many.
func (f *Filter) setFew(seqs []int64) {
	if len(seqs) <= fewMessages {
		f.few, f.isNarrow = seqs, true
	}
}

// listSeqs returns the Seq of messages within the bounds of a filter that fulfil a condition, which an index knows: all if there are no
// more than fewMessages. Of mailboxes the caller has to know that they are visible.
func (s *Store) listSeqs(ctx context.Context, f *Filter, condition string, values ...any) (found []int64, err error) {
	q, seq := s.store.DB(ctx).Table("mail_messages AS m").Select("m.seq").Where(condition, values...), "m.seq"
	if len(values) == 0 && !f.Caller.Admin {
		q = q.Where("m.owner_id = ?", f.Caller.UserID)
		if s.store.Dialect() == store.Postgres {
			seq = ownerSeq
		}
	}
	if f.BeforeSeq > 0 {
		q = q.Where(seq+" < ?", f.BeforeSeq)
	}
	if f.AfterSeq > 0 {
		q = q.Where(seq+" > ?", f.AfterSeq)
	}
	err = q.Order(seq + " DESC" + store.Limit(fewMessages+1)).Scan(&found).Error
	return found, err
}
