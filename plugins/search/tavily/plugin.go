// Package tavily is the search backend for the Tavily API: search, extract, crawl, map, and research with its result,
// plain or streamed.
//
// Bodies pass through byte for byte, with one exception: the plugin asks the API for the credits of each call, and if
// the client did not ask itself, it cuts the member that tells them out of the answer again. Nothing of the client
// but the body reaches the API.
package tavily

import (
	"context"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// Config is the config block of an instance.
type Config struct {
	BaseURL string        `patchbay:"base_url,default=https://api.tavily.com" doc:"Address of the API; it may have a path."`
	Timeout time.Duration `patchbay:"timeout,default=180s" doc:"Longest time for one call. Streams are not bound by it."`
	Project string        `patchbay:"project" doc:"Project that the API books all calls on (X-Project-ID)."`
}

// Plugin declares the plugin.
func Plugin() framework.Plugin {
	return framework.Plugin{
		Name:    "tavily",
		Version: "1.0.0",
		Summary: "Web search, extraction, crawling and research by the Tavily API.",
		Documentation: "Needs API keys in the core's key pool; they are sent as bearer tokens, one per call. " +
			"`base_url` may point to a compatible service.",
		Kinds: []framework.Kind{search.New(Definition())},
	}
}

// Definition declares the search kind of the plugin.
func Definition() search.Definition[Config] {
	return search.Definition[Config]{
		Credential: true,
		Operations: listOperations(),
		Stream:     true,
		KeyStatus:  true,
		Build:      buildBackend,
	}
}

const maxTimeout = time.Hour

func buildBackend(inst search.Instance, cfg Config) (search.Open, schema.Diagnostics) {
	var diags schema.Diagnostics
	if _, err := httpx.ParseBase(cfg.BaseURL); err != nil {
		diags = append(diags, schema.Errorf(schema.At("base_url"), "%v", err)...)
	}
	if cfg.Timeout <= 0 || cfg.Timeout > maxTimeout {
		diags = append(diags, schema.Errorf(schema.At("timeout"), "timeout must be more than 0 and at most %s", maxTimeout)...)
	}
	if strings.ContainsFunc(cfg.Project, func(r rune) bool { return r < 0x21 || r > 0x7e }) {
		diags = append(diags, schema.Errorf(schema.At("project"), "project must be printable ASCII without spaces")...)
	}
	if diags.HasErrors() {
		return nil, diags
	}
	return func(context.Context) (search.Backend, error) { return newBackend(inst, cfg, time.Now) }, diags
}
