package notify

import (
	"context"
	"errors"
	"sync"
)

// ending is what became of an attempt.
type ending struct {
	state    State
	reason   string
	warnings []string
	gone     bool
}

// debts are what became of attempts and could not be written, by delivery: it is written before anything else happens to
// them, so that nothing is sent twice or called uncertain that is known. Only a crash forgets it.
type debts struct {
	mu   sync.Mutex
	byID map[string]ending
}

func (s *Sender) owe(id string, e ending) {
	s.debts.mu.Lock()
	defer s.debts.mu.Unlock()
	if s.debts.byID == nil {
		s.debts.byID = map[string]ending{}
	}
	s.debts.byID[id] = e
}

func (s *Sender) owed(id string) (ending, bool) {
	s.debts.mu.Lock()
	defer s.debts.mu.Unlock()
	e, ok := s.debts.byID[id]
	return e, ok
}

func (s *Sender) forgive(id string) {
	s.debts.mu.Lock()
	defer s.debts.mu.Unlock()
	delete(s.debts.byID, id)
}

// pay writes what became of the attempt before.
func (s *Sender) pay(ctx context.Context, d *delivery, e ending) (any, error) {
	d.gone = e.gone
	switch e.state {
	case Waiting:
		err := s.change(ctx, d.ID, map[string]any{"state": Waiting})
		if err == nil {
			s.forgive(d.ID)
		}
		return nil, again(0, errors.Join(errWaits, err))
	case Delivered, Superseded:
		return s.settle(ctx, d, e.state, e.warnings)
	}
	return nil, s.fail(ctx, d, e.state, e.reason)
}
