package search

import (
	"context"
	"time"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/store"
)

// repository holds the queries. It decides nothing.
type repository struct{ store *store.Store }

func (r *repository) db(ctx context.Context) *gorm.DB { return r.store.DB(ctx) }

func (r *repository) findToken(ctx context.Context, id string) (tokenRecord, error) {
	var out tokenRecord
	err := r.db(ctx).Where("id = ?", id).Take(&out).Error
	return out, err
}

func (r *repository) tokensSince(ctx context.Context, updated int64) (out []tokenRecord, err error) {
	err = r.db(ctx).Where("updated_at >= ?", updated).Find(&out).Error
	return out, err
}

func (r *repository) keysSince(ctx context.Context, updated int64) (out []keyRecord, err error) {
	err = r.db(ctx).Where("updated_at >= ?", updated).Find(&out).Error
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
func (r *repository) hasTokens(ctx context.Context) (has bool, err error) {
	err = r.db(ctx).Raw("SELECT EXISTS (SELECT 1 FROM search_tokens WHERE deleted_at = 0)").Row().Scan(&has)
	return has, err
}

// usageSince returns the stored use since a minute, one row for each token and minute.
func (r *repository) usageSince(ctx context.Context, minute int64) (out []usageRecord, err error) {
	err = r.db(ctx).Where("minute >= ?", minute).Find(&out).Error
	return out, err
}

// usageSums returns the stored use from one minute to before another, summed by token and dated by its newest minute.
func (r *repository) usageSums(ctx context.Context, from, before int64) (out []usageRecord, err error) {
	err = r.db(ctx).Model(&usageRecord{}).
		Select("token_id, MAX(minute) AS minute, SUM(requests) AS requests, SUM(credits) AS credits, SUM(successes) AS successes, SUM(errors) AS errors, SUM(refused) AS refused").
		Where("minute >= ? AND minute < ?", from, before).Group("token_id").Scan(&out).Error
	return out, err
}

func (r *repository) findResearch(ctx context.Context, resource string, since time.Time) (researchRecord, error) {
	var out researchRecord
	err := r.db(ctx).Where("resource_id = ? AND created_at >= ?", resource, since.UnixMilli()).Take(&out).Error
	return out, err
}

func (r *repository) lastRequestID(ctx context.Context) (id int64, err error) {
	err = r.db(ctx).Raw("SELECT COALESCE(MAX(id), 0) FROM search_requests").Scan(&id).Error
	return id, err
}

// closeInterrupted ends the rows that a crash left open. The credits that they had reserved are charged: nobody saw the
// end of the calls, and the upstream may have worked.
func (r *repository) closeInterrupted(ctx context.Context) (n int64, err error) {
	err = r.store.Tx(ctx, "close interrupted requests", func(ctx context.Context) error {
		charged := r.store.Writer(ctx).Exec("INSERT INTO quota_usage (token_id,minute,requests,credits,successes,errors,refused) " +
			"SELECT token_id, time/60000, 0, SUM(credits), 0, 0, 0 FROM search_requests WHERE outcome = 0 AND credits > 0 GROUP BY token_id, time/60000 " +
			"ON CONFLICT (token_id,minute) DO UPDATE SET credits=quota_usage.credits+excluded.credits")
		if charged.Error != nil {
			return charged.Error
		}
		// The 0 of Open is spelled out: with a parameter in its place the index of open rows cannot be used.
		res := r.store.Writer(ctx).Exec("UPDATE search_requests SET outcome = ?, error_code = 'interrupted' WHERE outcome = 0", Interrupted)
		n = res.RowsAffected
		return res.Error
	})
	return n, err
}

// setKeyState stores what an answer said at a moment, unless the key is deleted, disabled or invalid, or was changed since. It reports
// whether it was stored.
func (r *repository) setKeyState(ctx context.Context, id string, state KeyState, reason string, until, now int64) (stored bool, err error) {
	err = r.store.Tx(ctx, "mark upstream key", func(ctx context.Context) error {
		k, err := r.lockKey(ctx, id)
		switch {
		case fault.CodeOf(err) == fault.NotFound:
			return nil
		case err != nil:
			return err
		case k.State == KeyDisabled, k.State == KeyInvalid, k.UpdatedAt > now:
			return nil
		}
		// gorm writes the new values into k as well.
		before := k.State
		err = r.store.Writer(ctx).Model(&k).
			Updates(map[string]any{"state": state, "reason": reason, "until": until, "updated_at": now, "state_changed_at": now}).Error
		stored = err == nil
		if err != nil || before == state {
			return err
		}
		return r.recordKeyEvent(ctx, id, KeyMarked, before, state, reason, now)
	})
	return stored, err
}

// cutoffs are the times before which rows go.
type cutoffs struct{ rows, usage, research time.Time }

// purgeBefore deletes at most limit requests, with their bodies, and what else is older than the cut-offs. It reports whether
// requests are left to delete.
func (r *repository) purgeBefore(ctx context.Context, before cutoffs, limit int) (more bool, err error) {
	err = r.store.Tx(ctx, "delete old requests", func(ctx context.Context) error {
		w := r.store.Writer(ctx)
		ids, err := oldestIDs(w, before.rows, limit)
		if err != nil {
			return err
		}
		more = len(ids) == limit
		if len(ids) > 0 {
			if err := w.Exec("DELETE FROM search_bodies WHERE request_row IN ?", ids).Error; err != nil {
				return err
			}
			if err := w.Exec("DELETE FROM search_requests WHERE id IN ?", ids).Error; err != nil {
				return err
			}
		}
		if err := w.Exec("DELETE FROM quota_usage WHERE minute < ?", before.usage.Unix()/60).Error; err != nil {
			return err
		}
		return w.Exec("DELETE FROM search_research WHERE created_at < ?", before.research.UnixMilli()).Error
	})
	return more, err
}

// oldestIDs returns the ids of the oldest requests before a time, at most limit. Ids ascend with time, so that
// no index on the time is needed, which every request would pay for.
func oldestIDs(w *gorm.DB, before time.Time, limit int) (ids []int64, err error) {
	var rows []struct{ ID, Time int64 }
	if err := w.Raw("SELECT id, time FROM search_requests WHERE id > 0 ORDER BY id LIMIT ?", limit).Scan(&rows).Error; err != nil {
		return nil, err
	}
	for _, r := range rows {
		if r.Time >= before.UnixMilli() {
			break
		}
		ids = append(ids, r.ID)
	}
	return ids, nil
}
