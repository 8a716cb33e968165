package fake

import (
	"context"
	"slices"
	"strconv"

	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// addHook makes a hook. The caller holds the lock.
func (h *codeHostState) addHook(repo string, spec codehost.HookSpec) *codehost.Hook {
	h.last++
	hook := newHook(strconv.Itoa(h.last), spec)
	h.hooks[repo] = append(h.hooks[repo], hook)
	h.secrets[hook.ID] = spec.Secret
	return &hook
}

func newHook(id string, spec codehost.HookSpec) codehost.Hook {
	return codehost.Hook{ID: id, URL: spec.URL, Events: slices.Clone(spec.Events), Active: spec.Active, ContentType: "json"}
}

// hookIndex returns the index of a hook, or -1. The caller holds the lock.
func (h *codeHostState) hookIndex(repo, id string) int {
	return slices.IndexFunc(h.hooks[repo], func(k codehost.Hook) bool { return k.ID == id })
}

// Hooks implements client.CodeHost.
func (h *CodeHost) Hooks(ctx context.Context, token schema.Secret, repo string) ([]codehost.Hook, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.beginCall(ctx, CodeHostCall{Method: "hooks", Of: repo, Token: token}); err != nil {
		return nil, err
	}
	hooks, ok := h.hooks[repo]
	if !ok {
		return nil, CodeHostError(404, 0)
	}
	return slices.Clone(hooks), nil
}

// CreateHook implements client.CodeHost.
func (h *CodeHost) CreateHook(ctx context.Context, token schema.Secret, repo string, spec codehost.HookSpec) (*codehost.Hook, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.beginCall(ctx, CodeHostCall{Method: "create", Of: repo, Spec: spec, Token: token}); err != nil {
		return nil, err
	}
	if _, ok := h.hooks[repo]; !ok {
		return nil, CodeHostError(404, 0)
	}
	if slices.ContainsFunc(h.hooks[repo], func(k codehost.Hook) bool { return k.URL == spec.URL && slices.Equal(k.Events, spec.Events) }) {
		return nil, CodeHostError(422, 0)
	}
	return h.addHook(repo, spec), nil
}

// UpdateHook implements client.CodeHost.
func (h *CodeHost) UpdateHook(ctx context.Context, token schema.Secret, repo, id string, spec codehost.HookSpec) (*codehost.Hook, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.beginCall(ctx, CodeHostCall{Method: "update", Of: repo, ID: id, Spec: spec, Token: token}); err != nil {
		return nil, err
	}
	i := h.hookIndex(repo, id)
	if i < 0 {
		return nil, CodeHostError(404, 0)
	}
	hook := newHook(id, spec)
	h.hooks[repo] = slices.Clone(h.hooks[repo])
	h.hooks[repo][i], h.secrets[id] = hook, spec.Secret
	return &hook, nil
}

// DeleteHook implements client.CodeHost.
func (h *CodeHost) DeleteHook(ctx context.Context, token schema.Secret, repo, id string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.beginCall(ctx, CodeHostCall{Method: "delete", Of: repo, ID: id, Token: token}); err != nil {
		return err
	}
	i := h.hookIndex(repo, id)
	if i < 0 {
		return CodeHostError(404, 0)
	}
	h.hooks[repo] = slices.Delete(slices.Clone(h.hooks[repo]), i, i+1)
	delete(h.secrets, id)
	return nil
}
