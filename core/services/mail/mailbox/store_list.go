package mailbox

import (
	"context"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/store"
)

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

// hasVisible reports whether there is a mailbox that the caller may see and that fits the filter.
func (s *Store) hasVisible(ctx context.Context, caller Caller, f Filter, now time.Time) (bool, error) {
	var ids []string
	err := SelectVisible(s.store.DB(ctx), caller, f, now).Limit(1).Scan(&ids).Error
	return len(ids) > 0, err
}

// listPage returns mailboxes that the caller may see and that fit the filter, the newest first: those after a place, or without one the
// first.
func (s *Store) listPage(ctx context.Context, caller Caller, f Filter, after *pageKey, limit int,
	now time.Time) (page []Mailbox, err error) {
	q := chooseMailboxes(s.store.DB(ctx).Model(&Mailbox{}), caller, f, now)
	if after != nil {
		q = q.Where("(created_at, id) < (?, ?)", after.At, after.ID)
	}
	err = q.Order("created_at DESC, id DESC").Limit(limit).Find(&page).Error
	return page, err
}

// countStatus returns how many mailboxes are in a state.
func (s *Store) countStatus(ctx context.Context, status Status, now time.Time) (n int64, err error) {
	err = whereStatus(s.store.DB(ctx).Model(&Mailbox{}), []Status{status}, now).Count(&n).Error
	return n, err
}
