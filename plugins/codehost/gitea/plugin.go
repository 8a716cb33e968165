// Package gitea is the code host plugin for Gitea and Forgejo, such as codeberg.org.
package gitea

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Config is the config block of an instance.
type Config struct {
	BaseURL string        `patchbay:"base_url,required" doc:"Where people see the server, such as https://codeberg.org; its API is below /api/v1."`
	Timeout time.Duration `patchbay:"timeout,default=15s" doc:"Longest time for one request."`
}

// Plugin declares the plugin.
func Plugin() framework.Plugin {
	return framework.Plugin{
		Name:    "gitea",
		Version: "1.0.0",
		Summary: "Stars, releases and notifications of Gitea and Forgejo, such as codeberg.org.",
		Documentation: "Tokens come with each call. They need to read `repository`, `user` and, for the inbox, `notification`. Public repositories need none. " +
			"The API has no reactions to releases, no time of a star and no feed of followed accounts that a program can read.",
		Kinds: []framework.Kind{codehost.New(codehost.Definition[Config]{Build: buildHost, Capabilities: []string{
			codehost.CapViewer, codehost.CapStarred, codehost.CapReleases, codehost.CapTags, codehost.CapNotifications, codehost.CapSocial,
			codehost.CapCompare, codehost.CapOAuth,
		}})},
	}
}

const (
	maxTimeout = 5 * time.Minute
	// maxBody is the largest answer that is read, in bytes.
	maxBody = 8 << 20
	// maxRedirects is how many redirects are followed, such as those of a repository that was renamed.
	maxRedirects = 3
	// limitedPause is how long to wait after a 429 that does not say it.
	limitedPause = time.Minute
)

func buildHost(inst codehost.Instance, cfg Config) (codehost.Open, schema.Diagnostics) {
	var diags schema.Diagnostics
	base, err := httpx.ParseBase(cfg.BaseURL)
	if err != nil {
		diags = append(diags, schema.Errorf(schema.At("base_url"), "%v", err)...)
	} else if strings.HasSuffix(base.Path, "/api/v1") {
		diags = append(diags, schema.Errorf(schema.At("base_url"), "must be where people see the server, without /api/v1")...)
	}
	if cfg.Timeout <= 0 || cfg.Timeout > maxTimeout {
		diags = append(diags, schema.Errorf(schema.At("timeout"), "must be more than 0 and at most %s", maxTimeout)...)
	}
	if diags.HasErrors() {
		return nil, diags
	}
	return func(context.Context) (codehost.CodeHost, error) {
		client, err := httpx.New(httpx.Config{UserAgent: inst.UserAgent, Timeout: cfg.Timeout, MaxBody: maxBody, Compression: true, Proxy: true,
			Own: []*url.URL{base}, MaxRedirects: maxRedirects})
		api := *base
		api.Path += "/api/v1"
		return &host{http: client, web: base, api: &api}, err
	}, diags
}

// host implements codehost.CodeHost.
type host struct {
	http *httpx.Client
	// web is where people see the server, api where the API is.
	web, api *url.URL
}

// Close lets idle connections go.
func (h *host) Close() error { return h.http.Close() }
