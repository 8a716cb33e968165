package notify

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
)

// pendingOutcome is the outcome of an attempt that could not be stored.
type pendingOutcome struct {
	state    State
	reason   string
	warnings []string
	gone     bool
}

// pendingOutcomes holds outcomes that could not be stored, by delivery. They are stored before anything else happens
// to the delivery, so that nothing is sent twice and no known outcome becomes Unknown. They are lost in a crash. Where
// several nodes share the database, retryRecording stores them before the job ends.
type pendingOutcomes struct {
	mu   sync.Mutex
	byID map[string]pendingOutcome
}

// saveOutcome keeps the outcome of a delivery in memory until it can be stored.
func (p *pendingOutcomes) saveOutcome(id string, e pendingOutcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byID == nil {
		p.byID = map[string]pendingOutcome{}
	}
	p.byID[id] = e
}

// findOutcome returns the pending outcome of a delivery. ok is false if it has none.
func (p *pendingOutcomes) findOutcome(id string) (e pendingOutcome, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e, ok = p.byID[id]
	return e, ok
}

// dropOutcome removes the pending outcome of a delivery.
func (p *pendingOutcomes) dropOutcome(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.byID, id)
}

// flushPendingOutcome stores the pending outcome of a delivery.
func (s *Sender) flushPendingOutcome(ctx context.Context, d *delivery, e pendingOutcome) (any, error) {
	d.gone = e.gone
	switch e.state {
	case Waiting:
		err := s.updateDelivery(ctx, d.ID, map[string]any{"state": Waiting})
		if err == nil {
			s.pending.dropOutcome(d.ID)
		}
		return nil, retryAfter(0, errors.Join(errBusy, err))
	case Delivered, Superseded:
		return s.completeDelivery(ctx, d, e.state, e.warnings)
	}
	return nil, s.failDelivery(ctx, d, e.state, e.reason)
}

// recordPause is the pause before an outcome that could not be stored is stored again, where several nodes share the database.
const recordPause = time.Second

// retryRecording stores the pending outcome of a delivery whose job has run, until that succeeds or the job loses its node: another node, which
// may run the job next, does not know it. result and failed are those of the run so far. For a core alone the next run stores it.
func (s *Sender) retryRecording(ctx context.Context, d *delivery, result any, failed error) (any, error) {
	if !s.cfg.Store.Shared() {
		return result, failed
	}
	for {
		e, ok := s.pending.findOutcome(d.ID)
		if !ok || event.Sleep(ctx, recordPause) != nil {
			return result, failed
		}
		result, failed = s.flushPendingOutcome(ctx, d, e)
	}
}
