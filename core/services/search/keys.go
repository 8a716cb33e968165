package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

const (
	keyIDLen  = 6
	maxKeyLen = 512
)

// loadKeys opens the sealed keys and takes them into the pool. One that cannot be opened is left out and reported.
func (s *Service) loadKeys(records []keyRecord) {
	var live []*key
	var deleted []string
	for _, r := range records {
		if r.DeletedAt != 0 {
			deleted = append(deleted, r.ID)
			continue
		}
		plain, err := s.cfg.Keyring.Open(r.Sealed, "search_keys", r.ID, "sealed")
		if err != nil {
			s.cfg.Logger.Error("an upstream key cannot be opened; is this the right master key?", "key", r.ID, "error", err)
			deleted = append(deleted, r.ID)
			continue
		}
		k := &key{id: r.ID, value: schema.Secret(plain), group: r.GroupName, state: r.State, reason: r.Reason}
		if r.Until != 0 {
			k.until = time.UnixMilli(r.Until)
		}
		live = append(live, k)
	}
	s.pool.load(live, deleted)
}

// keyChanged stores what an answer has said about a key. It runs beside the request.
func (s *Service) keyChanged(id string, state KeyState, reason string, until time.Time) {
	s.cfg.Logger.Warn("upstream key changes its state", "key", id, "state", state, "reason", reason, "until", until)
	s.background.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := s.repo.setKeyState(ctx, id, state, reason, store.Millis(until), s.cfg.Now().UnixMilli()); err != nil {
			s.cfg.Logger.Error("the state of an upstream key cannot be stored", "key", id, "error", err)
		}
	})
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
func (s *Service) AddKeys(ctx context.Context, group string, values []string) ([]AddedKey, error) {
	out := make([]AddedKey, 0, len(values))
	err := s.cfg.Store.Tx(ctx, "add upstream keys", func(ctx context.Context) error {
		for _, v := range values {
			added, err := s.addKey(ctx, group, strings.TrimSpace(v))
			if err != nil {
				return err
			}
			out = append(out, added)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("add upstream keys: %w", err)
	}
	return out, s.Refresh(ctx)
}

func (s *Service) addKey(ctx context.Context, group, value string) (AddedKey, error) {
	if problem := keyProblem(value); problem != "" {
		return AddedKey{Status: "invalid", Problem: problem}, nil
	}
	w, now := s.cfg.Store.Writer(ctx), s.cfg.Now().UnixMilli()
	hash := secret.HashToken(value)
	var r keyRecord
	err := w.Where("hash = ?", hash).Take(&r).Error
	switch {
	case err == nil && r.DeletedAt == 0 && r.State != KeyInvalid:
		return AddedKey{ID: r.ID, Status: "exists"}, nil
	case err == nil:
		err = w.Model(&r).Updates(map[string]any{"deleted_at": 0, "state": KeyActive, "reason": "", "until": 0, "updated_at": now}).Error
		return AddedKey{ID: r.ID, Status: "restored"}, err
	case !errors.Is(err, gorm.ErrRecordNotFound):
		return AddedKey{}, err
	}
	id := secret.RandomString(keyIDLen, secret.Alphanumeric)
	r = keyRecord{
		ID: id, Hash: bytes.Clone(hash), Sealed: s.cfg.Keyring.Seal([]byte(value), "search_keys", id, "sealed"),
		GroupName: group, State: KeyActive, CreatedAt: now, UpdatedAt: now,
	}
	return AddedKey{ID: id, Status: "created"}, w.Create(&r).Error
}

func keyProblem(v string) string {
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
