package client

import (
	"context"
	"io"
	"time"

	"google.golang.org/grpc"

	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
)

// unary makes one call of a kind whose calls are plain: it finds the instance and its client, waits for a slot, and
// bounds the call by the instance's timeout. observe hears of it.
func unary[C io.Closer](
	ctx context.Context, h *catalog.Handle, observe Observer, operation string,
	open func(grpc.ClientConnInterface, string) C, call func(context.Context, C) error,
) error {
	began := time.Now()
	err := unobserved(ctx, h, open, call)
	if err != nil {
		err = callFault(ctx, err)
	}
	observe(h.Ref(), operation, time.Since(began), 0, err)
	return err
}

func unobserved[C io.Closer](
	ctx context.Context, h *catalog.Handle, open func(grpc.ClientConnInterface, string) C, call func(context.Context, C) error,
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
	bounded, cancel := bound(ctx, in, 0)
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
