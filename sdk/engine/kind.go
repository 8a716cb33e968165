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
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// New makes the kind for a plugin's declaration.
func New[C any](d Definition[C]) framework.Kind {
	return kind[C]{Built: framework.Built[C, Engine, Open]{Build: d.Build}, def: d}
}

type kind[C any] struct {
	framework.Built[C, Engine, Open]
	def Definition[C]
}

// Describe implements framework.Kind.
func (k kind[C]) Describe() (*pluginv1.Kind, error) {
	var zero C
	config, err := schema.Of(zero)
	if err != nil {
		return nil, err
	}
	if k.def.Build == nil {
		return nil, errors.New("an engine plugin needs Build")
	}
	return &pluginv1.Kind{Name: Kind, Service: Service, Config: config.Proto()}, nil
}

// Register implements framework.Kind.
func (k kind[C]) Register(s grpc.ServiceRegistrar, r framework.Router) {
	enginev1.RegisterEngineServer(s, &server{router: r})
}

// Exchanges is empty: the calls are few, and a unary call each is enough.
func (k kind[C]) Exchanges() map[string]framework.Exchange { return nil }

// own makes sure that an error crosses the wire with a source.
func own(ctx context.Context, err error) error {
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
