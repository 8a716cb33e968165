package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/patchbay-dev/patchbay/core/store"
)

// PutValue keeps a value in the database for a while, for whichever node asks for it first. Seal what is secret.
func PutValue(ctx context.Context, s *store.Store, key, value string, keep time.Duration) error {
	clock := store.ClockSQL(s)
	return s.Tx(ctx, "keep a value", func(ctx context.Context) error {
		if err := s.Writer(ctx).Exec("DELETE FROM core_values WHERE until_at < " + clock).Error; err != nil {
			return err
		}
		return s.Writer(ctx).Exec("INSERT INTO core_values (key, value, until_at) VALUES (?, ?, "+clock+" + ?)", key, value,
			keep.Milliseconds()).Error
	})
}

// TakeValue returns a value that PutValue has kept, and deletes it. It reports false if there is none any more.
func TakeValue(ctx context.Context, s *store.Store, key string) (value string, found bool, err error) {
	var values []string
	err = s.Tx(ctx, "take a value", func(ctx context.Context) error {
		return s.Writer(ctx).Raw("DELETE FROM core_values WHERE key = ? AND until_at >= "+store.ClockSQL(s)+" RETURNING value",
			key).Scan(&values).Error
	})
	if err != nil || len(values) == 0 {
		return "", false, err
	}
	return values[0], true, nil
}

// masterKey is the name of the id of the master key in core_state.
const masterKey = "master_key"

// KeyRing tells the master keys by their ids.
type KeyRing interface {
	// KeyID is the id of the key that seals.
	KeyID() string
	// HasKey reports whether there is a key with an id.
	HasKey(id string) bool
}

// CheckMasterKey refuses master keys with which this core cannot read what others have sealed, or the others what this one seals. The first
// core of a database sets the key; one that has it beside a newer key replaces it, as a rotation does.
func CheckMasterKey(ctx context.Context, s *store.Store, ring KeyRing) error {
	return s.Tx(ctx, "check the master key", func(ctx context.Context) error {
		w := s.Writer(ctx)
		// The row is locked, for two cores that start at once.
		if err := w.Exec("INSERT INTO core_state (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = core_state.value",
			masterKey, ring.KeyID()).Error; err != nil {
			return err
		}
		var id string
		if err := w.Raw("SELECT value FROM core_state WHERE name = ?", masterKey).Scan(&id).Error; err != nil {
			return err
		}
		if !ring.HasKey(id) {
			return fmt.Errorf("secret_key (SVC_SECRET_KEY) has the master key %s, and the other cores of this database use %s: give all the same",
				ring.KeyID(), id)
		}
		return w.Exec("UPDATE core_state SET value = ? WHERE name = ?", ring.KeyID(), masterKey).Error
	})
}
