package search

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/schema"
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

// lookForKeys takes in what the command line may just have added, at most once a second. It tells whether it did.
func (s *Service) lookForKeys(ctx context.Context) bool {
	now := s.cfg.Now().UnixMilli()
	last := s.looked.Load()
	if now-last < unknownFor.Milliseconds() || !s.looked.CompareAndSwap(last, now) {
		return false
	}
	if err := s.Refresh(ctx); err != nil {
		s.cfg.Logger.Error("upstream keys cannot be looked up", "error", err)
		return false
	}
	return true
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
