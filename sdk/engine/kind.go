package engine

import (
	"context"
	"errors"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	enginev1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/engine/v1"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
)

// New makes the kind for a plugin's declaration.
func New[C any](d Definition[C]) framework.Kind {
	return kind[C]{framework.Built[C, Engine, Open]{Build: d.Build}}
}

type kind[C any] struct {
	framework.Built[C, Engine, Open]
}

// Describe implements framework.Kind.
func (k kind[C]) Describe() (*pluginv1.Kind, error) { return k.DescribeAs(Kind, Service) }

// Register implements framework.Kind.
func (k kind[C]) Register(s grpc.ServiceRegistrar, r framework.Router) {
	enginev1.RegisterEngineServer(s, &server{router: r})
}

// withSource makes sure that an error crosses the wire with a source.
func withSource(ctx context.Context, err error) error {
	var e *errs.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return e
	case ctx.Err() != nil:
		return errs.New(errs.Caller, contextCode(ctx), errs.ReasonTimeout, "the call ended before the answer came")
	}
	return errs.New(errs.Plugin, codes.Internal, "INTERNAL", "%v", err)
}

func contextCode(ctx context.Context) codes.Code {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return codes.DeadlineExceeded
	}
	return codes.Canceled
}
