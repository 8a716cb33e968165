package audit

import (
	"context"
	"errors"
	"time"

	"github.com/patchbay-dev/patchbay/core/store"
)

// addWriter adds a writer, with a slot that no other one has.
func (r *Store) addWriter(ctx context.Context, node string, epoch, now int64) (id, slot int64, err error) {
	err = r.store.Tx(ctx, "add a writer of requests", func(ctx context.Context) error {
		w := r.store.Writer(ctx)
		if err := r.lockWriters(ctx); err != nil {
			return err
		}
		var taken []int64
		if err := w.Raw("SELECT slot FROM search_writers WHERE NOT ended").Scan(&taken).Error; err != nil {
			return err
		}
		used := map[int64]bool{}
		for _, s := range taken {
			used[s] = true
		}
		for slot = 0; used[slot]; slot++ {
		}
		if slot >= maxSlots {
			return errors.New("too many cores write requests into this database")
		}
		if err := w.Raw("SELECT COALESCE(MAX(id), 0) + 1 FROM search_writers").Row().Scan(&id); err != nil {
			return err
		}
		return w.Exec("INSERT INTO search_writers (id, node, epoch, slot, rolled, rolled_at, ended) VALUES (?, ?, ?, ?, 0, ?, FALSE)", id, node,
			epoch, slot, now).Error
	})
	return id, slot, err
}

// lockWriters makes cores that begin or end do so one after the other.
func (r *Store) lockWriters(ctx context.Context) error {
	return r.store.Writer(ctx).Exec("SELECT pg_advisory_xact_lock(hashtext('search_writers'))").Error
}

// fenceWriter locks the row of a writer until the transaction ends, so that nobody ends it before, or returns errWriterEnded.
func (r *Store) fenceWriter(ctx context.Context, id int64) error {
	var found []int
	err := r.store.Writer(ctx).Raw("SELECT 1 FROM search_writers WHERE id = ? AND NOT ended FOR KEY SHARE", id).Scan(&found).Error
	if err == nil && len(found) == 0 {
		return errWriterEnded
	}
	return err
}

// goneWriters returns the writers that have not been ended, of cores that are gone or, for a core alone, of all.
func (r *Store) goneWriters(ctx context.Context, shared bool) (ids []int64, err error) {
	sql := "SELECT id FROM search_writers w WHERE NOT ended"
	if shared {
		sql += " AND NOT EXISTS (SELECT 1 FROM core_nodes n WHERE n.id = w.node AND n.epoch = w.epoch AND n.ended_at = 0)"
	}
	err = r.db(ctx).Raw(sql + " ORDER BY id").Scan(&ids).Error
	return ids, err
}

// settleWriter ends a writer: it closes the requests that it has left open, and adds those to the roll-ups that are not part of them.
func (r *Store) settleWriter(ctx context.Context, id int64, now time.Time) (interrupted int64, err error) {
	err = r.store.RetryTx(ctx, "end a writer of requests", func(ctx context.Context) error {
		w := r.store.Writer(ctx)
		var rows []struct{ Rolled, RolledAt int64 }
		err := w.Raw("SELECT rolled, rolled_at FROM search_writers WHERE id = ? AND NOT ended FOR UPDATE SKIP LOCKED", id).Scan(&rows).Error
		if err != nil || len(rows) == 0 {
			return err
		}
		charged := w.Exec("INSERT INTO quota_usage (token_id,minute,requests,credits,successes,errors,refused) "+
			"SELECT token_id, time/60000, 0, SUM(credits), 0, 0, 0 FROM search_requests WHERE outcome = 0 AND writer = ? AND credits > 0 "+
			"GROUP BY token_id, time/60000 ORDER BY token_id, time/60000 "+
			"ON CONFLICT (token_id,minute) DO UPDATE SET credits=quota_usage.credits+excluded.credits", id)
		if charged.Error != nil {
			return charged.Error
		}
		// The 0 of Open is spelled out: with a parameter in its place the index of open rows cannot be used.
		closed := w.Exec("UPDATE search_requests SET outcome = ?, error_code = 'interrupted', ended_seq = ? WHERE outcome = 0 AND writer = ?",
			Interrupted, rows[0].Rolled+1, id)
		if closed.Error != nil {
			return closed.Error
		}
		interrupted = closed.RowsAffected
		fresh := newRollups(r, nil, nil)
		// A streamed answer may have begun long before it ended, and clocks differ.
		from := timeID(time.UnixMilli(rows[0].RolledAt).Add(-StreamLimit - clockSlack).UnixMilli())
		err = r.eachRequest(ctx, fresh.addOne, "id >= ? AND writer = ? AND ended_seq > ? AND outcome <> 0", from, id, rows[0].Rolled)
		if err != nil {
			return err
		}
		if err := r.addSlice(ctx, rollupUpsert(r.store.Dialect()), sortedKeys(fresh.pending), fresh.pending); err != nil {
			return err
		}
		return w.Exec("UPDATE search_writers SET ended = TRUE, rolled_at = ? WHERE id = ?", now.UnixMilli(), id).Error
	})
	return interrupted, err
}

// purgeWriters deletes the writers that ended before the requests that are kept. The last one stays: its id must not be given again to
// another one, beside a process that was stopped.
func (r *Store) purgeWriters(ctx context.Context, before time.Time) error {
	return r.store.Tx(ctx, "delete old writers of requests", func(ctx context.Context) error {
		return r.store.Writer(ctx).Exec("DELETE FROM search_writers WHERE ended AND rolled_at < ? AND id < (SELECT MAX(id) FROM search_writers)",
			before.Add(-clockSlack).UnixMilli()).Error
	})
}

// clockSlack is by how much the clocks of cores may differ.
const clockSlack = time.Hour

// addWriterRollups adds the sums of a writer to the stored ones, together with up to which of its requests they go. It does nothing, and
// reports false, if the writer was ended: whoever has done so has added them.
func (r *Store) addWriterRollups(ctx context.Context, writer, upTo int64, add map[rollupKey]*RequestSums,
	now time.Time) (stored bool, err error) {
	err = r.store.RetryTx(ctx, "store roll-ups", func(ctx context.Context) error {
		res := r.store.Writer(ctx).Exec("UPDATE search_writers SET rolled = ?, rolled_at = ? WHERE id = ? AND NOT ended", upTo, now.UnixMilli(), writer)
		if stored = res.Error == nil && res.RowsAffected > 0; !stored {
			return res.Error
		}
		return r.addSlice(ctx, rollupUpsert(r.store.Dialect()), sortedKeys(add), add)
	})
	return stored, err
}

// takeOver ends, once for all cores that begin to share a database, what a core has left that had it for itself.
func (r *Store) takeOver(ctx context.Context, restore func(context.Context) error) (interrupted int64, err error) {
	err = r.store.Tx(ctx, "take requests over", func(ctx context.Context) error {
		if err := r.lockWriters(ctx); err != nil {
			return err
		}
		mark, err := r.ReadMark(ctx, MarkRollups)
		if err != nil || mark == CleanEnd {
			return err
		}
		if interrupted, err = r.closeInterrupted(ctx, "writer = 0"); err != nil {
			return err
		}
		if err := restore(ctx); err != nil {
			return err
		}
		return r.SetMark(ctx, MarkRollups, CleanEnd)
	})
	return interrupted, err
}

// isPostgres reports whether the database is one that cores may have shared.
func (r *Store) isPostgres() bool { return r.store.Dialect() == store.Postgres }
