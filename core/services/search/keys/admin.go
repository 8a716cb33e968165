package keys

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/store"
)

// KeyAdmin changes upstream keys. It needs no running service: a core that runs on the same database notices what was changed.
type KeyAdmin struct {
	store   *store.Store
	keyring *secret.Keyring
	now     func() time.Time
	Store   *Store
	// changed tells the service of this process.
	changed func(ctx context.Context, ids ...string) error
}

// NewKeyAdmin makes a KeyAdmin on a database whose migrations have run; now nil means time.Now.
func NewKeyAdmin(st *store.Store, keyring *secret.Keyring, now func() time.Time) *KeyAdmin {
	if now == nil {
		now = time.Now
	}
	return &KeyAdmin{store: st, keyring: keyring, now: now, Store: &Store{st}, changed: func(context.Context, ...string) error { return nil }}
}

// AddedKey tells what became of one key of AddKeys.
type AddedKey struct {
	// ID is empty for a line that holds no key.
	ID string
	// Status is "created", "restored", "exists" or "invalid".
	Status string
	// Problem explains "invalid".
	Problem string
}

// AddKeys adds upstream keys. One that was deleted or found invalid before becomes active again.
func (a *KeyAdmin) AddKeys(ctx context.Context, group string, values []string) ([]AddedKey, error) {
	out := make([]AddedKey, 0, len(values))
	err := a.store.Tx(ctx, "add upstream keys", func(ctx context.Context) error {
		if err := a.Store.lockAdding(ctx); err != nil {
			return err
		}
		for _, v := range values {
			added, err := a.addKey(ctx, group, strings.TrimSpace(v))
			if err != nil {
				return err
			}
			httpd.NoteObject(ctx, added.ID)
			out = append(out, added)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("add upstream keys: %w", err)
	}
	ids := make([]string, 0, len(out))
	for _, k := range out {
		if k.Status == "created" || k.Status == "restored" {
			ids = append(ids, k.ID)
		}
	}
	return out, a.changed(ctx, ids...)
}

func (a *KeyAdmin) addKey(ctx context.Context, group, value string) (AddedKey, error) {
	if problem := KeyProblem(value); problem != "" {
		return AddedKey{Status: "invalid", Problem: problem}, nil
	}
	now := a.now().UnixMilli()
	hash := secret.HashToken(value)
	r, found, err := a.Store.lockKeyByHash(ctx, hash)
	switch {
	case err != nil:
		return AddedKey{}, err
	case found && r.DeletedAt == 0 && r.State != KeyInvalid:
		return AddedKey{ID: r.ID, Status: "exists"}, nil
	case found:
		before := r.State
		err = a.Store.update(ctx, &r, map[string]any{"deleted_at": 0, "state": KeyActive, "reason": "", "until": 0,
			"updated_at": max(now, r.UpdatedAt+1), "state_changed_at": now})
		if err == nil {
			err = a.Store.recordKeyEvent(ctx, r.ID, KeyRestored, before, KeyActive, "", now)
		}
		return AddedKey{ID: r.ID, Status: "restored"}, err
	}
	id := secret.RandomString(keyIDLen, secret.Alphanumeric)
	r = KeyRecord{
		ID: id, Hash: bytes.Clone(hash), Sealed: a.keyring.Seal([]byte(value), "search_keys", id, "sealed"),
		GroupName: group, State: KeyActive, CreatedAt: now, UpdatedAt: now, StateChangedAt: now,
	}
	if err := a.Store.create(ctx, &r); err != nil {
		return AddedKey{}, err
	}
	return AddedKey{ID: id, Status: "created"}, a.Store.recordKeyEvent(ctx, id, KeyAdded, "", KeyActive, "", now)
}

// KeyProblem returns what is wrong with the text of an upstream key, or "".
func KeyProblem(v string) string {
	switch {
	case v == "":
		return "the line is empty"
	case len(v) > maxKeyLen:
		return fmt.Sprintf("the key has more than %d characters", maxKeyLen)
	case strings.ContainsFunc(v, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "the key holds a space or a character that is not visible ASCII"
	}
	return ""
}

const (
	keyIDLen  = 6
	maxKeyLen = 512
)

// listedAtOnce is how many records are read from the database at once.
const listedAtOnce = 500

// StoredKey is an upstream key as it is stored, without the key itself.
type StoredKey struct {
	ID              string    `json:"id"`
	Status          KeyState  `json:"status"`
	Group           string    `json:"group"`
	Reason          string    `json:"reason"`
	Until           *api.Time `json:"until"`
	CreatedAt       api.Time  `json:"created_at"`
	StatusChangedAt *api.Time `json:"status_changed_at"`
}

// ListKeys returns all upstream keys, the newest first.
func (a *KeyAdmin) ListKeys(ctx context.Context) ([]StoredKey, error) {
	out := []StoredKey{}
	for page := 1; ; page++ {
		records, _, err := a.Store.KeyPage(ctx, KeyFilter{}, page, listedAtOnce)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			out = append(out, StoredKey{r.ID, r.State, r.GroupName, r.Reason, api.OptionalTime(r.Until), api.TimeOfMillis(r.CreatedAt),
				api.OptionalTime(r.StateChangedAt)})
		}
		if len(records) < listedAtOnce {
			return out, nil
		}
	}
}
