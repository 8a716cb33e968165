package message

import (
	"context"
	"time"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/mail/mailbox"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Filter chooses messages.
type Filter struct {
	Caller mailbox.Caller
	// Mailboxes chooses by the mailbox.
	Mailboxes mailbox.Filter
	// SentTo are the addresses of which the sender must have named one, unless the mailbox has one of the addresses Whole. No SentTo means no
	// bound.
	SentTo, Whole []string
	// After bounds the time of receipt: only later messages.
	After time.Time
	Query Query
	// BeforeSeq and AfterSeq bound Stored.Seq; 0 means no bound.
	BeforeSeq, AfterSeq int64
	// OldestFirst turns the order round.
	OldestFirst bool
	// WithCode chooses the messages that have a verification code.
	WithCode bool
	Limit    int
	// mailboxID is the only mailbox that Mailboxes chooses, "" if there are several or that is unknown.
	mailboxID string
	// few holds the Seq of all messages that the filter can choose, if isNarrow says that there are few of them.
	few      []int64
	isNarrow bool
}

// choosesNothing reports whether no message fits.
func (f *Filter) choosesNothing() bool { return f.isNarrow && len(f.few) == 0 }

// List returns summaries of messages, the newest first.
func (s *Store) List(ctx context.Context, f Filter) ([]Summary, error) {
	err := s.prepareFilter(ctx, &f)
	switch {
	case err != nil || f.choosesNothing():
		return nil, err
	case !f.isNarrow && !f.OldestFirst && s.readsRecentFirst(f.Query):
		return s.searchRecentFirst(ctx, f)
	}
	return findSummaries(s.chooseOrdered(ctx, f, inOrder))
}

// prepareFilter checks a filter, and looks up what makes it narrower: the mailboxes and the messages that it can choose, if they are few,
// and the first message that is too new.
func (s *Store) prepareFilter(ctx context.Context, f *Filter) (err error) {
	chosen := &f.Mailboxes
	if chosen.Tags, err = mailbox.NormaliseTags(append(chosen.Tags, f.Query.Tags...)); err != nil {
		return fault.As(err).With("field", "q")
	}
	if chosen.NotTags, err = mailbox.NormaliseTags(f.Query.NotTags); err != nil {
		return fault.As(err).With("field", "q")
	}
	var mailboxes []string
	if chosen.NamesMailboxes() {
		query := mailbox.SelectVisible(s.store.DB(ctx), f.Caller, *chosen, time.Now())
		if err := query.Limit(fewMailboxes + 1).Scan(&mailboxes).Error; err != nil {
			return err
		}
		switch len(mailboxes) {
		case 0:
			f.isNarrow = true
			return nil
		case 1:
			f.mailboxID = mailboxes[0]
		}
	}
	if err := s.boundByTime(ctx, f); err != nil {
		return err
	}
	if err := s.narrowFilter(ctx, f, mailboxes); err != nil {
		return err
	}
	if !f.isNarrow {
		f.Query.useMarkers(f.mailboxID == "")
	}
	return nil
}

var storedColumns = store.Columns(Stored{}, "m")

// ListStored is List with all that is kept of the messages.
func (s *Store) ListStored(ctx context.Context, f Filter) (found []Stored, err error) {
	if err := s.prepareFilter(ctx, &f); err != nil || f.choosesNothing() {
		return nil, err
	}
	err = s.chooseOrdered(ctx, f, inOrder).Select(storedColumns).Find(&found).Error
	return found, err
}

// chooseOrdered is chooseMessages with the order and the limit of a filter. The limit stands in the text: with one among the parameters, as
// gorm has it, PostgreSQL takes a tenth of all rows for granted and never uses a plan again.
func (s *Store) chooseOrdered(ctx context.Context, f Filter, use wordUse) *gorm.DB {
	order := "m.seq DESC"
	switch {
	case f.OldestFirst:
		order = "m.seq"
	case use == inOrder && !f.isNarrow && f.Query.hasWords() && s.store.Dialect() == store.SQLite:
		// The index of words returns the newest first by itself.
		order = "w.docid DESC"
	case use == sorted:
		// No index has this order.
		order = "m.seq + 0 DESC"
	case s.usesOwnerFlags(f):
		order = ownerSeq + " DESC"
	}
	return s.chooseMessages(ctx, f, use).Order(order + store.Limit(f.Limit))
}

// chooseMessages returns the query for the messages of a filter.
func (s *Store) chooseMessages(ctx context.Context, f Filter, use wordUse) *gorm.DB {
	if f.isNarrow {
		use = oneByOne
	}
	q, indexSeq := s.whereWords(s.store.DB(ctx).Table("mail_messages AS m"), f.Query, use)
	if f.isNarrow {
		q = store.WhereInNumbers(q, "m.seq", f.few)
	}
	if s.usesOwnerFlags(f) {
		indexSeq = ownerSeq
	}
	if f.mailboxID != "" {
		return addConditions(q.Where("m.mailbox_id = ?", f.mailboxID), f, indexSeq)
	}
	if !f.Mailboxes.NamesMailboxes() && !f.Caller.Admin {
		q = q.Where("m.owner_id = ?", f.Caller.UserID)
	}
	return addConditions(mailbox.WhereVisible(q, "m.mailbox_id", f.Caller, f.Mailboxes, time.Now()), f, indexSeq)
}

// addConditions adds the conditions on the message alone. indexSeq is that of whereWords, or ownerSeq.
func addConditions(q *gorm.DB, f Filter, indexSeq string) *gorm.DB {
	boundSeq := func(condition string, value int64) {
		q = q.Where("m.seq"+condition, value)
		if indexSeq != "" {
			q = q.Where(indexSeq+condition, value)
		}
	}
	after := f.After
	if f.Query.After.After(after) {
		after = f.Query.After
	}
	if !after.IsZero() {
		q = q.Where("m.received_at > ?", store.Millis(after))
		boundSeq(" > COALESCE((SELECT seq FROM mail_messages WHERE received_at <= ? ORDER BY received_at DESC, seq DESC LIMIT 1), 0)",
			store.Millis(after))
	}
	if !f.Query.Before.IsZero() {
		q = q.Where("m.received_at < ?", store.Millis(f.Query.Before))
	}
	if f.BeforeSeq > 0 {
		boundSeq(" < ?", f.BeforeSeq)
	}
	if f.AfterSeq > 0 {
		boundSeq(" > ?", f.AfterSeq)
	}
	if f.WithCode {
		q = q.Where(withCode)
	}
	if len(f.SentTo) > 0 {
		fresh := q.Session(&gorm.Session{NewDB: true})
		named := store.WhereIn(fresh, "m.envelope_to", f.SentTo)
		if len(f.Whole) > 0 {
			named = named.Or(store.WhereIn(fresh, "m.mailbox_address", f.Whole))
		}
		q = q.Where(named)
	}
	q = whereWanted(q, f.Query.HasAttachment, withAttachments, "m.attachments = 0")
	q = whereWanted(q, f.Query.HasCode, withCode, "m.code = ''")
	return whereWanted(q, f.Query.Unread, isUnread, isRead)
}

// whereWanted adds the condition yes or no, as wanted says; none for nil.
func whereWanted(q *gorm.DB, wanted *bool, yes, no string) *gorm.DB {
	switch {
	case wanted == nil:
		return q
	case *wanted:
		return q.Where(yes)
	}
	return q.Where(no)
}

// Find returns the message with an id.
func (s *Store) Find(ctx context.Context, id string) (m Stored, err error) {
	var found []Stored
	if err := s.store.DB(ctx).Where("id = ?", id).Limit(1).Find(&found).Error; err != nil {
		return m, err
	}
	if len(found) == 0 {
		return m, fault.New(fault.NotFound, "There is no such message.")
	}
	return found[0], nil
}

// LastSeq returns the highest Seq, 0 if there is no message.
func (s *Store) LastSeq(ctx context.Context) (seq int64, err error) {
	err = s.store.DB(ctx).Raw("SELECT COALESCE(MAX(seq), 0) FROM mail_messages").Scan(&seq).Error
	return seq, err
}

// findSummaries returns the messages that q chooses. It fills them without gorm, which takes longer for that than the database.
func findSummaries(q *gorm.DB) ([]Summary, error) {
	rows, err := q.Select(summaryColumns).Rows()
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []Summary
	for rows.Next() {
		found = append(found, Summary{})
		if err := found[len(found)-1].scanRow(rows); err != nil {
			return nil, err
		}
	}
	return found, rows.Err()
}
