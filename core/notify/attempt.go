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
	"github.com/patchbay-dev/patchbay/sdk/errs"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

const interrupted = "the core ended while it was being sent"

// errUnwanted ends a delivery whose news is old.
var errUnwanted = errors.New("what it tells is no longer so")

// attempt sends a delivery once, and tells what became of it. One that a crash interrupted is sent again only where the
// receiver can tell.
func (s *Sender) attempt(ctx context.Context, d *delivery, m *message) (sdk.Outcome, []string, error) {
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
		return sdk.Uncertain, nil, errors.New(interrupted)
	}
	to, err := s.target(ctx, d, m)
	var nobody *noRecipient
	switch {
	case errors.As(err, &nobody), errors.Is(err, errUnwanted):
		return sdk.Refused, nil, err
	case err != nil:
		return sdk.Retryable, nil, err
	}
	n, err := m.notification(d)
	if err != nil {
		return sdk.Refused, nil, err
	}
	warnings := fit(n, m.Rich.Card, about)
	d.Attempts++
	err = s.change(ctx, d.ID, map[string]any{"state": Sending, "attempts": d.Attempts, "attempted_at": store.Millis(s.cfg.Now())})
	if err != nil {
		return sdk.Retryable, nil, err
	}
	d.tried = true
	return s.hand(ctx, ch, d, n, to, warnings, idempotent)
}

// hand gives a notification to its channel.
func (s *Sender) hand(ctx context.Context, ch client.Notifier, d *delivery, n *sdk.Notification, to sdk.Target, warnings []string, idempotent bool) (sdk.Outcome, []string, error) {
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
		warnings[i] = clean(warnings[i])
	}
	return outcome, warnings[:min(len(warnings), maxWarnings)], err
}

// maxWarnings bounds what is kept of them.
const maxWarnings = 20

// target asks the owner of the message, if it has one, whether it is still wanted and where it goes.
func (s *Sender) target(ctx context.Context, d *delivery, m *message) (sdk.Target, error) {
	o := s.owners[d.Service]
	if o == nil {
		return sdk.Target{}, nil
	}
	if !d.Once {
		wanted, err := o.Wanted(ctx, d.MessageID, m.Kind, d.to())
		if err != nil {
			return sdk.Target{}, err
		}
		if !wanted && d.State == Waiting {
			return sdk.Target{}, errUnwanted
		}
	}
	return o.Target(ctx, d.to())
}

// words are what an operator gets to read of an error: the channel's own, which hold no secret, else the fault's.
func words(err error) string {
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
		return wireWords(wire.GRPCStatus())
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

// wireWords are those of a status. Without details it was made on the way, where the words tell of connections only.
func wireWords(st *status.Status) string {
	switch {
	case len(st.Details()) > 0:
	case st.Code() == codes.Unavailable, st.Code() == codes.Canceled && strings.Contains(st.Message(), "closing"):
		return "the channel's plugin ended, or cannot be reached: " + st.Message()
	case st.Code() == codes.DeadlineExceeded:
		return slowPlugin
	}
	return st.Message()
}

func clean(s string) string {
	if len(s) > maxError {
		s = strings.ToValidUTF8(s[:maxError], "")
	}
	return sound(s)
}
