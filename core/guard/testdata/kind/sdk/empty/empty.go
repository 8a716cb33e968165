// Package empty is a kind that can do nothing.
package empty

import (
	"context"

	"google.golang.org/grpc"

	"github.com/patchbay-dev/patchbay/sdk/framework"
	emptyv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/empty/v1"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Kind is the word for this kind in plugin.hcl; Service is its gRPC service.
const (
	Kind    = "empty"
	Service = "patchbay.empty.v1.Empty"
)

// Empty is what an author implements.
type Empty interface{}

// Open opens an instance.
type Open func(context.Context) (Empty, error)

type config struct{}

// New makes the kind for a plugin's declaration.
func New() framework.Kind {
	return kind{framework.Built[config, Empty, Open]{Build: func(framework.Instance, config) (Open, schema.Diagnostics) {
		return func(context.Context) (Empty, error) { return struct{}{}, nil }, nil
	}}}
}

type kind struct {
	framework.Built[config, Empty, Open]
}

func (k kind) Describe() (*pluginv1.Kind, error) { return k.DescribeAs(Kind, Service) }

func (k kind) Register(s grpc.ServiceRegistrar, _ framework.Router) {
	emptyv1.RegisterEmptyServer(s, struct{}{})
}
