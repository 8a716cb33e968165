package client

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

// Registry reads image registries for services. Errors are faults, and CauseOf tells what they mean; the *errs.Error of
// the plugin is in the chain, and catalog.ErrRetired if a reload took the instance away. Nothing is tried again here.
type Registry interface {
	// Hosts are the registry hosts that the instance serves; none means any.
	Hosts(ctx context.Context) ([]string, error)
	// Resolve tells what a reference stands for at present.
	Resolve(ctx context.Context, req registry.ResolveRequest) (*registry.Resolved, error)
	// Tags lists one page of a repository's tags.
	Tags(ctx context.Context, req registry.TagsRequest) (*registry.TagsPage, error)
	// Config reads the configuration of the image for one platform.
	Config(ctx context.Context, req registry.ConfigRequest) (*registry.ImageConfig, error)
	// Credentials tells for which of the given hosts there are credentials.
	Credentials(ctx context.Context, access registry.Access, hosts []string) ([]string, error)
}

type registryFacade struct {
	handle  *catalog.Handle
	observe Observer
}

// NewRegistry makes the facade for a handle. observe may be nil; it hears of each call by the name of the method in lower
// case.
func NewRegistry(h *catalog.Handle, observe Observer) Registry {
	if observe == nil {
		observe = ignoreObservation
	}
	return &registryFacade{handle: h, observe: observe}
}

func (r *registryFacade) call(ctx context.Context, operation string, do func(context.Context, *registry.Client) error) error {
	return unary(ctx, r.handle, r.observe, operation, registry.NewClient, do)
}

func (r *registryFacade) Hosts(ctx context.Context) (out []string, err error) {
	err = r.call(ctx, "hosts", func(ctx context.Context, c *registry.Client) (err error) {
		out, err = c.Hosts(ctx)
		return err
	})
	return out, err
}

func (r *registryFacade) Resolve(ctx context.Context, req registry.ResolveRequest) (out *registry.Resolved, err error) {
	err = r.call(ctx, "resolve", func(ctx context.Context, c *registry.Client) (err error) {
		out, err = c.Resolve(ctx, req)
		return err
	})
	return out, err
}

func (r *registryFacade) Tags(ctx context.Context, req registry.TagsRequest) (out *registry.TagsPage, err error) {
	err = r.call(ctx, "tags", func(ctx context.Context, c *registry.Client) (err error) {
		out, err = c.Tags(ctx, req)
		return err
	})
	return out, err
}

func (r *registryFacade) Config(ctx context.Context, req registry.ConfigRequest) (out *registry.ImageConfig, err error) {
	err = r.call(ctx, "config", func(ctx context.Context, c *registry.Client) (err error) {
		out, err = c.Config(ctx, req)
		return err
	})
	return out, err
}

func (r *registryFacade) Credentials(ctx context.Context, access registry.Access, hosts []string) (out []string, err error) {
	err = r.call(ctx, "credentials", func(ctx context.Context, c *registry.Client) (err error) {
		out, err = c.Credentials(ctx, access, hosts)
		return err
	})
	return out, err
}
