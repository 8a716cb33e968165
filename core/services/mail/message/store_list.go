package message

import (
	"context"
	"strconv"
	"time"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/mail/mailbox"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/core/texts/words"
)

// Filter chooses messages.
type Filter struct {
	Caller mailbox.Caller
	// Mailboxes chooses by the mailbox.
	Mailboxes mailbox.Filter
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
}

// List returns summaries of messages, the newest first.
func (s *Store) List(ctx context.Context, f Filter) ([]Summary, error) {
	q, err := s.chooseOrdered(ctx, f)
	if err != nil {
		return nil, err
	}
	return findSummaries(q)
}

// ListStored is List with all that is kept of the messages.
func (s *Store) ListStored(ctx context.Context, f Filter) (found []Stored, err error) {
	q, err := s.chooseOrdered(ctx, f)
	if err != nil {
		return nil, err
	}
	err = q.Select("m.*").Find(&found).Error
	return found, err
}

// chooseOrdered is choose with the order and the limit of a filter. The limit stands in the text: with one among the parameters, as gorm
// has it, PostgreSQL takes a tenth of all rows for granted and never uses a plan again.
func (s *Store) chooseOrdered(ctx context.Context, f Filter) (*gorm.DB, error) {
	q, err := s.choose(ctx, f)
	if err != nil {
		return nil, err
	}
	order := "m.seq DESC"
	if f.OldestFirst {
		order = "m.seq"
	} else if f.Query.hasWords() && s.store.Dialect() == store.SQLite {
		// The index of words returns the newest first by itself.
		order = "w.docid DESC"
	}
	return q.Order(order + " LIMIT " + strconv.Itoa(f.Limit)), nil
}

// choose returns the query for the messages of a filter.
func (s *Store) choose(ctx context.Context, f Filter) (*gorm.DB, error) {
	q := s.store.DB(ctx).Table("mail_messages AS m")
	sqlite := s.store.Dialect() == store.SQLite
	switch {
	case len(f.Query.terms) == 0:
	case sqlite && !f.Query.hasWords():
		q = q.Where("m.seq NOT IN (SELECT docid FROM mail_search WHERE mail_search MATCH ?)", words.FormatExcluded(f.Query.terms))
	case sqlite:
		q = q.Table("mail_search AS w CROSS JOIN mail_messages AS m").Where("m.seq = w.docid AND w.mail_search MATCH ?", words.FormatMatch(f.Query.terms))
	default:
		q = q.Table("mail_messages AS m JOIN mail_search AS w ON w.seq = m.seq").Where("w.doc @@ CAST(? AS tsquery)", words.FormatTSQuery(f.Query.terms, weights))
	}
	chosen := f.Mailboxes
	var err error
	if chosen.Tags, err = mailbox.NormaliseTags(append(chosen.Tags, f.Query.Tags...)); err != nil {
		return nil, fault.As(err).With("field", "q")
	}
	if chosen.NotTags, err = mailbox.NormaliseTags(f.Query.NotTags); err != nil {
		return nil, fault.As(err).With("field", "q")
	}
	if !chosen.NamesMailboxes() && !f.Caller.Admin {
		q = q.Where("m.owner_id = ?", f.Caller.UserID)
	}
	q = mailbox.WhereVisible(q, "m.mailbox_id", f.Caller, chosen, time.Now())
	return s.narrow(q, f), nil
}

// narrow adds the conditions on the message alone.
func (s *Store) narrow(q *gorm.DB, f Filter) *gorm.DB {
	after := f.After
	if f.Query.After.After(after) {
		after = f.Query.After
	}
	if !after.IsZero() {
		q = q.Where("m.received_at > ?", store.Millis(after)).
			Where("m.seq > COALESCE((SELECT seq FROM mail_messages WHERE received_at <= ? ORDER BY received_at DESC, seq DESC LIMIT 1), 0)", store.Millis(after))
	}
	if !f.Query.Before.IsZero() {
		q = q.Where("m.received_at < ?", store.Millis(f.Query.Before))
	}
	if f.BeforeSeq > 0 {
		q = q.Where("m.seq < ?", f.BeforeSeq)
	}
	if f.AfterSeq > 0 {
		q = q.Where("m.seq > ?", f.AfterSeq)
	}
	if f.WithCode {
		q = q.Where("m.code <> ''")
	}
	q = whereWanted(q, f.Query.HasAttachment, "m.attachments > 0", "m.attachments = 0")
	q = whereWanted(q, f.Query.HasCode, "m.code <> ''", "m.code = ''")
	return whereWanted(q, f.Query.Unread, "m.read_at = 0", "m.read_at > 0")
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
