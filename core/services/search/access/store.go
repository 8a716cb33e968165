package access

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Store holds the statements about access tokens. It decides nothing.
type Store struct{ store *store.Store }

func (r *Store) db(ctx context.Context) *gorm.DB { return r.store.DB(ctx) }

// FindToken returns the record of a token, also of one that is deleted.
func (r *Store) FindToken(ctx context.Context, id string) (out tokenRecord, found bool, err error) {
	err = r.db(ctx).Where("id = ?", id).Take(&out).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return out, false, nil
	}
	return out, err == nil, err
}

// create adds the record of a token.
func (r *Store) create(ctx context.Context, t *tokenRecord) error {
	return r.store.Writer(ctx).Create(t).Error
}

// update changes columns of a token, and reports false where there is none. now is in Unix milliseconds.
func (r *Store) update(ctx context.Context, id string, values map[string]any, now int64) (changed bool, err error) {
	// Each change has a time of its own, by which the table of tokens knows the last one.
	values["updated_at"] = gorm.Expr("CASE WHEN updated_at < ? THEN ? ELSE updated_at + 1 END", now, now)
	res := r.store.Writer(ctx).Model(&tokenRecord{}).Where("id = ? AND deleted_at = 0", id).Updates(values)
	return res.RowsAffected > 0, res.Error
}

// TokensSince returns the tokens that were written since a moment in Unix milliseconds.
func (r *Store) TokensSince(ctx context.Context, updated int64) (out []tokenRecord, err error) {
	err = r.db(ctx).Where("updated_at >= ?", updated).Find(&out).Error
	return out, err
}

// tokensByID returns tokens, also those that are deleted.
func (r *Store) tokensByID(ctx context.Context, ids []string) (out []tokenRecord, err error) {
	err = r.db(ctx).Where("id IN ?", ids).Find(&out).Error
	return out, err
}

// EndGrants deletes the access tokens of a user in the running transaction. A running service takes that in by Refresh.
func EndGrants(ctx context.Context, s *store.Store, userID string, now time.Time) error {
	at := now.UnixMilli()
	return s.Writer(ctx).Model(&tokenRecord{}).Where("owner_id = ? AND owner_id > '' AND deleted_at = 0", userID).Updates(map[string]any{
		"deleted_at": at, "updated_at": gorm.Expr("CASE WHEN updated_at < ? THEN ? ELSE updated_at + 1 END", at, at),
	}).Error
}

// hasTokens reports whether there is a token that is not deleted.
func (r *Store) hasTokens(ctx context.Context) (has bool, err error) {
	err = r.db(ctx).Raw("SELECT EXISTS (SELECT 1 FROM search_tokens WHERE deleted_at = 0)").Row().Scan(&has)
	return has, err
}

// UsageSince returns the stored use of tokens, of the ids or all, since a minute, one row for each token and minute.
func (r *Store) UsageSince(ctx context.Context, minute int64, ids []string) (out []audit.UsageRecord, err error) {
	err = ofTokens(r.db(ctx).Where("minute >= ?", minute), ids).Find(&out).Error
	return out, err
}

// ofTokens restricts a statement to tokens, unless there are none.
func ofTokens(q *gorm.DB, ids []string) *gorm.DB {
	if len(ids) == 0 {
		return q
	}
	return q.Where("token_id IN ?", ids)
}

// UsageSums returns the stored use of tokens, of the ids or all, from one minute to before another, summed by token and dated by its newest minute.
func (r *Store) UsageSums(ctx context.Context, from, before int64, ids []string) (out []audit.UsageRecord, err error) {
	err = ofTokens(r.db(ctx).Model(&audit.UsageRecord{}), ids).
		Select("token_id, MAX(minute) AS minute, SUM(requests) AS requests, SUM(credits) AS credits, SUM(successes) AS successes, SUM(errors) AS errors, SUM(refused) AS refused").
		Where("minute >= ? AND minute < ?", from, before).Group("token_id").Scan(&out).Error
	return out, err
}

// applyTo adds the conditions to a statement.
func (f TokenFilter) applyTo(q *gorm.DB, spent map[string]string) *gorm.DB {
	q = q.Where("deleted_at = 0")
	if f.Group != nil {
		q = q.Where("group_name = ?", *f.Group)
	}
	if f.Query != "" {
		q = store.WhereContains(q, f.Query, "id", "note", "group_name")
	}
	switch f.Owner {
	case "":
	case "bound":
		q = q.Where("owner_id > ''")
	case "unbound":
		q = q.Where("owner_id = ''")
	default:
		q = q.Where("owner_id = ?", f.Owner)
	}
	switch f.Enabled {
	case "active":
		q = q.Where("enabled")
	case "frozen":
		q = q.Where("NOT enabled")
	}
	switch f.QuotaState {
	case "":
	case QuotaNormal:
		if len(spent) > 0 {
			q = store.WhereNotIn(q, "id", slices.Collect(maps.Keys(spent)))
		}
	default:
		ids := []string{}
		for id, state := range spent {
			if state == f.QuotaState {
				ids = append(ids, id)
			}
		}
		q = store.WhereIn(q, "id", ids)
	}
	return q
}

// TokenPage returns one page of a list, the newest first, and how many there are in all.
func (r *Store) TokenPage(ctx context.Context, f TokenFilter, spent map[string]string, page,
	perPage int) (out []tokenRecord, total int64, err error) {
	if err = f.applyTo(r.db(ctx).Model(&tokenRecord{}), spent).Count(&total).Error; err != nil {
		return nil, 0, err
	}
	err = f.applyTo(r.db(ctx), spent).Order("created_at DESC, id DESC").Limit(perPage).Offset((page - 1) * perPage).Find(&out).Error
	return out, total, err
}

// liveToken returns a token that is not deleted.
func (r *Store) liveToken(ctx context.Context, id string) (tokenRecord, error) {
	out, found, err := r.FindToken(ctx, id)
	if err == nil && (!found || out.DeletedAt != 0) {
		return out, fault.New(fault.NotFound, "There is no such access token.")
	}
	return out, err
}

// FirstTokenOf returns the oldest enabled token of a user.
func (r *Store) FirstTokenOf(ctx context.Context, user string, now int64) (tokenRecord, error) {
	var out tokenRecord
	err := r.db(ctx).Where("owner_id = ? AND deleted_at = 0 AND enabled AND (expires_at = 0 OR expires_at > ?)", user,
		now).Order("created_at, id").Take(&out).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return out, fault.New(fault.NotFound, "This user has no usable access token.")
	}
	return out, err
}

func (r *Store) tokenNotes(ctx context.Context, ids []string) (map[string]string, error) {
	out := make(map[string]string, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	rows, err := r.db(ctx).Raw("SELECT id, note FROM search_tokens WHERE id IN ?", ids).Rows()
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var id, note string
	for rows.Next() {
		if err := rows.Scan(&id, &note); err != nil {
			return nil, err
		}
		out[id] = note
	}
	return out, rows.Err()
}

// TokensOf returns the tokens of a user, the oldest first.
func (r *Store) TokensOf(ctx context.Context, user string) (out []tokenRecord, err error) {
	err = r.db(ctx).Where("owner_id = ? AND owner_id > '' AND deleted_at = 0", user).Order("created_at, id").Limit(maxOwn).Find(&out).Error
	return out, err
}

// tokenGroup is a group of tokens with the time of its newest one.
type tokenGroup struct {
	GroupName string
	N, Latest int64
}

// tokenGroups returns the groups, the one with the newest token first.
func (r *Store) tokenGroups(ctx context.Context) (rows []tokenGroup, err error) {
	err = r.db(ctx).Raw("SELECT group_name, COUNT(*) AS n, MAX(created_at) AS latest FROM search_tokens WHERE deleted_at = 0 GROUP BY group_name ORDER BY latest DESC, group_name").Scan(&rows).Error
	return rows, err
}
