package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

const (
	noToken    = skip("there is no token for the host")
	noWebhooks = skip("the host sends no webhooks")
)

func (r *codehostRun) badRequest(ctx context.Context) error {
	ctx, cancel := r.withTimeout(ctx)
	defer cancel()
	for _, input := range []string{"", "  ", "a/b/c/d/e", "ftp://host.invalid/a", "a b", "../..", "a/..", strings.Repeat("x", 5000)} {
		_, err := r.clientAt(r.main).Resolve(ctx, r.cfg.Token, input)
		if err := callersFault(fmt.Sprintf("the input %.40q", input), r.inspectError("resolve", err)); err != nil {
			return err
		}
	}
	for _, repo := range []string{"", "x", "/", "a/", "/b", "a/../b", "a/b?x=1", "a//b"} {
		_, err := r.clientAt(r.main).Hooks(ctx, r.cfg.Token, repo)
		if err := callersFault(fmt.Sprintf("the repository %q", repo), r.inspectError("hooks", err)); err != nil {
			return err
		}
	}
	for _, spec := range []codehost.HookSpec{{}, {URL: "x", Secret: hookSecret, Events: []string{"package"}}, {URL: "https://hook.invalid/", Secret: hookSecret}, {URL: "https://hook.invalid/", Events: []string{"package"}}} {
		_, err := r.clientAt(r.main).CreateHook(ctx, r.cfg.Token, "owner/repo", spec)
		if err := callersFault("an incomplete hook", r.inspectError("create hook", err)); err != nil {
			return err
		}
	}
	err := r.clientAt(r.main).DeleteHook(ctx, r.cfg.Token, "owner/repo", "../1")
	return callersFault("an id that is a path", r.inspectError("delete hook", err))
}

func (r *codehostRun) resolveAll(ctx context.Context) error {
	if !r.canAskHost() || len(r.cfg.Inputs) == 0 {
		return noToken
	}
	for _, input := range slices.Sorted(maps.Keys(r.cfg.Inputs)) {
		got, err := r.resolveInput(ctx, r.main, r.cfg.Token, input)
		if err != nil {
			return fmt.Errorf("%q: %w", input, err)
		}
		if got.Kind != r.cfg.Inputs[input] || got.Owner == "" {
			return fmt.Errorf("%q is resolved as %q of %q, want %q", input, got.Kind, got.Owner, r.cfg.Inputs[input])
		}
		if got.Kind == codehost.KindRepo && len(got.Repos) != 1 {
			return fmt.Errorf("%q is a repository and names %d", input, len(got.Repos))
		}
		seen := map[string]bool{}
		for _, repo := range got.Repos {
			if strings.Count(repo.FullName, "/") == 0 || seen[repo.FullName] {
				return fmt.Errorf("%q: the repository %q stands twice or is not owner/name", input, repo.FullName)
			}
			seen[repo.FullName] = true
		}
	}
	return nil
}

func (r *codehostRun) wrongToken(ctx context.Context) error {
	if !r.hasAbility(codehost.CapWebhooks) {
		return noWebhooks
	}
	if r.cfg.Token == "" || r.cfg.Repo == "" {
		return noToken
	}
	call, cancel := r.withTimeout(ctx)
	defer cancel()
	_, err := r.clientAt(r.main).Hooks(call, "wrong-token", r.cfg.Repo)
	return r.requireUpstreamError("a wrong token", r.inspectError("hooks", err), codes.Unauthenticated, codes.PermissionDenied)
}

func (r *codehostRun) checkMissing(ctx context.Context) error {
	if !r.canAskHost() || r.cfg.Missing == "" {
		return skip("no missing repository is known")
	}
	call, cancel := r.withTimeout(ctx)
	defer cancel()
	c := r.clientAt(r.main)
	if r.hasAbility(codehost.CapWebhooks) {
		err := errorAlone(c.Hooks(call, r.cfg.Token, r.cfg.Missing))
		if err := r.requireUpstreamError("the hooks of a missing repository", r.inspectError("hooks", err), codes.NotFound); err != nil {
			return err
		}
	}
	if r.hasAbility(codehost.CapReleases) {
		err := errorAlone(c.ListReleases(call, r.cfg.Token, r.cfg.Missing, codehost.PageRequest{}))
		if err := r.requireUpstreamError("the releases of a missing repository", r.inspectError("releases", err), codes.NotFound); err != nil {
			return err
		}
	}
	_, err := c.Resolve(call, r.cfg.Token, r.cfg.Missing)
	return r.requireUpstreamError("resolving a missing repository", r.inspectError("resolve", err), codes.NotFound)
}

// requireUpstreamError tells what is wrong with an error that must be the host's.
func (r *codehostRun) requireUpstreamError(what string, err error, want ...codes.Code) error {
	if errors.Is(err, errPanic) {
		return err
	}
	if e := errs.From(err); e == nil || !slices.Contains(want, e.Code) || e.Source != errs.Upstream {
		return fmt.Errorf("%s should end with %v, source upstream; got: %v", what, want, err)
	}
	return nil
}

// checkHooks makes a hook, looks at it, changes it and takes it away, twice.
func (r *codehostRun) checkHooks(ctx context.Context) error {
	if !r.hasAbility(codehost.CapWebhooks) {
		return noWebhooks
	}
	if r.cfg.Token == "" || r.cfg.Repo == "" {
		return noToken
	}
	ctx, cancel := r.withTimeout(ctx)
	defer cancel()
	c := r.clientAt(r.main)
	spec := codehost.HookSpec{URL: "https://hook.example.com/conformance", Secret: hookSecret, Events: []string{codehost.EventPackage}, Active: true}
	made, err := c.CreateHook(ctx, r.cfg.Token, r.cfg.Repo, spec)
	if r.inspectError("create hook", err) != nil {
		return err
	}
	if err := r.compareHook(made, made.ID, spec); err != nil {
		return fmt.Errorf("create: %w", err)
	}
	spec.Active, spec.URL = false, spec.URL+"/2"
	changed, err := c.UpdateHook(ctx, r.cfg.Token, r.cfg.Repo, made.ID, spec)
	if r.inspectError("update hook", err) != nil {
		return err
	}
	if err := r.compareHook(changed, made.ID, spec); err != nil {
		return fmt.Errorf("update: %w", err)
	}
	all, err := c.Hooks(ctx, r.cfg.Token, r.cfg.Repo)
	if r.inspectError("hooks", err) != nil {
		return err
	}
	i := slices.IndexFunc(all, func(h codehost.Hook) bool { return h.ID == made.ID })
	if i < 0 {
		return errors.New("the new hook is not in the list")
	}
	if err := r.compareHook(&all[i], made.ID, spec); err != nil {
		return fmt.Errorf("list: %w", err)
	}
	if err := c.DeleteHook(ctx, r.cfg.Token, r.cfg.Repo, made.ID); r.inspectError("delete hook", err) != nil {
		return err
	}
	err = c.DeleteHook(ctx, r.cfg.Token, r.cfg.Repo, made.ID)
	return r.requireUpstreamError("deleting a hook that is gone", r.inspectError("delete hook", err), codes.NotFound)
}

func (r *codehostRun) compareHook(got *codehost.Hook, id string, want codehost.HookSpec) error {
	r.noteSecrets("hook", fmt.Sprintf("%+v", *got))
	if got.ID != id || got.ID == "" || got.URL != want.URL || got.Active != want.Active || !slices.Equal(got.Events, want.Events) {
		return fmt.Errorf("the hook is %+v, want id %q, %s, active %v", *got, id, want.URL, want.Active)
	}
	return nil
}

func (r *codehostRun) cutShort(ctx, short context.Context) error {
	if r.cfg.Slow == "" {
		return skip("no slow input is known")
	}
	return r.cutCall(ctx, func(id string) error {
		_, err := r.resolveInput(short, id, r.cfg.Token, r.cfg.Slow)
		return err
	})
}
