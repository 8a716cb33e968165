package main

import (
	"context"

	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// newEchoPlugin is a plugin that answers without an upstream: what is left is the hop.
func newEchoPlugin() framework.Plugin {
	return framework.Plugin{Name: "echo", Version: "1.0.0", Kinds: []framework.Kind{search.New(search.Definition[struct{}]{
		Operations: []search.Operation{{Name: search.OpSearch, InputSchema: `{"type":"object"}`}},
		Build: func(search.Instance, struct{}) (search.Open, schema.Diagnostics) {
			return func(context.Context) (search.Backend, error) { return backend{}, nil }, nil
		},
	})}}
}

type backend struct{}

func (backend) Invoke(context.Context, *search.Request) (*search.Response, error) {
	return &search.Response{Head: search.Head{Status: 200, ContentType: "application/json"}, Body: small}, nil
}
