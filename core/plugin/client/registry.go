package client

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

// Registry reads image registries for services. Errors are faults, and CauseOf returns what they mean; the *errs.Error of
// the plugin is in the chain, and catalog.ErrRetired if a reload took the instance away. Failed calls are not repeated.
type Registry interface {
	// Hosts returns the registry hosts that the instance serves; none means all.
	Hosts(ctx context.Context) ([]string, error)
	// Resolve returns the image that a reference names at present.
	Resolve(ctx context.Context, req registry.ResolveRequest) (*registry.Resolved, error)
	// Tags returns one page of a repository's tags.
	Tags(ctx context.Context, req registry.TagsRequest) (*registry.TagsPage, error)
	// Config reads the configuration of the image for one platform.
	Config(ctx context.Context, req registry.ConfigRequest) (*registry.ImageConfig, error)
	// Credentials returns those of the hosts that there are credentials for.
	Credentials(ctx context.Context, access registry.Access, hosts []string) ([]string, error)
}

type registryFacade struct {
	handle  *catalog.Handle
	observe Observer
}

// NewRegistry makes the facade for a handle. observe may be nil. It is called for each call with the name of the method in
// lower case.
func NewRegistry(h *catalog.Handle, observe Observer) Registry {
	if observe == nil {
		observe = ignoreObservation
	}
	return &registryFacade{handle: h, observe: observe}
}

func (r *registryFacade) callClient(ctx context.Context, operation string, do func(context.Context, *registry.Client) error) error {
	return callUnary(ctx, r.handle, r.observe, operation, registry.NewClient, do)
}

func (r *registryFacade) Hosts(ctx context.Context) (out []string, err error) {
	err = r.callClient(ctx, "hosts", func(ctx context.Context, c *registry.Client) (err error) {
		out, err = c.Hosts(ctx)
		return err
	})
	return out, err
}

func (r *registryFacade) Resolve(ctx context.Context, req registry.ResolveRequest) (out *registry.Resolved, err error) {
	err = r.callClient(ctx, "resolve", func(ctx context.Context, c *registry.Client) (err error) {
		out, err = c.Resolve(ctx, req)
		return err
	})
	return out, err
}

func (r *registryFacade) Tags(ctx context.Context, req registry.TagsRequest) (out *registry.TagsPage, err error) {
	err = r.callClient(ctx, "tags", func(ctx context.Context, c *registry.Client) (err error) {
		out, err = c.Tags(ctx, req)
		return err
	})
	return out, err
}

func (r *registryFacade) Config(ctx context.Context, req registry.ConfigRequest) (out *registry.ImageConfig, err error) {
	err = r.callClient(ctx, "config", func(ctx context.Context, c *registry.Client) (err error) {
		out, err = c.Config(ctx, req)
		return err
	})
	return out, err
}

func (r *registryFacade) Credentials(ctx context.Context, access registry.Access, hosts []string) (out []string, err error) {
	err = r.callClient(ctx, "credentials", func(ctx context.Context, c *registry.Client) (err error) {
		out, err = c.Credentials(ctx, access, hosts)
		return err
	})
	return out, err
}
