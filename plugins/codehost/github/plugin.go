// Package github is the code host plugin for GitHub, also for one of one's own (GitHub Enterprise Server).
package github

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Config is the config block of an instance.
type Config struct {
	BaseURL string        `patchbay:"base_url,default=https://api.github.com" doc:"Address of the REST API; with a server of one's own it ends in /api/v3."`
	WebURL  string        `patchbay:"web_url" doc:"Where people see repositories; unset it follows base_url."`
	Timeout time.Duration `patchbay:"timeout,default=15s" doc:"Longest time for one request."`
}

// Plugin declares the plugin.
func Plugin() framework.Plugin {
	return framework.Plugin{
		Name:    "github",
		Version: "1.0.0",
		Summary: "Stars, releases, notifications, reactions and webhooks of GitHub.",
		Documentation: "Tokens come with each call. A classic token needs `repo` and `admin:repo_hook` (`public_repo` for public repositories alone), " +
			"a fine-grained one Webhooks read and write and Metadata read-only. Releases and tags of public repositories need none; the inbox " +
			"needs `notifications`, reactions `public_repo`.",
		Kinds: []framework.Kind{codehost.New(codehost.Definition[Config]{Build: buildInstance, Capabilities: []string{
			codehost.CapWebhooks, codehost.CapViewer, codehost.CapStarred, codehost.CapReleases, codehost.CapTags, codehost.CapNotifications,
			codehost.CapSocial, codehost.CapEvents, codehost.CapAnnouncements, codehost.CapReactions, codehost.CapCompare, codehost.CapOAuth,
		}})},
	}
}

const (
	maxTimeout = 5 * time.Minute
	// maxBody is the largest answer that is read, in bytes.
	maxBody = 8 << 20
	// maxRedirects is how many redirects are followed for one answer.
	maxRedirects = 3
	publicAPI    = "api.github.com"
	publicWeb    = "github.com"
)

func buildInstance(inst codehost.Instance, cfg Config) (codehost.Open, schema.Diagnostics) {
	var diags schema.Diagnostics
	base, err := httpx.ParseBase(cfg.BaseURL)
	if err != nil {
		diags = append(diags, schema.Errorf(schema.At("base_url"), "%v", err)...)
	}
	h := &host{&apiClient{timeout: cfg.Timeout, now: time.Now, log: inst.Log}}
	if err == nil {
		h.base, h.web = base, webURL(base)
		h.pages = base.Scheme + "://" + h.web
	}
	if cfg.WebURL != "" {
		web, err := httpx.ParseBase(cfg.WebURL)
		if err != nil {
			diags = append(diags, schema.Errorf(schema.At("web_url"), "%v", err)...)
		} else {
			h.web, h.pages = strings.ToLower(web.Host), strings.ToLower(web.String())
		}
	}
	if cfg.Timeout <= 0 || cfg.Timeout > maxTimeout {
		diags = append(diags, schema.Errorf(schema.At("timeout"), "must be more than 0 and at most %s", maxTimeout)...)
	}
	if diags.HasErrors() {
		return nil, diags
	}
	return func(context.Context) (codehost.CodeHost, error) {
		h.http, err = httpx.New(httpx.Config{UserAgent: inst.UserAgent, Timeout: cfg.Timeout, MaxBody: maxBody, Compression: true, Proxy: true,
			Own: h.ownAddresses()})
		return h, err
	}, diags
}

// ownAddresses returns where the configuration says that the API and the pages are.
func (h *apiClient) ownAddresses() []*url.URL {
	own := []*url.URL{h.base}
	if web, err := url.Parse(h.pages); err == nil {
		own = append(own, web)
	}
	return own
}

// webURL returns the host that people see.
func webURL(base *url.URL) string {
	host := strings.ToLower(base.Host)
	if host == publicAPI {
		return publicWeb
	}
	return host
}

// host implements codehost.CodeHost.
type host struct{ *apiClient }

// apiClient calls the API of GitHub.
type apiClient struct {
	http    *httpx.Client
	base    *url.URL
	web     string
	pages   string // where pages for people begin
	timeout time.Duration
	now     func() time.Time
	log     hclog.Logger
}

// Close lets idle connections go.
func (h *apiClient) Close() error { return h.http.Close() }
