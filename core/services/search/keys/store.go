package keys

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Store holds the statements about upstream keys. It decides nothing.
type Store struct{ store *store.Store }

func (r *Store) db(ctx context.Context) *gorm.DB { return r.store.DB(ctx) }

// create adds the record of a key.
func (r *Store) create(ctx context.Context, k *KeyRecord) error {
	return r.store.Writer(ctx).Create(k).Error
}

// update changes columns of a key. gorm writes the new values into k as well.
func (r *Store) update(ctx context.Context, k *KeyRecord, values map[string]any) error {
	return r.store.Writer(ctx).Model(k).Updates(values).Error
}

// lockKeyByHash returns the key with a hash, also one that is deleted, and locks it until the running transaction ends.
func (r *Store) lockKeyByHash(ctx context.Context, hash []byte) (k KeyRecord, found bool, err error) {
	err = r.store.Writer(ctx).Clauses(clause.Locking{Strength: "UPDATE"}).Where("hash = ?", hash).Take(&k).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return k, false, nil
	}
	return k, err == nil, err
}

// KeysSince returns the keys that were written since a moment in Unix milliseconds.
func (r *Store) KeysSince(ctx context.Context, updated int64) (out []KeyRecord, err error) {
	err = r.db(ctx).Where("updated_at >= ?", updated).Find(&out).Error
	return out, err
}

// keysByID returns keys, also those that are deleted.
func (r *Store) keysByID(ctx context.Context, ids []string) (out []KeyRecord, err error) {
	err = r.db(ctx).Where("id IN ?", ids).Find(&out).Error
	return out, err
}

// SetKeyState stores what an answer said at a moment, unless the key is deleted, disabled or invalid, or was changed since. It reports
// whether it was stored.
func (r *Store) SetKeyState(ctx context.Context, id string, state KeyState, reason string, until, now int64) (stored bool, err error) {
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
		err = r.update(ctx, &k, map[string]any{"state": state, "reason": reason, "until": until, "updated_at": now, "state_changed_at": now})
		stored = err == nil
		if err != nil || before == state {
			return err
		}
		return r.recordKeyEvent(ctx, id, KeyMarked, before, state, reason, now)
	})
	return stored, err
}

// recordKeyEvent adds a change of a key to its history. Without a principal in ctx, the system has made it.
func (r *Store) recordKeyEvent(ctx context.Context, key, operation string, before, after KeyState, reason string, now int64) error {
	e := keyEvent{
		ID: store.NewID("kev"), KeyID: key, Time: now, Source: "system", Operation: operation, Before: before, After: after, Reason: reason,
	}
	if p := auth.From(ctx); p != nil {
		e.Source, e.Actor = "admin", p.User.Name
	}
	return r.store.Writer(ctx).Create(&e).Error
}

// liveKey returns an upstream key that is not deleted.
func (r *Store) liveKey(ctx context.Context, id string) (KeyRecord, error) {
	return takeLiveKey(r.db(ctx), id)
}

// lockKey returns an upstream key that is not deleted and locks it until the running transaction ends. What decides by a key's state
// reads it so. A transaction that locks several keys calls lockAdding first.
func (r *Store) lockKey(ctx context.Context, id string) (KeyRecord, error) {
	return takeLiveKey(r.store.Writer(ctx).Clauses(clause.Locking{Strength: "UPDATE"}), id)
}

// lockAdding makes transactions that add upstream keys run one after the other.
func (r *Store) lockAdding(ctx context.Context) error {
	if r.store.Dialect() != store.Postgres {
		return nil
	}
	return r.store.Writer(ctx).Exec("SELECT pg_advisory_xact_lock(hashtext('search_keys/add'))").Error
}

func takeLiveKey(db *gorm.DB, id string) (KeyRecord, error) {
	var out KeyRecord
	err := db.Where("id = ? AND deleted_at = 0", id).Take(&out).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return out, fault.New(fault.NotFound, "There is no such upstream key.")
	}
	return out, err
}

// KeyFilter selects upstream keys. Several values of a member are alternatives.
type KeyFilter struct{ Groups, States []string }

func (f KeyFilter) applyTo(q *gorm.DB) *gorm.DB {
	q = q.Where("deleted_at = 0")
	if len(f.Groups) > 0 {
		q = q.Where("group_name IN ?", f.Groups)
	}
	if len(f.States) > 0 {
		q = q.Where("state IN ?", f.States)
	}
	return q
}

// KeyPage returns one page of a list, the newest first, and how many there are in all.
func (r *Store) KeyPage(ctx context.Context, f KeyFilter, page, perPage int) (out []KeyRecord, total int64, err error) {
	if err = f.applyTo(r.db(ctx).Model(&KeyRecord{})).Count(&total).Error; err != nil {
		return nil, 0, err
	}
	err = f.applyTo(r.db(ctx)).Order("created_at DESC, id DESC").Limit(perPage).Offset((page - 1) * perPage).Find(&out).Error
	return out, total, err
}

// Facet is a value that a filter may take, and how many it selects by itself.
type Facet struct {
	Value string `json:"value"`
	Count int64  `json:"count"`
}

func (r *Store) keyFacet(ctx context.Context, column string) ([]Facet, error) {
	out := []Facet{}
	err := r.db(ctx).Raw("SELECT " + column + " AS value, COUNT(*) AS count FROM search_keys WHERE deleted_at = 0 GROUP BY " + column +
		" ORDER BY " + column).Scan(&out).Error
	return out, err
}

// KeyHistory returns a page of a key's changes, the newest first, and the position after it.
func (r *Store) KeyHistory(ctx context.Context, key, before string, limit int) (out []keyEvent, err error) {
	q := r.db(ctx).Where("key_id = ?", key)
	if before != "" {
		q = q.Where("id < ?", before)
	}
	err = q.Order("id DESC").Limit(limit).Find(&out).Error
	return out, err
}

// setKeyQuota stores what an upstream says about a key's quota.
func (r *Store) setKeyQuota(ctx context.Context, id string, limit, used, now int64, problem string) error {
	return r.store.Tx(ctx, "store the quota of an upstream key", func(ctx context.Context) error {
		values := map[string]any{"quota_synced_at": now, "quota_error": problem}
		if problem == "" {
			values["quota_limit"], values["quota_used"] = limit, used
		}
		return r.store.Writer(ctx).Model(&KeyRecord{}).Where("id = ? AND deleted_at = 0", id).UpdateColumns(values).Error
	})
}

// KeysToSync returns the keys whose quota is due. The hot ones are those with a request in the last two hours.
func (r *Store) KeysToSync(ctx context.Context, now time.Time) (ids []string, err error) {
	err = r.db(ctx).Raw(`SELECT k.id FROM search_keys k WHERE k.deleted_at = 0 AND k.state NOT IN (?, ?) AND (k.quota_synced_at < ? OR k.quota_synced_at < ? AND EXISTS (
		SELECT 1 FROM search_rollups u WHERE u.scope = 'key' AND u.subject = k.id AND u.step = 0 AND u.start = 0 AND u.last_at >= ?)) ORDER BY k.quota_synced_at, k.id`,
		KeyDisabled, KeyInvalid, now.Add(-coldEvery).UnixMilli(), now.Add(-hotEvery).UnixMilli(), now.Add(-hotFor).UnixMilli()).Scan(&ids).Error
	return ids, err
}

// knownKeys returns the hashes of those of the values that are in the pool.
func (r *Store) knownKeys(ctx context.Context, values []string) (map[string]bool, error) {
	hashes := lists.ConvertAll(values, secret.HashToken)
	var found []KeyRecord
	if err := r.db(ctx).Select("hash").Where("hash IN ? AND deleted_at = 0", hashes).Find(&found).Error; err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, k := range found {
		out[string(k.Hash)] = true
	}
	return out, nil
}

func (r *Store) quotaTotals(ctx context.Context) (limit, left int64, err error) {
	var row struct{ Granted, Remaining int64 }
	err = r.db(ctx).Raw("SELECT COALESCE(SUM(quota_limit), 0) AS granted, COALESCE(SUM(CASE WHEN quota_used < quota_limit THEN quota_limit - quota_used ELSE 0 END), 0) AS remaining " +
		"FROM search_keys WHERE deleted_at = 0 AND quota_limit > 0").Scan(&row).Error
	return row.Granted, row.Remaining, err
}
