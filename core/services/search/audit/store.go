package audit

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/store"
)

// Store holds the statements about requests and their sums. It decides nothing.
type Store struct{ store *store.Store }

// NewStore returns the statements on a database whose migrations have run.
func NewStore(st *store.Store) *Store { return &Store{st} }

func (r *Store) db(ctx context.Context) *gorm.DB { return r.store.DB(ctx) }

// Cutoffs are the times before which rows go.
type Cutoffs struct{ Rows, Usage, Research time.Time }

// PurgeBefore deletes at most limit requests, with their bodies, and what else is older than the cut-offs. It reports whether
// requests are left to delete.
func (r *Store) PurgeBefore(ctx context.Context, before Cutoffs, limit int) (more bool, err error) {
	err = r.store.Tx(ctx, "delete old requests", func(ctx context.Context) error {
		w := r.store.Writer(ctx)
		ids, err := oldestIDs(w, before.Rows, limit)
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
		if err := w.Exec("DELETE FROM quota_usage WHERE minute < ?", before.Usage.Unix()/60).Error; err != nil {
			return err
		}
		return w.Exec("DELETE FROM search_research WHERE created_at < ?", before.Research.UnixMilli()).Error
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

// LastRequestID returns the id of the latest request, 0 if there is none.
func (r *Store) LastRequestID(ctx context.Context) (id int64, err error) {
	err = r.db(ctx).Raw("SELECT COALESCE(MAX(id), 0) FROM search_requests").Scan(&id).Error
	return id, err
}

// CloseInterrupted ends the rows that a crash left open. The credits that they had reserved are charged: nobody saw the
// end of the calls, and the upstream may have worked.
func (r *Store) CloseInterrupted(ctx context.Context) (n int64, err error) {
	return r.closeInterrupted(ctx, "TRUE")
}

// closeInterrupted is CloseInterrupted for the rows that a condition chooses.
func (r *Store) closeInterrupted(ctx context.Context, where string) (n int64, err error) {
	err = r.store.Tx(ctx, "close interrupted requests", func(ctx context.Context) error {
		charged := r.store.Writer(ctx).Exec("INSERT INTO quota_usage (token_id,minute,requests,credits,successes,errors,refused) " +
			"SELECT token_id, time/60000, 0, SUM(credits), 0, 0, 0 FROM search_requests WHERE outcome = 0 AND " + where + " AND credits > 0 GROUP BY token_id, time/60000 " +
			"ON CONFLICT (token_id,minute) DO UPDATE SET credits=quota_usage.credits+excluded.credits")
		if charged.Error != nil {
			return charged.Error
		}
		// The 0 of Open is spelled out: with a parameter in its place the index of open rows cannot be used.
		res := r.store.Writer(ctx).Exec("UPDATE search_requests SET outcome = ?, error_code = 'interrupted' WHERE outcome = 0 AND "+where, Interrupted)
		n = res.RowsAffected
		return res.Error
	})
	return n, err
}

// FindResearch returns the record of a research id that is not older than since.
func (r *Store) FindResearch(ctx context.Context, id string, since time.Time) (out ResearchRecord, found bool, err error) {
	err = r.db(ctx).Where("resource_id = ? AND created_at >= ?", id, since.UnixMilli()).Take(&out).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return out, false, nil
	}
	return out, err == nil, err
}
