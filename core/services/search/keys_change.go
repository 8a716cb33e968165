package search

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/store"
)

// The operations in the history of an upstream key.
const (
	KeyAdded       = "added"
	KeyRestored    = "restored"
	KeyDeleted     = "deleted"
	KeyEnabled     = "enabled"
	KeySwitchedOff = "disabled"
	KeyQuarantined = "quarantined"
	KeyReleased    = "released"
	KeyMarked      = "marked"
)

// keyEvent is a change of an upstream key's state, with the reason.
type keyEvent struct {
	ID        string `gorm:"primaryKey"`
	KeyID     string
	Time      int64
	Source    string
	Actor     string
	Operation string
	Before    KeyState
	After     KeyState
	Reason    string
}

// TableName implements gorm's Tabler.
func (keyEvent) TableName() string { return "search_key_events" }

// recordKeyEvent adds a change of a key to its history. Without a principal in ctx, the system has made it.
func (r *repository) recordKeyEvent(ctx context.Context, key, operation string, before, after KeyState, reason string, now int64) error {
	e := keyEvent{
		ID: store.NewID("kev"), KeyID: key, Time: now, Source: "system", Operation: operation, Before: before, After: after, Reason: reason,
	}
	if p := auth.From(ctx); p != nil {
		e.Source, e.Actor = "admin", p.User.Name
	}
	return r.store.Writer(ctx).Create(&e).Error
}

// liveKey returns an upstream key that is not deleted.
func (r *repository) liveKey(ctx context.Context, id string) (keyRecord, error) {
	return takeLiveKey(r.db(ctx), id)
}

// lockKey returns an upstream key that is not deleted and locks it until the running transaction ends. What decides by a key's state
// reads it so. A transaction that locks several keys calls lockAdding first.
func (r *repository) lockKey(ctx context.Context, id string) (keyRecord, error) {
	return takeLiveKey(r.store.Writer(ctx).Clauses(clause.Locking{Strength: "UPDATE"}), id)
}

// lockAdding makes transactions that add upstream keys run one after the other.
func (r *repository) lockAdding(ctx context.Context) error {
	if r.store.Dialect() != store.Postgres {
		return nil
	}
	return r.store.Writer(ctx).Exec("SELECT pg_advisory_xact_lock(hashtext('search_keys/add'))").Error
}

func takeLiveKey(db *gorm.DB, id string) (keyRecord, error) {
	var out keyRecord
	err := db.Where("id = ? AND deleted_at = 0", id).Take(&out).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return out, fault.New(fault.NotFound, "There is no such upstream key.")
	}
	return out, err
}

// keyChange is a change of an upstream key's state.
type keyChange struct {
	operation, reason string
	// from is the state in which a key is changed; in another one it is left alone. "" means any.
	from, to KeyState
	// deletedAt is when the key is deleted, in Unix milliseconds; 0 if it is not.
	deletedAt int64
}

// changeKey changes a key's state, notes it, and tells the pool after the commit.
func (a *Admin) changeKey(ctx context.Context, id string, c keyChange) error {
	err := a.store.Tx(ctx, "change upstream key", func(ctx context.Context) error {
		k, err := a.repo.lockKey(ctx, id)
		if err != nil || c.from != "" && k.State != c.from {
			return err
		}
		now, before := a.now().UnixMilli(), k.State
		// A later moment than that of any answer which is still on its way.
		values := map[string]any{
			"state": c.to, "reason": c.reason, "until": 0, "updated_at": max(now, k.UpdatedAt+1), "state_changed_at": now, "deleted_at": c.deletedAt,
		}
		if err := a.store.Writer(ctx).Model(&k).Updates(values).Error; err != nil {
			return err
		}
		return a.repo.recordKeyEvent(ctx, id, c.operation, before, c.to, c.reason, now)
	})
	if err != nil {
		return fmt.Errorf("change upstream key: %w", err)
	}
	return a.keysChanged(ctx)
}

// SetKeyEnabled takes a key into use or out of it.
func (a *Admin) SetKeyEnabled(ctx context.Context, id string, on bool) error {
	if on {
		return a.changeKey(ctx, id, keyChange{operation: KeyEnabled, to: KeyActive})
	}
	return a.changeKey(ctx, id, keyChange{operation: KeySwitchedOff, to: KeyDisabled})
}

// QuarantineKey marks a key as invalid: it is not used until somebody releases it.
func (a *Admin) QuarantineKey(ctx context.Context, id, reason string) error {
	return a.changeKey(ctx, id, keyChange{operation: KeyQuarantined, reason: reason, to: KeyInvalid})
}

// ReleaseKey makes a key active again that was found invalid, or that rests.
func (a *Admin) ReleaseKey(ctx context.Context, id string) error {
	return a.changeKey(ctx, id, keyChange{operation: KeyReleased, to: KeyActive})
}

// DeleteKey takes a key out of the pool. Adding it again restores it.
func (a *Admin) DeleteKey(ctx context.Context, id string) error {
	return a.changeKey(ctx, id, keyChange{operation: KeyDeleted, to: KeyDisabled, deletedAt: a.now().UnixMilli()})
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

// keyPage returns one page of a list, the newest first, and how many there are in all.
func (r *repository) keyPage(ctx context.Context, f KeyFilter, page, perPage int) (out []keyRecord, total int64, err error) {
	if err = f.applyTo(r.db(ctx).Model(&keyRecord{})).Count(&total).Error; err != nil {
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

func (r *repository) keyFacet(ctx context.Context, column string) ([]Facet, error) {
	out := []Facet{}
	err := r.db(ctx).Raw("SELECT " + column + " AS value, COUNT(*) AS count FROM search_keys WHERE deleted_at = 0 GROUP BY " + column + " ORDER BY " + column).Scan(&out).Error
	return out, err
}

// keyHistory returns a page of a key's changes, the newest first, and the position after it.
func (r *repository) keyHistory(ctx context.Context, key, before string, limit int) (out []keyEvent, err error) {
	q := r.db(ctx).Where("key_id = ?", key)
	if before != "" {
		q = q.Where("id < ?", before)
	}
	err = q.Order("id DESC").Limit(limit).Find(&out).Error
	return out, err
}

// setKeyQuota stores what an upstream says about a key's quota.
func (r *repository) setKeyQuota(ctx context.Context, id string, limit, used, now int64, problem string) error {
	return r.store.Tx(ctx, "store the quota of an upstream key", func(ctx context.Context) error {
		values := map[string]any{"quota_synced_at": now, "quota_error": problem}
		if problem == "" {
			values["quota_limit"], values["quota_used"] = limit, used
		}
		return r.store.Writer(ctx).Model(&keyRecord{}).Where("id = ? AND deleted_at = 0", id).UpdateColumns(values).Error
	})
}
