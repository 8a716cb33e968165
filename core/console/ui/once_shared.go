package ui

import (
	"context"
	"encoding/json"
	"time"

	"github.com/patchbay-dev/patchbay/core/cluster"
)

const (
	// onceTable is what secrets are sealed for, sharedTime bounds a look at the database.
	onceTable  = "core_values"
	sharedTime = 5 * time.Second
)

// shareSecret keeps a secret for a user where all cores find it. The page and the user are part of its key.
func (s *Secrets) shareSecret(id, userID string, shown Secret) error {
	ctx, cancel := context.WithTimeout(context.Background(), sharedTime)
	defer cancel()
	raw, err := json.Marshal(shown)
	if err != nil {
		return err
	}
	key := onceKey(id, userID, shown.Of)
	return cluster.PutValue(ctx, s.Store, key, s.Keyring.Seal(raw, onceTable, key, "value"), onceFor)
}

// takeShared returns a secret that a core has kept, and forgets it.
func (s *Secrets) takeShared(id, userID, of string) (found Secret, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), sharedTime)
	defer cancel()
	key := onceKey(id, userID, of)
	sealed, ok, err := cluster.TakeValue(ctx, s.Store, key)
	if err != nil || !ok {
		return Secret{}, false
	}
	raw, err := s.Keyring.Open(sealed, onceTable, key, "value")
	if err != nil || json.Unmarshal(raw, &found) != nil {
		return Secret{}, false
	}
	return found, true
}

// onceKey names a secret among the values that cores share.
func onceKey(id, userID, of string) string { return "once/" + id + "/" + userID + "/" + of }
