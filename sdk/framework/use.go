package framework

import (
	"context"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// Use finds the instance that a call is for and makes the call with it. what is the word for the kind in messages, such as "a
// registry". Errors are as of errs.OfCall.
func Use[T any](ctx context.Context, r Router, kind, what string, call func(T) error) error {
	value, release, err := r.Instance(ctx, kind)
	if err != nil {
		return err
	}
	defer release()
	t, ok := value.(T)
	if !ok {
		return errs.New(errs.Plugin, codes.Unimplemented, errs.ReasonUnsupported, "the instance is not %s", what)
	}
	return errs.OfCall(ctx, call(t))
}
