package translator

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/exchange"
	translatorv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/translator/v1"
)

// Client calls one instance over a connection to its plugin. Its errors are *errs.Error.
type Client struct {
	rpc      translatorv1.TranslatorClient
	instance string
}

var _ Translator = (*Client)(nil)

// NewClient makes a client for an instance.
func NewClient(conn grpc.ClientConnInterface, instance string) *Client {
	return &Client{rpc: translatorv1.NewTranslatorClient(conn), instance: instance}
}

// Close does nothing; a client holds nothing open.
func (c *Client) Close() error { return nil }

func (c *Client) callContext(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, exchange.MetaInstance, c.instance)
}

// ListModels implements Translator.
func (c *Client) ListModels(ctx context.Context) ([]Model, error) {
	out, err := c.rpc.ListModels(c.callContext(ctx), &translatorv1.ListModelsRequest{})
	if err != nil {
		return nil, errs.From(err)
	}
	models := make([]Model, len(out.GetModels()))
	for i, m := range out.GetModels() {
		models[i] = modelFrom(m)
	}
	return models, nil
}

// Translate implements Translator.
func (c *Client) Translate(ctx context.Context, req Request) (*Answer, error) {
	out, err := c.rpc.Translate(c.callContext(ctx), req.toProto())
	if err != nil {
		return nil, errs.From(err)
	}
	return answerFrom(out), nil
}
