package github

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/patchbay-dev/patchbay/plugins/internal/reponame"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// hook is a webhook as the API has it.
type hook struct {
	ID     int64    `json:"id"`
	Name   string   `json:"name"`
	Active bool     `json:"active"`
	Events []string `json:"events"`
	Config struct {
		URL         string `json:"url"`
		ContentType string `json:"content_type"`
	} `json:"config"`
}

func (k *hook) toHook() *codehost.Hook {
	return &codehost.Hook{ID: strconv.FormatInt(k.ID, 10), URL: k.Config.URL, Events: k.Events, Active: k.Active,
		ContentType: k.Config.ContentType}
}

// change is the body of a request that makes or changes a hook.
type change struct {
	Name   string       `json:"name,omitempty"`
	Active bool         `json:"active"`
	Events []string     `json:"events"`
	Config changeConfig `json:"config"`
}

type changeConfig struct {
	URL         string `json:"url"`
	ContentType string `json:"content_type"`
	Secret      string `json:"secret"`
	InsecureSSL string `json:"insecure_ssl"`
}

func newChange(name string, spec codehost.HookSpec) change {
	return change{Name: name, Active: spec.Active, Events: spec.Events, Config: changeConfig{
		URL: spec.URL, ContentType: "json", Secret: spec.Secret.Reveal(), InsecureSSL: "0",
	}}
}

// hooksURL returns the address of a repository's hooks, or of the one with an id.
func (h *host) hooksURL(query url.Values, repo string, id ...string) (*url.URL, error) {
	if !reponame.IsFullName(repo) {
		return nil, errs.BadInput(codehost.ReasonInvalidRequest, "the repository must be owner/name")
	}
	for _, i := range id {
		if _, err := strconv.ParseInt(i, 10, 64); err != nil {
			return nil, errs.BadInput(codehost.ReasonInvalidRequest, "the id of the hook is not a number")
		}
	}
	owner, name, _ := strings.Cut(repo, "/")
	return h.apiURL(query, append([]string{"repos", owner, name, "hooks"}, id...)...), nil
}

// Hooks implements codehost.CodeHost.
func (h *host) Hooks(ctx context.Context, token schema.Secret, repo string) ([]codehost.Hook, error) {
	first, err := h.hooksURL(url.Values{"per_page": {perPage}}, repo)
	if err != nil {
		return nil, err
	}
	var out []codehost.Hook
	err = listPage(ctx, h, token, first, func(page []hook) bool {
		for i := range page {
			out = append(out, *page[i].toHook())
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// CreateHook implements codehost.CodeHost.
func (h *host) CreateHook(ctx context.Context, token schema.Secret, repo string, spec codehost.HookSpec) (*codehost.Hook, error) {
	at, err := h.hooksURL(nil, repo)
	if err != nil {
		return nil, err
	}
	return h.writeHook(ctx, call{method: http.MethodPost, url: at, token: token, body: newChange("web", spec), secret: spec.Secret})
}

// UpdateHook implements codehost.CodeHost.
func (h *host) UpdateHook(ctx context.Context, token schema.Secret, repo, id string, spec codehost.HookSpec) (*codehost.Hook, error) {
	at, err := h.hooksURL(nil, repo, id)
	if err != nil {
		return nil, err
	}
	return h.writeHook(ctx, call{method: http.MethodPatch, url: at, token: token, body: newChange("", spec), secret: spec.Secret})
}

func (h *host) writeHook(ctx context.Context, c call) (*codehost.Hook, error) {
	var got hook
	if _, err := h.callAPI(ctx, c, &got); err != nil {
		return nil, err
	}
	if got.ID == 0 {
		return nil, errs.Unavailable(errs.ReasonProtocol, "%s %s%s: the answer names no webhook", c.method, c.url.Host, c.url.Path)
	}
	return got.toHook(), nil
}

// DeleteHook implements codehost.CodeHost.
func (h *host) DeleteHook(ctx context.Context, token schema.Secret, repo, id string) error {
	at, err := h.hooksURL(nil, repo, id)
	if err != nil {
		return err
	}
	_, err = h.callAPI(ctx, call{method: http.MethodDelete, url: at, token: token}, nil)
	return err
}
