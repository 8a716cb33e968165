package notify

import (
	"context"
	"errors"
	"sync"
)

// pendingOutcome is the outcome of an attempt that could not be stored.
type pendingOutcome struct {
	state    State
	reason   string
	warnings []string
	gone     bool
}

// pendingOutcomes holds outcomes that could not be stored, by delivery. They are stored before anything else happens
// to the delivery, so that nothing is sent twice and no known outcome becomes Unknown. They are lost in a crash.
type pendingOutcomes struct {
	mu   sync.Mutex
	byID map[string]pendingOutcome
}

// savePendingOutcome keeps the outcome of a delivery in memory until it can be stored.
func (s *Sender) savePendingOutcome(id string, e pendingOutcome) {
	s.pending.mu.Lock()
	defer s.pending.mu.Unlock()
	if s.pending.byID == nil {
		s.pending.byID = map[string]pendingOutcome{}
	}
	s.pending.byID[id] = e
}

// pendingOutcomeOf returns the pending outcome of a delivery. ok is false if it has none.
func (s *Sender) pendingOutcomeOf(id string) (e pendingOutcome, ok bool) {
	s.pending.mu.Lock()
	defer s.pending.mu.Unlock()
	e, ok = s.pending.byID[id]
	return e, ok
}

// dropPendingOutcome removes the pending outcome of a delivery.
func (s *Sender) dropPendingOutcome(id string) {
	s.pending.mu.Lock()
	defer s.pending.mu.Unlock()
	delete(s.pending.byID, id)
}

// flushPendingOutcome stores the pending outcome of a delivery.
func (s *Sender) flushPendingOutcome(ctx context.Context, d *delivery, e pendingOutcome) (any, error) {
	d.gone = e.gone
	switch e.state {
	case Waiting:
		err := s.updateDelivery(ctx, d.ID, map[string]any{"state": Waiting})
		if err == nil {
			s.dropPendingOutcome(d.ID)
		}
		return nil, retryAfter(0, errors.Join(errBusy, err))
	case Delivered, Superseded:
		return s.completeDelivery(ctx, d, e.state, e.warnings)
	}
	return nil, s.failDelivery(ctx, d, e.state, e.reason)
}
