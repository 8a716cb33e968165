package registry

import (
	"context"

	"google.golang.org/grpc"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	registryv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/registry/v1"
)

// Reasons of errors that are the caller's fault. They come with INVALID_ARGUMENT.
const (
	// ReasonInvalidReference: the reference or repository cannot be one, or its host is not served.
	ReasonInvalidReference = "INVALID_REFERENCE"
	// ReasonInvalidRequest: another member of the request is not valid, such as the cursor or the platform.
	ReasonInvalidRequest = "INVALID_REQUEST"
)

// New makes the kind for a plugin's declaration.
func New[C any](d Definition[C]) framework.Kind {
	return kind[C]{framework.Built[C, Registry, Open]{Build: d.Build}}
}

type kind[C any] struct {
	framework.Built[C, Registry, Open]
}

func (k kind[C]) Describe() (*pluginv1.Kind, error) { return k.DescribeAs(Kind, Service) }

func (k kind[C]) Register(s grpc.ServiceRegistrar, r framework.Router) {
	registryv1.RegisterRegistryServer(s, &server{router: r})
}

type server struct {
	registryv1.UnimplementedRegistryServer
	router framework.Router
}

// withInstance finds the instance and makes one call.
func (s *server) withInstance(ctx context.Context, call func(Registry) error) error {
	return framework.Use(ctx, s.router, Kind, "a registry", call)
}

func (s *server) Hosts(ctx context.Context, _ *registryv1.HostsRequest) (out *registryv1.HostsResponse, err error) {
	err = s.withInstance(ctx, func(r Registry) error {
		hosts, err := r.Hosts(ctx)
		out = &registryv1.HostsResponse{Hosts: hosts}
		return err
	})
	return out, err
}

func (s *server) Resolve(ctx context.Context, p *registryv1.ResolveRequest) (out *registryv1.ResolveResponse, err error) {
	if p.GetRef() == "" {
		return nil, errs.BadInput(ReasonInvalidReference, "the reference is empty")
	}
	err = s.withInstance(ctx, func(r Registry) error {
		got, err := r.Resolve(ctx, resolveFrom(p))
		if err == nil && got == nil {
			got = &Resolved{}
		}
		out = got.toProto()
		return err
	})
	return out, err
}

func (s *server) Tags(ctx context.Context, p *registryv1.TagsRequest) (out *registryv1.TagsResponse, err error) {
	switch {
	case p.GetRepository() == "":
		return nil, errs.BadInput(ReasonInvalidReference, "the repository is empty")
	case p.GetLimit() < 1 || p.GetLimit() > MaxTags:
		return nil, errs.BadInput(ReasonInvalidRequest, "the limit must be 1 to %d", MaxTags)
	}
	err = s.withInstance(ctx, func(r Registry) error {
		got, err := r.Tags(ctx, tagsFrom(p))
		if err == nil && got != nil {
			out = &registryv1.TagsResponse{Tags: got.Tags, Next: got.Next}
		}
		return err
	})
	return out, err
}

func (s *server) Config(ctx context.Context, p *registryv1.ConfigRequest) (out *registryv1.ConfigResponse, err error) {
	if p.GetRef() == "" {
		return nil, errs.BadInput(ReasonInvalidReference, "the reference is empty")
	}
	err = s.withInstance(ctx, func(r Registry) error {
		got, err := r.Config(ctx, ConfigRequest{Access: accessFrom(p.GetAccess()), Ref: p.GetRef(), Platform: p.GetPlatform()})
		if err == nil && got == nil {
			got = &ImageConfig{}
		}
		out = got.toProto()
		return err
	})
	return out, err
}

func (s *server) Credentials(ctx context.Context, p *registryv1.CredentialsRequest) (out *registryv1.CredentialsResponse, err error) {
	err = s.withInstance(ctx, func(r Registry) error {
		hosts, err := r.Credentials(ctx, accessFrom(p.GetAccess()), p.GetHosts())
		out = &registryv1.CredentialsResponse{Hosts: hosts}
		return err
	})
	return out, err
}
