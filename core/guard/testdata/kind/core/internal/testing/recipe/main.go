// Command recipe prints what the core and its tools know of the kind empty. With the argument "plugin" it is a plugin of it.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/core/plugin/host"
	"github.com/patchbay-dev/patchbay/core/scaffold"
	"github.com/patchbay-dev/patchbay/sdk/empty"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/kinds"
)

func main() {
	if len(os.Args) > 1 {
		framework.Serve(framework.Plugin{Name: "nothing", Version: "1.0.0", Kinds: []framework.Kind{empty.New()}})
		return
	}
	if err := run(context.Background()); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	fmt.Println("double:", fake.Empty{})
	fmt.Println("template:", scaffold.Kinds("go"))
	h, err := host.New(host.Config{})
	if err != nil {
		return err
	}
	defer h.Close()
	c := catalog.New(catalog.Config{Host: h})
	defer c.Close()
	spec := host.Spec{Name: "nothing", Path: os.Args[0], Args: []string{"plugin"}}
	candidate, err := c.Open(ctx, empty.Kind, spec)
	if err != nil {
		return err
	}
	defer candidate.Close()
	fmt.Println("catalog:", candidate.About().GetService())
	p, err := h.Open(ctx, spec)
	if err != nil {
		return err
	}
	defer p.Release()
	link, err := p.Link()
	if err != nil {
		return err
	}
	text, err := kinds.Conform(ctx, link.Conn, link.Describe, kinds.Use{})
	fmt.Print(text)
	return err
}
