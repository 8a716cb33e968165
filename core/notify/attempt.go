package notify

import (
	"context"
	"errors"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/core/texts"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

const interruptedMessage = "the core ended while it was being sent"

// errSuperseded ends a delivery that is not wanted any more.
var errSuperseded = errors.New("what it tells is no longer so")

// attemptDelivery sends a delivery once and returns the outcome. A delivery that a crash interrupted is sent again
// only to a channel that can recognise repetitions.
func (s *Sender) attemptDelivery(ctx context.Context, d *delivery, m *message) (sdk.Outcome, []string, error) {
	ch, err := s.cfg.Channel(d.Channel)
	if err != nil {
		return sdk.Retryable, nil, err
	}
	about, err := ch.Describe()
	if err != nil {
		return sdk.Retryable, nil, err
	}
	idempotent := about.Has(sdk.CapIdempotent)
	if d.State == Sending && (d.Once || !idempotent) {
		return sdk.Uncertain, nil, errors.New(interruptedMessage)
	}
	to, err := s.findTarget(ctx, d, m)
	var nobody *noRecipient
	switch {
	case errors.As(err, &nobody), errors.Is(err, errSuperseded):
		return sdk.Refused, nil, err
	case err != nil:
		return sdk.Retryable, nil, err
	}
	n, err := s.notificationFor(m, d)
	if err != nil {
		return sdk.Refused, nil, err
	}
	warnings := fitToChannel(n, m.Rich.Card, about, s.shortenerFor(m))
	d.Attempts++
	err = s.updateDelivery(ctx, d.ID, map[string]any{"state": Sending, "attempts": d.Attempts, "attempted_at": store.Millis(s.cfg.Now())})
	if err != nil {
		return sdk.Retryable, nil, err
	}
	d.attempted = true
	return s.sendToChannel(ctx, ch, d, n, to, warnings, idempotent)
}

// sendToChannel passes a notification to its channel, within the configured time.
func (s *Sender) sendToChannel(ctx context.Context, ch client.Notifier, d *delivery, n *sdk.Notification, to sdk.Target, warnings []string,
	idempotent bool) (sdk.Outcome, []string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	receipt, err := ch.Send(ctx, n, to)
	if err != nil {
		d.gone = errs.From(err).Reason == sdk.ReasonGone
	}
	outcome := sdk.OutcomeOf(err)
	if outcome == sdk.Uncertain && idempotent && !d.Once {
		outcome = sdk.Retryable
	}
	if receipt != nil {
		warnings = append(warnings, receipt.Warnings...)
	}
	for i := range warnings {
		warnings[i] = boundedText(warnings[i])
	}
	return outcome, warnings[:min(len(warnings), maxWarnings)], err
}

// maxWarnings bounds the warnings of one delivery that are stored.
const maxWarnings = 20

// findTarget returns where a delivery goes, or why it is not sent any more.
func (s *Sender) findTarget(ctx context.Context, d *delivery, m *message) (sdk.Target, error) {
	if !d.Once {
		if err := s.checkWanted(ctx, d, m); err != nil {
			return sdk.Target{}, err
		}
	}
	if s.channels == nil {
		return sdk.Target{}, nil
	}
	return s.channels.Target(ctx, d.toRecipient())
}

// checkWanted returns an error if the channel or the event was switched off, or if what the message tells is no longer so.
func (s *Sender) checkWanted(ctx context.Context, d *delivery, m *message) error {
	if s.channels != nil {
		if err := s.channels.CheckEnabled(ctx, m.Kind, d.toRecipient()); err != nil {
			return err
		}
	}
	o := s.owners[d.Service]
	if o == nil {
		return nil
	}
	wanted, err := o.Wanted(ctx, d.MessageID)
	if err == nil && !wanted && d.State == Waiting {
		return errSuperseded
	}
	return err
}

// operatorMessage returns what an operator may read of an error: the channel's own message, which holds no secret,
// else the fault's.
func operatorMessage(err error) string {
	if err == nil {
		return ""
	}
	var own *errs.Error
	var wire interface{ GRPCStatus() *status.Status }
	var known *fault.Error
	switch {
	case errors.As(err, &own):
		return own.Message
	case errors.As(err, &wire):
		return statusMessage(wire.GRPCStatus())
	case errors.Is(err, context.Canceled):
		return "it was interrupted while it was being sent"
	case errors.Is(err, context.DeadlineExceeded):
		return slowPlugin
	case errors.As(err, &known):
		return known.Message
	}
	return err.Error()
}

const slowPlugin = "the channel's plugin did not answer in time"

// statusMessage returns the message of a gRPC status. A status without details comes from the connection to the
// plugin.
func statusMessage(st *status.Status) string {
	switch {
	case len(st.Details()) > 0:
	case st.Code() == codes.Unavailable, st.Code() == codes.Canceled && strings.Contains(st.Message(), "closing"):
		return "the channel's plugin ended, or cannot be reached: " + st.Message()
	case st.Code() == codes.DeadlineExceeded:
		return slowPlugin
	}
	return st.Message()
}

func boundedText(s string) string {
	return texts.Limit(s, maxError)
}
