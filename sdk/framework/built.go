package framework

import (
	"context"
	"fmt"

	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Built is the part of a Kind that is the same for all: Validate and Open from the author's one pure builder. C is the
// config struct, T what an instance is, and O the function that opens one.
type Built[C, T any, O ~func(context.Context) (T, error)] struct {
	Build func(inst Instance, cfg C) (O, schema.Diagnostics)
}

func (b Built[C, T, O]) buildInstance(inst Instance, config []byte) (O, schema.Diagnostics) {
	var cfg C
	if diags := schema.Decode(config, &cfg); diags.HasErrors() {
		return nil, diags
	}
	return b.Build(inst, cfg)
}

// Validate implements Kind.
func (b Built[C, T, O]) Validate(inst Instance, config []byte) schema.Diagnostics {
	_, diags := b.buildInstance(inst, config)
	return diags
}

// Open implements Kind.
func (b Built[C, T, O]) Open(ctx context.Context, inst Instance, config []byte) (any, schema.Diagnostics) {
	open, diags := b.buildInstance(inst, config)
	if diags.HasErrors() {
		return nil, diags
	}
	value, err := open(ctx)
	if err != nil {
		return nil, append(diags, schema.Errorf(nil, "%v", err)...)
	}
	return value, diags
}

// Capability is a word that a plugin declares if On.
type Capability struct {
	On   bool
	Name string
}

// DescribeAs returns the description of a kind without a descriptor and capabilities: its name, its gRPC service and the
// schema of the config struct. It fails if the declaration has no Build.
func (b Built[C, T, O]) DescribeAs(kind, service string) (*pluginv1.Kind, error) {
	var zero C
	config, err := schema.Of(zero)
	if err != nil {
		return nil, err
	}
	if b.Build == nil {
		return nil, fmt.Errorf("the declaration of a plugin of the kind %s needs Build", kind)
	}
	return &pluginv1.Kind{Name: kind, Service: service, Config: config.Proto()}, nil
}

// Exchanges is for kinds all of whose calls are unary.
func (Built[C, T, O]) Exchanges() map[string]Exchange { return nil }

// Capabilities are the words that are on.
func Capabilities(all ...Capability) (out []string) {
	for _, c := range all {
		if c.On {
			out = append(out, c.Name)
		}
	}
	return out
}
