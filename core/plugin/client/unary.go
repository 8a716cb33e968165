package client

import (
	"context"
	"io"
	"time"

	"google.golang.org/grpc"

	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
)

// instances gives the instance for one call, as *catalog.Handle does.
type instances interface {
	Ref() string
	Acquire(ctx context.Context) (*catalog.Instance, func(), error)
}

// callUnary makes one unary call to the present instance, within its concurrency and timeout, and reports it to observe.
func callUnary[C io.Closer](
	ctx context.Context, h instances, observe Observer, operation string,
	open func(grpc.ClientConnInterface, string) C, call func(context.Context, C) error,
) error {
	return callUnaryWithin(ctx, h, observe, operation, 0, open, call)
}

// callUnaryWithin is callUnary for calls that take another time than most: limit bounds one if the instance has no timeout of its
// own. 0 means DefaultTimeout.
func callUnaryWithin[C io.Closer](
	ctx context.Context, h instances, observe Observer, operation string, limit time.Duration,
	open func(grpc.ClientConnInterface, string) C, call func(context.Context, C) error,
) error {
	ctx, span := startSpan(ctx, h.Ref(), operation)
	began := time.Now()
	err := callInstance(ctx, h, limit, open, call)
	if err != nil {
		err = callFault(ctx, h.Ref(), err)
	}
	endSpan(span, err)
	observe(h.Ref(), operation, time.Since(began), 0, err)
	return err
}

// callInstance is callUnary without the observer and the fault.
func callInstance[C io.Closer](
	ctx context.Context, h instances, limit time.Duration, open func(grpc.ClientConnInterface, string) C, call func(context.Context, C) error,
) error {
	in, release, err := h.Acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	c, err := in.Client(func(conn grpc.ClientConnInterface, id string) io.Closer { return open(conn, id) })
	if err != nil {
		return err
	}
	bounded, cancel := withCallTimeout(ctx, in, limit)
	defer cancel()
	leave, err := in.Slot(bounded)
	if err != nil {
		return err
	}
	defer leave()
	return call(bounded, c.(C))
}

// ignoreObservation is an Observer that does nothing.
func ignoreObservation(string, string, time.Duration, time.Duration, error) {}
