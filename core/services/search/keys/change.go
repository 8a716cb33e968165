package keys

import (
	"context"
	"fmt"
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

// keyChange is a change of an upstream key's state.
type keyChange struct {
	operation, reason string
	// from is the state in which a key is changed; in another one it is left alone. "" means any.
	from, to KeyState
	// deletedAt is when the key is deleted, in Unix milliseconds; 0 if it is not.
	deletedAt int64
}

// changeKey changes a key's state, notes it, and tells the pool after the commit.
func (a *KeyAdmin) changeKey(ctx context.Context, id string, c keyChange) error {
	err := a.store.Tx(ctx, "change upstream key", func(ctx context.Context) error {
		k, err := a.Store.lockKey(ctx, id)
		if err != nil || c.from != "" && k.State != c.from {
			return err
		}
		now, before := a.now().UnixMilli(), k.State
		// A later moment than that of any answer which is still on its way.
		values := map[string]any{
			"state": c.to, "reason": c.reason, "until": 0, "updated_at": max(now, k.UpdatedAt+1), "state_changed_at": now, "deleted_at": c.deletedAt,
		}
		if err := a.Store.update(ctx, &k, values); err != nil {
			return err
		}
		return a.Store.recordKeyEvent(ctx, id, c.operation, before, c.to, c.reason, now)
	})
	if err != nil {
		return fmt.Errorf("change upstream key: %w", err)
	}
	return a.changed(ctx, id)
}

// SetKeyEnabled takes a key into use or out of it.
func (a *KeyAdmin) SetKeyEnabled(ctx context.Context, id string, on bool) error {
	if on {
		return a.changeKey(ctx, id, keyChange{operation: KeyEnabled, to: KeyActive})
	}
	return a.changeKey(ctx, id, keyChange{operation: KeySwitchedOff, to: KeyDisabled})
}

// QuarantineKey marks a key as invalid: it is not used until somebody releases it.
func (a *KeyAdmin) QuarantineKey(ctx context.Context, id, reason string) error {
	return a.changeKey(ctx, id, keyChange{operation: KeyQuarantined, reason: reason, to: KeyInvalid})
}

// ReleaseKey makes a key active again that was found invalid, or that rests.
func (a *KeyAdmin) ReleaseKey(ctx context.Context, id string) error {
	return a.changeKey(ctx, id, keyChange{operation: KeyReleased, to: KeyActive})
}

// DeleteKey takes a key out of the pool. Adding it again restores it.
func (a *KeyAdmin) DeleteKey(ctx context.Context, id string) error {
	return a.changeKey(ctx, id, keyChange{operation: KeyDeleted, to: KeyDisabled, deletedAt: a.now().UnixMilli()})
}
