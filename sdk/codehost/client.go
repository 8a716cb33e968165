package codehost

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/exchange"
	codehostv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/codehost/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Client calls one instance over a connection to its plugin. Its errors are *errs.Error.
type Client struct {
	rpc      codehostv1.CodeHostClient
	instance string
}

var (
	_ CodeHost         = (*Client)(nil)
	_ WebhookHost      = (*Client)(nil)
	_ ViewerHost       = (*Client)(nil)
	_ StarHost         = (*Client)(nil)
	_ ReleaseHost      = (*Client)(nil)
	_ TagHost          = (*Client)(nil)
	_ NotificationHost = (*Client)(nil)
	_ SocialHost       = (*Client)(nil)
	_ EventHost        = (*Client)(nil)
	_ AnnouncementHost = (*Client)(nil)
	_ ReactionHost     = (*Client)(nil)
	_ CompareHost      = (*Client)(nil)
	_ OAuthHost        = (*Client)(nil)
)

// NewClient makes a client for an instance.
func NewClient(conn grpc.ClientConnInterface, instance string) *Client {
	return &Client{rpc: codehostv1.NewCodeHostClient(conn), instance: instance}
}

// Close does nothing; a client holds nothing open.
func (c *Client) Close() error { return nil }

func (c *Client) callContext(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, exchange.MetaInstance, c.instance)
}

// Resolve implements CodeHost.
func (c *Client) Resolve(ctx context.Context, token schema.Secret, input string) (*Resolution, error) {
	out, err := c.rpc.Resolve(c.callContext(ctx), &codehostv1.ResolveRequest{Token: secretToProto(token), Input: input})
	if err != nil {
		return nil, errs.From(err)
	}
	return resolutionFrom(out), nil
}

// Hooks implements WebhookHost.
func (c *Client) Hooks(ctx context.Context, token schema.Secret, repo string) ([]Hook, error) {
	out, err := c.rpc.Hooks(c.callContext(ctx), &codehostv1.HooksRequest{Token: secretToProto(token), Repo: repo})
	if err != nil {
		return nil, errs.From(err)
	}
	var hooks []Hook
	for _, h := range out.GetHooks() {
		hooks = append(hooks, *hookFrom(h))
	}
	return hooks, nil
}

// CreateHook implements WebhookHost.
func (c *Client) CreateHook(ctx context.Context, token schema.Secret, repo string, spec HookSpec) (*Hook, error) {
	out, err := c.rpc.CreateHook(c.callContext(ctx),
		&codehostv1.CreateHookRequest{Token: secretToProto(token), Repo: repo, Spec: spec.toProto()})
	if err != nil {
		return nil, errs.From(err)
	}
	return hookFrom(out.GetHook()), nil
}

// UpdateHook implements WebhookHost.
func (c *Client) UpdateHook(ctx context.Context, token schema.Secret, repo, id string, spec HookSpec) (*Hook, error) {
	out, err := c.rpc.UpdateHook(c.callContext(ctx),
		&codehostv1.UpdateHookRequest{Token: secretToProto(token), Repo: repo, Id: id, Spec: spec.toProto()})
	if err != nil {
		return nil, errs.From(err)
	}
	return hookFrom(out.GetHook()), nil
}

// DeleteHook implements WebhookHost.
func (c *Client) DeleteHook(ctx context.Context, token schema.Secret, repo, id string) error {
	_, err := c.rpc.DeleteHook(c.callContext(ctx), &codehostv1.DeleteHookRequest{Token: secretToProto(token), Repo: repo, Id: id})
	if err != nil {
		return errs.From(err)
	}
	return nil
}

// ParseWebhook implements WebhookHost.
func (c *Client) ParseWebhook(ctx context.Context, d Delivery) (*Webhook, error) {
	out, err := c.rpc.ParseWebhook(c.callContext(ctx), &codehostv1.ParseWebhookRequest{
		Event: d.Event, Signature: d.Signature, Body: d.Body, Secret: secretToProto(d.Secret),
	})
	if err != nil {
		return nil, errs.From(err)
	}
	return webhookFrom(out), nil
}
