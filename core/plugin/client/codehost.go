package client

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// CodeHost speaks to a code host for services. Errors are faults, and CauseOf returns what they mean; the *errs.Error of the
// plugin is in the chain (its Reason tells the errors of ParseWebhook apart), and catalog.ErrRetired if a reload took the
// instance away. Failed calls are not repeated.
type CodeHost interface {
	// Resolve turns what a person typed into repositories.
	Resolve(ctx context.Context, token schema.Secret, input string) (*codehost.Resolution, error)
	// Hooks lists all hooks of a repository, owner/name.
	Hooks(ctx context.Context, token schema.Secret, repo string) ([]codehost.Hook, error)
	CreateHook(ctx context.Context, token schema.Secret, repo string, spec codehost.HookSpec) (*codehost.Hook, error)
	UpdateHook(ctx context.Context, token schema.Secret, repo, id string, spec codehost.HookSpec) (*codehost.Hook, error)
	DeleteHook(ctx context.Context, token schema.Secret, repo, id string) error
	// ParseWebhook checks the signature over the raw body and reads the delivery.
	ParseWebhook(ctx context.Context, d codehost.Delivery) (*codehost.Webhook, error)
}

type codehostFacade struct {
	handle  *catalog.Handle
	observe Observer
}

// NewCodeHost makes the facade for a handle. observe may be nil. It is called for each call with the name of the method in
// lower case.
func NewCodeHost(h *catalog.Handle, observe Observer) CodeHost {
	if observe == nil {
		observe = ignoreObservation
	}
	return &codehostFacade{handle: h, observe: observe}
}

func (f *codehostFacade) callClient(ctx context.Context, operation string, do func(context.Context, *codehost.Client) error) error {
	return callUnary(ctx, f.handle, f.observe, operation, codehost.NewClient, do)
}

func (f *codehostFacade) Resolve(ctx context.Context, token schema.Secret, input string) (out *codehost.Resolution, err error) {
	err = f.callClient(ctx, "resolve", func(ctx context.Context, c *codehost.Client) (err error) {
		out, err = c.Resolve(ctx, token, input)
		return err
	})
	return out, err
}

func (f *codehostFacade) Hooks(ctx context.Context, token schema.Secret, repo string) (out []codehost.Hook, err error) {
	err = f.callClient(ctx, "hooks", func(ctx context.Context, c *codehost.Client) (err error) {
		out, err = c.Hooks(ctx, token, repo)
		return err
	})
	return out, err
}

func (f *codehostFacade) CreateHook(ctx context.Context, token schema.Secret, repo string, spec codehost.HookSpec) (out *codehost.Hook, err error) {
	err = f.callClient(ctx, "createhook", func(ctx context.Context, c *codehost.Client) (err error) {
		out, err = c.CreateHook(ctx, token, repo, spec)
		return err
	})
	return out, err
}

func (f *codehostFacade) UpdateHook(ctx context.Context, token schema.Secret, repo, id string, spec codehost.HookSpec) (out *codehost.Hook, err error) {
	err = f.callClient(ctx, "updatehook", func(ctx context.Context, c *codehost.Client) (err error) {
		out, err = c.UpdateHook(ctx, token, repo, id, spec)
		return err
	})
	return out, err
}

func (f *codehostFacade) DeleteHook(ctx context.Context, token schema.Secret, repo, id string) error {
	return f.callClient(ctx, "deletehook", func(ctx context.Context, c *codehost.Client) error { return c.DeleteHook(ctx, token, repo, id) })
}

func (f *codehostFacade) ParseWebhook(ctx context.Context, d codehost.Delivery) (out *codehost.Webhook, err error) {
	err = f.callClient(ctx, "parsewebhook", func(ctx context.Context, c *codehost.Client) (err error) {
		out, err = c.ParseWebhook(ctx, d)
		return err
	})
	return out, err
}
