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
	// longestPause is the most that a channel may ask for, and giveUp how long a delivery is tried: a day, and time for one
	// more attempt after such a pause.
	longestPause = 24 * time.Hour
	giveUp       = 25 * time.Hour
	// workers are the sends at once; others of the queue's workers stay free for other work. They are more than there are
	// channels, as a rule: those that hang must leave some to the others.
	workers = 12
)

type deliverPayload struct {
	ID string `json:"id"`
}

// Jobs are the handlers of the sender's work.
func (s *Sender) Jobs() []queue.Handler {
	return []queue.Handler{
		{
			// It is safe to repeat, since the delivery itself tells how far it got. It gives up by time, not by attempts.
			Type: jobDeliver, Safe: true, Limit: workers, MaxAttempts: 1 << 30, Run: s.deliver, Finished: s.finished,
			Backoff: func(int) time.Duration { return 0 },
		},
		{Type: jobPurge, Safe: true, Run: func(ctx context.Context, _ *queue.Job, _ queue.Progress) (any, error) { return nil, s.purge(ctx) }},
	}
}

// Schedules say when that work is due.
func (s *Sender) Schedules() []queue.Schedule {
	return []queue.Schedule{{Name: jobPurge, Cron: "41 3 * * *", Type: jobPurge}}
}

// again is the error of an attempt after which the job shall run once more.
func again(wait time.Duration, err error) error {
	return fault.Wrap(queue.Temporary(err), fault.UpstreamUnavailable, "The notification could not be delivered yet.").WithRetryAfter(max(wait, time.Millisecond))
}

// errWaits is no failure: nothing was tried.
var errWaits = queue.Postponed(errors.New("the channel is busy or rests"))

// deliver makes one attempt.
func (s *Sender) deliver(ctx context.Context, job *queue.Job, _ queue.Progress) (any, error) {
	var p deliverPayload
	if err := job.Decode(&p); err != nil {
		return nil, err
	}
	d, err := s.delivery(ctx, p.ID)
	switch {
	case err != nil:
		return nil, again(time.Second, err)
	case d == nil:
		return nil, fault.New(fault.NotFound, "The delivery is not there any more.")
	case d.State.Final():
		return map[string]any{"state": d.State}, nil
	}
	if e, ok := s.owed(d.ID); ok {
		return s.pay(ctx, d, e)
	}
	m, err := s.message(ctx, d.MessageID)
	switch {
	case err != nil:
		return nil, again(time.Second, err)
	case m == nil:
		return nil, s.giveUp(ctx, d, "its message is not kept any more")
	}
	if wait := s.gates.enter(d.Channel, d.Recipient, s.cfg.Now(), !d.Once); wait > 0 {
		if s.late(d, wait) {
			return nil, s.giveUp(ctx, d, tooLate+d.Error)
		}
		return nil, again(wait, errWaits)
	}
	outcome, pause, warnings, err := s.pass(ctx, d, m)
	return s.conclude(ctx, d, outcome, pause, warnings, err)
}

// pass makes an attempt with the gate taken, and gives the gate back, whatever the channel does.
func (s *Sender) pass(ctx context.Context, d *delivery, m *message) (outcome sdk.Outcome, pause time.Duration, warnings []string, err error) {
	outcome = sdk.Uncertain
	defer func() {
		asked := time.Duration(0)
		if err != nil {
			asked = min(fault.FromPlugin(err).RetryAfter, longestPause)
		}
		pause = s.gates.leave(d.Channel, d.Recipient, s.cfg.Now(), outcome == sdk.Retryable, func(failures int) time.Duration {
			return max(s.cfg.Backoff(failures), asked)
		})
	}()
	outcome, warnings, err = s.attempt(ctx, d, m)
	return outcome, pause, warnings, err
}

// tooLate begins the reason of a delivery that was given up.
const tooLate = "it could not be delivered within a day: "

// late tells whether a delivery is past its time when it is tried after a pause.
func (s *Sender) late(d *delivery, pause time.Duration) bool {
	return s.cfg.Now().Add(pause).Sub(store.FromMillis(d.CreatedAt)) > giveUp
}

// conclude writes what became of an attempt.
func (s *Sender) conclude(ctx context.Context, d *delivery, outcome sdk.Outcome, pause time.Duration, warnings []string, err error) (any, error) {
	// What is known now must be written also when the core is stopping.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	switch {
	case errors.Is(err, errUnwanted):
		return s.settle(ctx, d, Superseded, nil)
	case outcome == sdk.Delivered:
		return s.settle(ctx, d, Delivered, warnings)
	case outcome == sdk.Uncertain:
		return nil, s.fail(ctx, d, Unknown, words(err))
	case outcome == sdk.Refused || d.Once:
		return nil, s.giveUp(ctx, d, words(err))
	case s.late(d, pause):
		return nil, s.giveUp(ctx, d, tooLate+words(err))
	}
	state := Waiting
	if !d.tried {
		// What an earlier process was doing is still not known.
		state = d.State
	}
	if err := s.change(ctx, d.ID, map[string]any{"state": state, "error": clean(words(err))}); err != nil {
		if d.tried {
			s.owe(d.ID, ending{state: Waiting})
		}
		return nil, again(time.Second, err)
	}
	s.cfg.Logger.Warn("a notification could not be delivered yet", "id", d.ID, "channel", d.Channel, "attempt", d.Attempts, "again_in", pause, "error", words(err))
	return nil, again(pause, err)
}

// settle ends a delivery as it should.
func (s *Sender) settle(ctx context.Context, d *delivery, state State, warnings []string) (any, error) {
	if err := s.end(ctx, d, state, "", warnings); err != nil {
		return nil, again(time.Second, err)
	}
	s.cfg.Logger.Info("a notification has ended", "id", d.ID, "channel", d.Name, "outcome", state, "attempts", d.Attempts, "warnings", warnings)
	return map[string]any{"state": state}, nil
}

// fail ends a delivery that did not arrive, or perhaps.
func (s *Sender) fail(ctx context.Context, d *delivery, state State, reason string) error {
	if err := s.end(ctx, d, state, reason, nil); err != nil {
		return again(time.Second, err)
	}
	s.cfg.Logger.Error("a notification was not delivered", "id", d.ID, "channel", d.Name, "instance", d.Channel, "outcome", state, "error", reason)
	return fault.New(fault.Unprocessable, "The notification was not delivered: %s.", strings.TrimSuffix(clean(reason), "."))
}

// giveUp ends a delivery that is not tried again. What an earlier process was doing with it is not known.
func (s *Sender) giveUp(ctx context.Context, d *delivery, reason string) error {
	state := d.lost()
	if state == Unknown {
		reason = interrupted + ", and it was not sent again: " + reason
	}
	return s.fail(ctx, d, state, reason)
}

// finished ends the delivery of a job that ended without having done so: cancelled, or interrupted too often.
func (s *Sender) finished(ctx context.Context, job queue.Job) error {
	if job.State == queue.Success {
		return nil
	}
	var p deliverPayload
	if err := job.Decode(&p); err != nil {
		return err
	}
	d, err := s.delivery(ctx, p.ID)
	if err != nil || d == nil || d.State.Final() {
		return err
	}
	reason := "the job was ended"
	if job.Failure != nil {
		reason = job.Failure.Message
	}
	return s.end(ctx, d, d.lost(), reason, nil)
}
