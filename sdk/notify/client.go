package notify

import (
	"context"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/exchange"
	notifyv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/notify/v1"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Descriptor is what a channel says of itself.
type Descriptor struct {
	// MaxTextBytes bounds title, summary and detail together; 0 means no bound of the channel's own.
	MaxTextBytes int64
	// MaxPayloadBytes bounds the payload; 0 means no bound of the channel's own.
	MaxPayloadBytes int64
	// Role is one of the roles, or empty.
	Role string
	// TargetSchema is a JSON Schema of Target.JSON, or empty.
	TargetSchema string
	Capabilities []string
}

// Has reports whether the channel has a capability.
func (d *Descriptor) Has(capability string) bool { return slices.Contains(d.Capabilities, capability) }

// ParseDescriptor reads a plugin's description of this kind.
func ParseDescriptor(k *pluginv1.Kind) (*Descriptor, error) {
	var p notifyv1.Descriptor
	if err := proto.Unmarshal(k.GetDescriptor_(), &p); err != nil {
		return nil, err
	}
	return &Descriptor{
		MaxTextBytes: p.GetMaxTextBytes(), MaxPayloadBytes: p.GetMaxPayloadBytes(), Role: p.GetRole(), TargetSchema: p.GetTargetSchema(),
		Capabilities: k.GetCapabilities(),
	}, nil
}

// Client calls one instance over a connection to its plugin. OutcomeOf reads its errors.
type Client struct {
	rpc      notifyv1.ChannelClient
	instance string
}

// NewClient makes a client for an instance.
func NewClient(conn grpc.ClientConnInterface, instance string) *Client {
	return &Client{rpc: notifyv1.NewChannelClient(conn), instance: instance}
}

// Close does nothing; a client holds nothing open.
func (c *Client) Close() error { return nil }

func (c *Client) callContext(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, exchange.MetaInstance, c.instance)
}

// Send delivers n.
func (c *Client) Send(ctx context.Context, n *Notification, to Target) (*Receipt, error) {
	var at peer.Peer
	resp, err := c.rpc.Send(c.callContext(ctx), &notifyv1.SendRequest{Notification: n.toProto(), Target: to.toProto()}, grpc.Peer(&at))
	// Without an address no connection was chosen: it could not be made, or it is being closed with a plugin that is replaced.
	lost := status.Code(err) == codes.Unavailable || status.Code(err) == codes.Canceled && ctx.Err() == nil
	if lost && at.Addr == nil {
		return nil, Temporary(0, errs.ReasonConnect, "no connection to the plugin: nothing was sent")
	}
	if err != nil {
		return nil, err
	}
	return receiptFrom(resp), nil
}

// ValidateTarget checks a recipient and sends nothing.
func (c *Client) ValidateTarget(ctx context.Context, to Target) (schema.Diagnostics, error) {
	resp, err := c.rpc.ValidateTarget(c.callContext(ctx), &notifyv1.ValidateTargetRequest{Target: to.toProto()})
	if err != nil {
		return nil, err
	}
	return schema.DiagnosticsFromProto(resp.GetDiagnostics()), nil
}
