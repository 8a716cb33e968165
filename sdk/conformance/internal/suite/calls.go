package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// CutCall makes an instance, and a call there that ends early.
func (r *Run) CutCall(ctx context.Context, call func(id string) error) error {
	const id = "cut-short"
	if err := r.MakeInstance(ctx, id); err != nil {
		return err
	}
	began := time.Now()
	err := call(id)
	switch took := time.Since(began); {
	case errors.Is(err, ErrPanic):
		return err
	case err == nil:
		return errors.New("the slow call was answered; it is not slow")
	case took > r.Settings.Prompt:
		return fmt.Errorf("the call went on for %s after its end", took.Round(time.Millisecond))
	}
	return r.RemoveAfterCut(ctx, id)
}

// RemoveAfterCut removes the instance of a call that ended early: the plugin waits for calls, so that one that goes on there is seen.
func (r *Run) RemoveAfterCut(ctx context.Context, id string) error {
	if err := r.RemoveInstance(ctx, id); err != nil {
		return fmt.Errorf("the plugin goes on with a call that has ended: removing its instance: %w", err)
	}
	if !r.Answers(ctx, r.MainID) {
		return errors.New("another instance is gone after a call that was cut short")
	}
	return nil
}

// RequireUnsupported returns an error unless a call without its capability ended with Unimplemented.
func (r *Run) RequireUnsupported(call string, err error) error {
	if errs.From(err) == nil || errs.From(err).Code != codes.Unimplemented {
		return fmt.Errorf("%s is not among the capabilities and should end with Unimplemented, got: %v", call, err)
	}
	return nil
}

// EndAfter is when a call is canceled, or its deadline passes: by then it has reached the plugin, on a busy machine too.
const EndAfter = 200 * time.Millisecond

// CancelEarly returns a check that makes a call with a context that is canceled after EndAfter.
func CancelEarly(call func(ctx, short context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		short, cancel := context.WithCancel(ctx)
		defer cancel()
		defer time.AfterFunc(EndAfter, cancel).Stop()
		return call(ctx, short)
	}
}

// ExpireEarly is CancelEarly for a deadline.
func ExpireEarly(call func(ctx, short context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		short, cancel := context.WithTimeout(ctx, EndAfter)
		defer cancel()
		return call(ctx, short)
	}
}

// IsPresent reports whether the outcome of a call, also an error, shows that the instance is there.
func IsPresent(err error) bool {
	if err == nil {
		return true
	}
	e := errs.From(err)
	return e.Code != codes.FailedPrecondition && e.Code != codes.NotFound
}

// RunTogether makes calls at once, each with its number, and joins their errors. The first error that skips the check is returned alone.
func RunTogether(calls int, call func(i int) error) error {
	results := make(chan error, calls)
	for i := range calls {
		go func() { results <- call(i) }()
	}
	all := make([]error, 0, calls)
	for range calls {
		err := <-results
		var s Skip
		if errors.As(err, &s) {
			return s
		}
		all = append(all, err)
	}
	return errors.Join(all...)
}

// RequireCallerFault returns an error unless a call was refused as the caller's fault.
func RequireCallerFault(what string, err error) error {
	if errors.Is(err, ErrPanic) {
		return err
	}
	if e := errs.From(err); e == nil || e.Source != errs.Caller {
		return fmt.Errorf("%s should be refused as the caller's fault; got: %v", what, err)
	}
	return nil
}

// RequireUpstream returns an error unless a call ended with one of the codes, as the fault of what the plugin talks to.
func RequireUpstream(what string, err error, want ...codes.Code) error {
	if errors.Is(err, ErrPanic) {
		return err
	}
	if e := errs.From(err); e == nil || !slices.Contains(want, e.Code) || e.Source != errs.Upstream {
		return fmt.Errorf("%s should end with %v, source upstream; got: %v", what, want, err)
	}
	return nil
}

// InspectRefusal is RequireCallerFault for an error that was not inspected yet.
func (r *Run) InspectRefusal(what string, err error) error {
	return RequireCallerFault(what, r.InspectError(what, err))
}

// InspectCode inspects an error and returns one unless it has the code.
func (r *Run) InspectCode(what string, err error, code codes.Code) error {
	if seen := r.InspectError(what, err); errors.Is(seen, ErrPanic) {
		return seen
	}
	if e := errs.From(err); e == nil || e.Code != code {
		return fmt.Errorf("%s should end with %s; got: %v", what, code, err)
	}
	return nil
}

// ErrorAlone returns the error of a call and drops its result.
func ErrorAlone[T any](_ T, err error) error { return err }
