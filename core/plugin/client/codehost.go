package client

import (
	"context"
	"slices"

	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// CodeHost speaks to a code host for services. Errors are faults, and CauseOf returns what they mean; the *errs.Error of the
// plugin is in the chain (its Reason tells the errors of ParseWebhook apart), and catalog.ErrRetired if a reload took the
// instance away. Failed calls are not repeated. Calls fail at once without their capability; Abilities tells which are there.
type CodeHost interface {
	codehost.CodeHost
	codehost.WebhookHost
	codehost.ViewerHost
	codehost.StarHost
	codehost.ReleaseHost
	codehost.TagHost
	codehost.NotificationHost
	codehost.SocialHost
	codehost.EventHost
	codehost.AnnouncementHost
	codehost.ReactionHost
	codehost.CompareHost
	codehost.OAuthHost
	// Abilities returns what the code host can do.
	Abilities() (CodeHostAbilities, error)
}

// CodeHostAbilities is what a code host can do: each names the interface of package codehost whose calls are there.
type CodeHostAbilities struct {
	Webhooks, Viewer, Starred, Releases, Tags, Notifications bool
	Social, Events, Announcements, Reactions, Compare, OAuth bool
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

// Abilities implements CodeHost.
func (f *codehostFacade) Abilities() (CodeHostAbilities, error) {
	in := f.handle.Current()
	if in == nil {
		return CodeHostAbilities{}, catalog.ErrRetired
	}
	declared := codehost.Capabilities(in.About.GetCapabilities())
	has := func(capability string) bool { return slices.Contains(declared, capability) }
	return CodeHostAbilities{
		Webhooks: has(codehost.CapWebhooks), Viewer: has(codehost.CapViewer), Starred: has(codehost.CapStarred),
		Releases: has(codehost.CapReleases), Tags: has(codehost.CapTags), Notifications: has(codehost.CapNotifications),
		Social: has(codehost.CapSocial), Events: has(codehost.CapEvents), Announcements: has(codehost.CapAnnouncements),
		Reactions: has(codehost.CapReactions), Compare: has(codehost.CapCompare), OAuth: has(codehost.CapOAuth),
	}, nil
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

func (f *codehostFacade) CreateHook(ctx context.Context, token schema.Secret, repo string,
	spec codehost.HookSpec) (out *codehost.Hook, err error) {
	err = f.callClient(ctx, "createhook", func(ctx context.Context, c *codehost.Client) (err error) {
		out, err = c.CreateHook(ctx, token, repo, spec)
		return err
	})
	return out, err
}

func (f *codehostFacade) UpdateHook(ctx context.Context, token schema.Secret, repo, id string,
	spec codehost.HookSpec) (out *codehost.Hook, err error) {
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
