package notify

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

const (
	jobDeliver = "notify.deliver"
	jobPurge   = "notify.purge"
	// maxRequestedPause bounds the pause that a channel may ask for. deliveryDeadline is how long a delivery is
	// attempted: a day, and time for one more attempt after such a pause.
	maxRequestedPause = 24 * time.Hour
	deliveryDeadline  = 25 * time.Hour
	// workers is the number of concurrent sends. It leaves workers of the queue to other jobs, and exceeds the usual
	// number of channels, so that channels that hang leave some to the others.
	workers = 12
)

type deliverPayload struct {
	ID string `json:"id"`
}

// Jobs returns the handlers of the sender's jobs.
func (s *Sender) Jobs() []queue.Handler {
	return []queue.Handler{
		{
			// It is safe to repeat, since the delivery itself tells how far it got. It gives up by time, not by attempts.
			Type: jobDeliver, Safe: true, Limit: workers, MaxAttempts: 1 << 30, Run: s.runDelivery, Finished: s.jobFinished,
			Backoff: func(int) time.Duration { return 0 },
		},
		{Type: jobPurge, Safe: true, Deletes: true,
			Run: func(ctx context.Context, _ *queue.Job, _ queue.Progress) (any, error) { return nil, s.purgeOld(ctx) }},
	}
}

// Schedules returns the schedules of the sender's jobs.
func (s *Sender) Schedules() []queue.Schedule {
	return []queue.Schedule{{Name: jobPurge, Cron: "41 3 * * *", Type: jobPurge}}
}

// retryAfter returns the error that makes the queue run the job again after wait.
func retryAfter(wait time.Duration, err error) error {
	return fault.Wrap(queue.Temporary(err), fault.UpstreamUnavailable,
		"The notification could not be delivered yet.").WithRetryAfter(max(wait, time.Millisecond))
}

// errBusy postpones a delivery without counting a failure: nothing was attempted.
var errBusy = queue.Postponed(errors.New("the channel is busy or rests"))

// runDelivery is the handler of a delivery's job. It makes one attempt.
func (s *Sender) runDelivery(ctx context.Context, job *queue.Job, _ queue.Progress) (any, error) {
	var p deliverPayload
	if err := job.Decode(&p); err != nil {
		return nil, err
	}
	d, err := s.readDelivery(ctx, p.ID)
	switch {
	case err != nil:
		return nil, retryAfter(time.Second, err)
	case d == nil:
		return nil, fault.New(fault.NotFound, "The delivery was deleted.")
	case d.State.Final():
		return map[string]any{"state": d.State}, nil
	}
	if e, ok := s.pending.findOutcome(d.ID); ok {
		return s.flushPendingOutcome(ctx, d, e)
	}
	m, err := s.readMessage(ctx, d.MessageID)
	switch {
	case err != nil:
		return nil, retryAfter(time.Second, err)
	case m == nil:
		return nil, s.abandonDelivery(ctx, d, "its message is not kept any more")
	}
	release, wait, err := s.acquireGate(ctx, d)
	if err != nil {
		return nil, retryAfter(time.Second, err)
	}
	if wait > 0 {
		if s.pastDeadline(d, wait) {
			return nil, s.abandonDelivery(ctx, d, deadlineMessage+d.Error)
		}
		return nil, retryAfter(wait, errBusy)
	}
	outcome, pause, warnings, err := s.attemptHoldingGate(ctx, d, m, release)
	result, err := s.recordOutcome(ctx, d, outcome, pause, warnings, err)
	return s.retryRecording(ctx, d, result, err)
}

// attemptHoldingGate makes an attempt while the recipient's gate is held, and releases the gate, whatever the channel
// does.
func (s *Sender) attemptHoldingGate(ctx context.Context, d *delivery, m *message,
	release func(failed bool, asked time.Duration) time.Duration) (outcome sdk.Outcome, pause time.Duration, warnings []string, err error) {
	outcome = sdk.Uncertain
	defer func() {
		asked := time.Duration(0)
		if err != nil {
			asked = min(fault.FromPlugin(d.Channel, err).RetryAfter, maxRequestedPause)
		}
		pause = release(outcome == sdk.Retryable, asked)
	}()
	outcome, warnings, err = s.attemptDelivery(ctx, d, m)
	return outcome, pause, warnings, err
}

// deadlineMessage begins the error of a delivery that has passed its deadline.
const deadlineMessage = "it could not be delivered within a day: "

// pastDeadline reports whether the delivery has passed its deadline after pause.
func (s *Sender) pastDeadline(d *delivery, pause time.Duration) bool {
	return s.cfg.Now().Add(pause).Sub(store.FromMillis(d.CreatedAt)) > deliveryDeadline
}

// recordOutcome stores the outcome of an attempt: a final state, or the next attempt after pause.
func (s *Sender) recordOutcome(ctx context.Context, d *delivery, outcome sdk.Outcome, pause time.Duration, warnings []string,
	err error) (any, error) {
	// What is known now must be written also when the core is stopping.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	switch {
	case errors.Is(err, errSuperseded):
		return s.completeDelivery(ctx, d, Superseded, nil)
	case outcome == sdk.Delivered:
		return s.completeDelivery(ctx, d, Delivered, warnings)
	case outcome == sdk.Uncertain:
		return nil, s.failDelivery(ctx, d, Unknown, operatorMessage(err))
	case outcome == sdk.Refused || d.Once:
		return nil, s.abandonDelivery(ctx, d, operatorMessage(err))
	case s.pastDeadline(d, pause):
		return nil, s.abandonDelivery(ctx, d, deadlineMessage+operatorMessage(err))
	}
	state := Waiting
	if !d.attempted {
		// What an earlier process was doing is still not known.
		state = d.State
	}
	if err := s.updateDelivery(ctx, d.ID, map[string]any{"state": state, "error": boundedText(operatorMessage(err))}); err != nil {
		if d.attempted {
			s.pending.saveOutcome(d.ID, pendingOutcome{state: Waiting})
		}
		return nil, retryAfter(time.Second, err)
	}
	s.cfg.Logger.Warn("notification not delivered, retrying", "id", d.ID, "channel", d.Channel, "attempt", d.Attempts, "again_in", pause,
		"error", operatorMessage(err))
	return nil, retryAfter(pause, err)
}

// completeDelivery ends a delivery that was delivered or superseded.
func (s *Sender) completeDelivery(ctx context.Context, d *delivery, state State, warnings []string) (any, error) {
	if err := s.endDelivery(ctx, d, state, "", warnings); err != nil {
		return nil, retryAfter(time.Second, err)
	}
	s.cfg.Logger.Info("notification finished", "id", d.ID, "channel", d.Name, "outcome", state, "attempts", d.Attempts, "warnings",
		warnings)
	return map[string]any{"state": state}, nil
}

// failDelivery records the end of a delivery that failed, or whose outcome is unknown.
func (s *Sender) failDelivery(ctx context.Context, d *delivery, state State, reason string) error {
	if err := s.endDelivery(ctx, d, state, reason, nil); err != nil {
		return retryAfter(time.Second, err)
	}
	s.cfg.Logger.Error("notification failed", "id", d.ID, "channel", d.Name, "instance", d.Channel, "outcome", state, "error",
		reason)
	return fault.New(fault.Unprocessable, "The notification was not delivered: %s.", strings.TrimSuffix(boundedText(reason), "."))
}

// abandonDelivery ends a delivery that is not attempted again.
func (s *Sender) abandonDelivery(ctx context.Context, d *delivery, reason string) error {
	state := d.abandonedState()
	if state == Unknown {
		reason = interruptedMessage + ", and it was not sent again: " + reason
	}
	return s.failDelivery(ctx, d, state, reason)
}

// jobFinished ends the delivery of a job that ended without ending it: one that was cancelled, or interrupted too
// often.
func (s *Sender) jobFinished(ctx context.Context, job queue.Job) error {
	if job.State == queue.Success {
		return nil
	}
	var p deliverPayload
	if err := job.Decode(&p); err != nil {
		return err
	}
	d, err := s.readDelivery(ctx, p.ID)
	if err != nil || d == nil || d.State.Final() {
		return err
	}
	reason := "the job was ended"
	if job.Failure != nil {
		reason = job.Failure.Message
	}
	return s.endDelivery(ctx, d, d.abandonedState(), reason, nil)
}
