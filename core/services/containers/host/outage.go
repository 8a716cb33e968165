package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

const (
	// outageWait is for how long a step waits for an engine that went away, enginePause the pause between two looks.
	outageWait  = 2 * time.Minute
	enginePause = 250 * time.Millisecond
	// OutageAttempts is how often a call or a step that the engine's end has cut off is made in all.
	OutageAttempts = 5
	// eventsWait is for how long a job waits until it follows the engine's events.
	eventsWait = 5 * time.Second
)

// watchOutages counts how often the engine goes away, until stop is called. An engine that is restarted ends the
// stream of its events, also where systemd holds its socket meanwhile and calls only take longer.
func (h *Host) watchOutages(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	tried, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		first := sync.OnceFunc(func() { close(tried) })
		defer first()
		for {
			followed := false
			err := h.cfg.Engine().Events(ctx, func(ev engine.Event) error {
				if ev.Type == engine.EventReady {
					followed = true
					first()
				}
				return ctx.Err()
			})
			first()
			switch {
			case ctx.Err() != nil:
				return
			case followed:
				h.Outages.Add(1)
			case !failure.IsEngineGone(err):
				// This engine has no events.
				return
			}
			if event.Sleep(ctx, enginePause) != nil {
				return
			}
		}
	}()
	wait := time.NewTimer(eventsWait)
	defer wait.Stop()
	select {
	case <-tried:
	case <-wait.C:
	}
	return func() {
		cancel()
		<-done
	}
}

// WatchingOutages runs jobs that run compose: how often the engine goes away meanwhile is counted.
func WatchingOutages[P any](h *Host, run work.Runner[P]) work.Runner[P] {
	return func(ctx context.Context, job *queue.Job, payload P, r *work.Reporter) (any, error) {
		defer h.watchOutages(ctx)()
		r.Outages = h.OutageCount()
		return run(ctx, job, payload, r)
	}
}

// OutageWait returns for how long a step waits for the engine.
func (h *Host) OutageWait() time.Duration { return cmp.Or(h.cfg.OutageWait, outageWait) }

// AskEngine returns an error if the engine does not answer, and counts the outage.
func (h *Host) AskEngine(ctx context.Context) error {
	_, err := h.cfg.Engine().Info(ctx, "")
	if err != nil && ctx.Err() == nil {
		h.Outages.Add(1)
	}
	return err
}

// sawOutage reports whether something failed because the engine went away, since outages was before. The end of its events may be heard
// of a little later than the failure.
func (h *Host) sawOutage(ctx context.Context, before int64) bool {
	if h.Outages.Load() == before && h.AskEngine(ctx) == nil {
		_ = event.Sleep(ctx, enginePause)
	}
	return h.Outages.Load() != before
}

// AwaitEngine waits until the engine answers. It goes on when the job is cancelled, and ends when the core does.
func (h *Host) AwaitEngine(ctx context.Context, limit time.Duration) error {
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	for {
		err := h.AskEngine(wait)
		if err == nil || work.IsHandover(ctx) {
			return err
		}
		if err := event.Sleep(wait, enginePause); err != nil {
			return err
		}
	}
}

// ThroughOutage makes a call that may be made again, and makes it again when the engine went away during it.
func (h *Host) ThroughOutage(ctx context.Context, call func() error) error {
	for attempt := 1; ; attempt++ {
		err := call()
		if err == nil || attempt == OutageAttempts || ctx.Err() != nil || !failure.IsEngineGone(err) {
			return err
		}
		if h.AwaitEngine(ctx, h.OutageWait()) != nil {
			return fmt.Errorf("%w: %w", failure.ErrEngineLost, err)
		}
		if ctx.Err() != nil {
			return err
		}
	}
}

// RepeatAfterOutage does something, and does it again when it failed after the engine was away meanwhile. The error wraps
// failure.ErrEngineLost if the engine does not come back.
func (h *Host) RepeatAfterOutage(ctx context.Context, r *work.Reporter, name string, do func(context.Context) error) error {
	for attempt := 1; ; attempt++ {
		before := h.Outages.Load()
		err := do(ctx)
		if err == nil || ctx.Err() != nil || errors.Is(err, failure.ErrEngineLost) || !failure.IsEngineGone(err) && !h.sawOutage(ctx, before) {
			return err
		}
		if h.AwaitEngine(ctx, h.OutageWait()) != nil {
			return fmt.Errorf("%w: %w", failure.ErrEngineLost, err)
		}
		if attempt == OutageAttempts || h.Outages.Load() == before || ctx.Err() != nil {
			return err
		}
		r.LogWarning(ctx, "%s: the engine was away meanwhile, this step is done again", name)
	}
}

// RetryStep calls do until it succeeds, fails with an error that is not transient, or the retries are used up. The pauses
// double.
func (h *Host) RetryStep(ctx context.Context, do func() error) error {
	set := h.cfg.Settings()
	pause, longest := time.Duration(set.UpdateBaseMS)*time.Millisecond, time.Duration(max(set.UpdateBaseMS, set.UpdateMaxMS))*time.Millisecond
	for attempt := int64(1); ; attempt++ {
		err := do()
		if err == nil || attempt >= set.UpdateRetries || ctx.Err() != nil || !failure.IsTransient(err) {
			return err
		}
		if failure.IsEngineGone(err) && h.AwaitEngine(ctx, h.OutageWait()) != nil {
			return fmt.Errorf("%w: %w", failure.ErrEngineLost, err)
		}
		if err := event.Sleep(ctx, min(pause<<min(attempt-1, 20), longest)); err != nil {
			return err
		}
	}
}
