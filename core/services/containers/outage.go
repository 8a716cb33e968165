package containers

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
)

const (
	// outageWait is for how long a step waits for an engine that went away, enginePause the pause between two looks.
	outageWait  = time.Minute
	enginePause = 250 * time.Millisecond
	// outageAttempts is how often a call that the engine's end has cut off is made in all.
	outageAttempts = 5
)

// engineGone reports whether an error says nothing about the request: the engine or its plugin is not there.
func engineGone(err error) bool {
	return client.CauseOf(err) == client.CauseUnreachable || fault.CodeOf(err) == fault.PluginUnavailable
}

// awaitEngine waits until the engine answers. It goes on when the job is cancelled, and ends when the core does.
func (s *Service) awaitEngine(ctx context.Context, limit time.Duration) error {
	wait, cancel := context.WithTimeout(withoutEnd(ctx), limit)
	defer cancel()
	for {
		_, err := s.engine().Info(wait, "")
		if err == nil || goesOn(ctx) {
			return err
		}
		if err := sleepContext(wait, enginePause); err != nil {
			return err
		}
	}
}

// throughOutage makes a call that may be made again, and makes it again when the engine went away during it.
func (s *Service) throughOutage(ctx context.Context, call func() error) error {
	for attempt := 1; ; attempt++ {
		err := call()
		if err == nil || attempt == outageAttempts || ctx.Err() != nil || !engineGone(err) {
			return err
		}
		if s.awaitEngine(ctx, outageWait) != nil || ctx.Err() != nil {
			return err
		}
	}
}

// retryStep calls do until it succeeds, fails with an error that is not transient, or the retries are used up. The pauses
// double.
func (s *Service) retryStep(ctx context.Context, do func() error) error {
	set := s.settings()
	pause, longest := time.Duration(set.UpdateBaseMS)*time.Millisecond, time.Duration(max(set.UpdateBaseMS, set.UpdateMaxMS))*time.Millisecond
	for attempt := int64(1); ; attempt++ {
		err := do()
		if err == nil || attempt >= set.UpdateRetries || ctx.Err() != nil || !isTransient(err) {
			return err
		}
		if engineGone(err) && s.awaitEngine(ctx, outageWait) != nil {
			return err
		}
		if err := sleepContext(ctx, min(pause<<min(attempt-1, 20), longest)); err != nil {
			return err
		}
	}
}

// isTransient reports whether an error may be gone at the next try.
func isTransient(err error) bool {
	switch fault.CodeOf(err) {
	case fault.InvalidRequest, fault.InvalidArgument, fault.NotFound, fault.Conflict, fault.Unauthorized, fault.Forbidden:
		return false
	}
	return !isDenied(err)
}
