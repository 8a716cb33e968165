package mailbox

import (
	"context"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Filter chooses mailboxes.
type Filter struct {
	// Statuses are those that may be; none means all but Destroyed.
	Statuses []Status
	// Tags must all be there, and none of NotTags; normalised.
	Tags, NotTags []string
	// Addresses and IDs narrow the choice; none means no bound.
	Addresses, IDs []string
	// Text must be part of the address.
	Text string
}

// Workspace are the states of mailboxes that are worked with.
func Workspace() []Status { return []Status{Active, Destroying} }

// maxPage is the longest page of a list.
const maxPage = 200

// pageKey is the place of a mailbox in the list.
type pageKey struct {
	At int64  `json:"t"`
	ID string `json:"i"`
}

// NamesMailboxes reports whether the filter chooses mailboxes by id, address or tag, and so few of them.
func (f Filter) NamesMailboxes() bool { return len(f.IDs)+len(f.Addresses)+len(f.Tags) > 0 }

// WhereVisible adds to q the condition that column is the id of a mailbox that the caller may see and that fits the filter. Where
// the filter names mailboxes, the rows are found by them; else each row is checked, and the rows keep their order.
func WhereVisible(q *gorm.DB, column string, caller Caller, f Filter, now time.Time) *gorm.DB {
	inner := SelectVisible(q.Session(&gorm.Session{NewDB: true}), caller, f, now)
	if f.NamesMailboxes() {
		return q.Where(column+" IN (?)", inner)
	}
	return q.Where("EXISTS (?)", inner.Where("id = "+column))
}

// SelectVisible returns the query for the ids of the mailboxes that the caller may see and that fit the filter.
func SelectVisible(db *gorm.DB, caller Caller, f Filter, now time.Time) *gorm.DB {
	return chooseMailboxes(db.Model(&Mailbox{}).Select("id"), caller, f, now)
}

// chooseMailboxes adds the conditions of a filter.
func chooseMailboxes(q *gorm.DB, caller Caller, f Filter, now time.Time) *gorm.DB {
	if !caller.Admin {
		q = q.Where("owner_id = ?", caller.UserID)
	}
	if len(f.IDs) > 0 {
		q = store.WhereIn(q, "id", f.IDs)
	}
	if len(f.Addresses) > 0 {
		q = store.WhereIn(q, "address", f.Addresses)
	}
	if f.Text != "" {
		q = store.WhereContains(q, f.Text, "address")
	}
	for _, t := range f.Tags {
		q = q.Where("id IN (SELECT mailbox_id FROM mail_tags WHERE tag = ?)", t)
	}
	for _, t := range f.NotTags {
		q = q.Where("NOT EXISTS (SELECT 1 FROM mail_tags WHERE mailbox_id = mail_mailboxes.id AND tag = ?)", t)
	}
	return whereStatus(q, f.Statuses, now)
}

// HasMailbox reports whether there is a mailbox that the caller may see and that fits the filter.
func (m *Mailboxes) HasMailbox(ctx context.Context, caller Caller, f Filter) (bool, error) {
	var ids []string
	err := SelectVisible(m.store.DB(ctx), caller, f, m.cfg.Now()).Limit(1).Scan(&ids).Error
	return len(ids) > 0, err
}

// isLive is the condition of the indexes without destroyed mailboxes. SQLite uses them only where a statement has it in the same words.
// PostgreSQL finds out by itself that a state is another one; told so, it would expect too few rows.
const isLive = "status <> 'destroyed'"

// whereStatus adds the condition on the state, which for an expired mailbox follows from the time.
func whereStatus(q *gorm.DB, statuses []Status, now time.Time) *gorm.DB {
	if len(statuses) == 0 {
		return q.Where(isLive)
	}
	if q.Name() == string(store.SQLite) && !slices.Contains(statuses, Destroyed) {
		q = q.Where(isLive)
	}
	conditions := q.Session(&gorm.Session{NewDB: true})
	for _, s := range statuses {
		switch s {
		case Active:
			conditions = conditions.Or("status = 'active' AND (expires_at = 0 OR expires_at > ?)", now.UnixMilli())
		case Expired:
			conditions = conditions.Or("status = 'active' AND expires_at <> 0 AND expires_at <= ?", now.UnixMilli())
		default:
			conditions = conditions.Or("status = ?", s)
		}
	}
	return q.Where(conditions)
}

// List returns a page of the mailboxes that the caller may see, the newest first, and the cursor of the next page, "" on the
// last. limit is from 1 to 200.
func (m *Mailboxes) List(ctx context.Context, caller Caller, f Filter, limit int, cursor string) (page []Mailbox, next string, err error) {
	if err := checkFilter(&f); err != nil {
		return nil, "", err
	}
	limit = min(max(limit, 1), maxPage)
	q := chooseMailboxes(m.store.DB(ctx).Model(&Mailbox{}), caller, f, m.cfg.Now())
	if cursor != "" {
		var after pageKey
		if err := store.DecodeCursor(cursor, &after); err != nil {
			return nil, "", err
		}
		q = q.Where("(created_at, id) < (?, ?)", after.At, after.ID)
	}
	if err := q.Order("created_at DESC, id DESC").Limit(limit + 1).Find(&page).Error; err != nil {
		return nil, "", err
	}
	if len(page) > limit {
		page = page[:limit]
		last := page[limit-1]
		if next, err = store.EncodeCursor(pageKey{last.CreatedAt, last.ID}); err != nil {
			return nil, "", err
		}
	}
	return page, next, m.loadTags(ctx, page)
}

// checkFilter normalises the tags of a filter and refuses states that there are not.
func checkFilter(f *Filter) (err error) {
	for _, s := range f.Statuses {
		if !slices.Contains([]Status{Active, Expired, Destroying, Destroyed}, s) {
			return fault.New(fault.InvalidArgument, "status must be active, expired, destroying or destroyed.").With("field", "status")
		}
	}
	if f.Tags, err = NormaliseTags(f.Tags); err != nil {
		return fault.As(err).With("field", "tag")
	}
	return nil
}

// Get returns a mailbox in any state. It fails for one of somebody else, unless the caller is an administrator.
func (m *Mailboxes) Get(ctx context.Context, caller Caller, id string) (Mailbox, error) {
	box, err := m.FindMailbox(ctx, id)
	if err != nil {
		return Mailbox{}, err
	}
	if !caller.sees(box) {
		return Mailbox{}, errNoMailbox
	}
	return box, nil
}

// CountByStatus returns how many mailboxes are in a state.
func (m *Mailboxes) CountByStatus(ctx context.Context, status Status) (n int64, err error) {
	err = whereStatus(m.store.DB(ctx).Model(&Mailbox{}), []Status{status}, m.cfg.Now()).Count(&n).Error
	return n, err
}
