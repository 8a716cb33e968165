package registry

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/exchange"
	registryv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/registry/v1"
)

// Client calls one instance over a connection to its plugin. Its errors are *errs.Error.
type Client struct {
	rpc      registryv1.RegistryClient
	instance string
}

var _ Registry = (*Client)(nil)

// NewClient makes a client for an instance.
func NewClient(conn grpc.ClientConnInterface, instance string) *Client {
	return &Client{rpc: registryv1.NewRegistryClient(conn), instance: instance}
}

// Close does nothing; a client holds nothing open.
func (c *Client) Close() error { return nil }

func (c *Client) callContext(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, exchange.MetaInstance, c.instance)
}

// Hosts implements Registry.
func (c *Client) Hosts(ctx context.Context) ([]string, error) {
	out, err := c.rpc.Hosts(c.callContext(ctx), &registryv1.HostsRequest{})
	if err != nil {
		return nil, errs.From(err)
	}
	return out.GetHosts(), nil
}

// Resolve implements Registry.
func (c *Client) Resolve(ctx context.Context, req ResolveRequest) (*Resolved, error) {
	out, err := c.rpc.Resolve(c.callContext(ctx), &registryv1.ResolveRequest{
		Access: req.Access.toProto(), Ref: req.Ref, Known: req.Known, Platform: req.Platform, DigestOnly: req.DigestOnly,
	})
	if err != nil {
		return nil, errs.From(err)
	}
	return resolvedFrom(out), nil
}

// Tags implements Registry.
func (c *Client) Tags(ctx context.Context, req TagsRequest) (*TagsPage, error) {
	out, err := c.rpc.Tags(c.callContext(ctx), &registryv1.TagsRequest{
		Access: req.Access.toProto(), Repository: req.Repository, Cursor: req.Cursor, Limit: int32(min(max(req.Limit, -1), MaxTags+1)),
	})
	if err != nil {
		return nil, errs.From(err)
	}
	return &TagsPage{Tags: out.GetTags(), Next: out.GetNext()}, nil
}

// Config implements Registry.
func (c *Client) Config(ctx context.Context, req ConfigRequest) (*ImageConfig, error) {
	out, err := c.rpc.Config(c.callContext(ctx), &registryv1.ConfigRequest{Access: req.Access.toProto(), Ref: req.Ref, Platform: req.Platform})
	if err != nil {
		return nil, errs.From(err)
	}
	return configFrom(out), nil
}

// Credentials implements Registry.
func (c *Client) Credentials(ctx context.Context, access Access, hosts []string) ([]string, error) {
	out, err := c.rpc.Credentials(c.callContext(ctx), &registryv1.CredentialsRequest{Access: access.toProto(), Hosts: hosts})
	if err != nil {
		return nil, errs.From(err)
	}
	return out.GetHosts(), nil
}
