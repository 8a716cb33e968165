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
	deleted := map[string]int64{}
	for _, r := range records {
		if r.DeletedAt != 0 {
			deleted[r.ID] = r.UpdatedAt
			continue
		}
		plain, err := s.cfg.Keyring.Open(r.Sealed, "search_keys", r.ID, "sealed")
		if err != nil {
			s.cfg.Logger.Error("an upstream key cannot be opened; is this the right master key?", "key", r.ID, "error", err)
			deleted[r.ID] = r.UpdatedAt
			continue
		}
		k := &key{id: r.ID, value: schema.Secret(plain), group: r.GroupName, state: r.State, reason: r.Reason, updated: r.UpdatedAt}
		if r.Until != 0 {
			k.until = time.UnixMilli(r.Until)
		}
		live = append(live, k)
	}
	s.pool.loadKeys(live, deleted)
}

// lookForKeys takes in what the command line may just have added. It asks the database at most once a second; calls that
// come meanwhile wait for the answer.
func (s *Service) lookForKeys(ctx context.Context) {
	s.looking.Lock()
	defer s.looking.Unlock()
	now := s.cfg.Now()
	if now.Sub(s.looked) < unknownFor {
		return
	}
	s.looked = now
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := s.Refresh(ctx); err != nil {
		s.cfg.Logger.Error("upstream keys cannot be looked up", "error", err)
	}
}

// keyChanged stores what an answer has said about a key. It runs beside the request.
func (s *Service) keyChanged(id string, state KeyState, reason string, until, now time.Time) {
	s.cfg.Logger.Warn("upstream key changes its state", "key", id, "state", state, "reason", reason, "until", until)
	s.background.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		err := s.cfg.Store.Tx(ctx, "mark upstream key", func(ctx context.Context) error {
			stored, err := s.repo.setKeyState(ctx, id, state, reason, store.Millis(until), now.UnixMilli())
			if stored && err == nil && state == KeyInvalid {
				err = s.monitor.reportInvalidKey(ctx, id, reason)
			}
			return err
		})
		if err != nil {
			s.cfg.Logger.Error("the state of an upstream key cannot be stored", "key", id, "error", err)
		}
	})
}
