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
	"github.com/patchbay-dev/patchbay/sdk/conformance/internal/suite"
)

const (
	noToken    = suite.Skip("there is no token for the host")
	noWebhooks = suite.Skip("the host sends no webhooks")
)

func (r *codehostRun) badRequest(ctx context.Context) error {
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	for _, input := range []string{"", "  ", "a/b/c/d/e", "ftp://host.invalid/a", "a b", "../..", "a/..", strings.Repeat("x", 5000)} {
		_, err := r.clientAt(r.MainID).Resolve(ctx, r.cfg.Token, input)
		if err := suite.RequireCallerFault(fmt.Sprintf("the input %.40q", input), r.InspectError("resolve", err)); err != nil {
			return err
		}
	}
	for _, repo := range []string{"", "x", "/", "a/", "/b", "a/../b", "a/b?x=1", "a//b"} {
		_, err := r.clientAt(r.MainID).Hooks(ctx, r.cfg.Token, repo)
		if err := suite.RequireCallerFault(fmt.Sprintf("the repository %q", repo), r.InspectError("hooks", err)); err != nil {
			return err
		}
	}
	for _, spec := range []codehost.HookSpec{{}, {URL: "x", Secret: hookSecret, Events: []string{"package"}},
		{URL: "https://hook.invalid/", Secret: hookSecret}, {URL: "https://hook.invalid/", Events: []string{"package"}}} {
		_, err := r.clientAt(r.MainID).CreateHook(ctx, r.cfg.Token, "owner/repo", spec)
		if err := suite.RequireCallerFault("an incomplete hook", r.InspectError("create hook", err)); err != nil {
			return err
		}
	}
	err := r.clientAt(r.MainID).DeleteHook(ctx, r.cfg.Token, "owner/repo", "../1")
	return suite.RequireCallerFault("an id that is a path", r.InspectError("delete hook", err))
}

func (r *codehostRun) resolveAll(ctx context.Context) error {
	if !r.canAskHost() || len(r.cfg.Inputs) == 0 {
		return noToken
	}
	for _, input := range slices.Sorted(maps.Keys(r.cfg.Inputs)) {
		got, err := r.resolveInput(ctx, r.MainID, r.cfg.Token, input)
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
	call, cancel := r.WithTimeout(ctx)
	defer cancel()
	_, err := r.clientAt(r.MainID).Hooks(call, "wrong-token", r.cfg.Repo)
	return suite.RequireUpstream("a wrong token", r.InspectError("hooks", err), codes.Unauthenticated, codes.PermissionDenied)
}

func (r *codehostRun) checkMissing(ctx context.Context) error {
	if !r.canAskHost() || r.cfg.Missing == "" {
		return suite.Skip("no missing repository is known")
	}
	call, cancel := r.WithTimeout(ctx)
	defer cancel()
	c := r.clientAt(r.MainID)
	if r.hasAbility(codehost.CapWebhooks) {
		err := suite.ErrorAlone(c.Hooks(call, r.cfg.Token, r.cfg.Missing))
		if err := suite.RequireUpstream("the hooks of a missing repository", r.InspectError("hooks", err), codes.NotFound); err != nil {
			return err
		}
	}
	if r.hasAbility(codehost.CapReleases) {
		err := suite.ErrorAlone(c.ListReleases(call, r.cfg.Token, r.cfg.Missing, codehost.PageRequest{}))
		if err := suite.RequireUpstream("the releases of a missing repository", r.InspectError("releases", err), codes.NotFound); err != nil {
			return err
		}
	}
	_, err := c.Resolve(call, r.cfg.Token, r.cfg.Missing)
	return suite.RequireUpstream("resolving a missing repository", r.InspectError("resolve", err), codes.NotFound)
}

// checkHooks makes a hook, looks at it, changes it and takes it away, twice.
func (r *codehostRun) checkHooks(ctx context.Context) error {
	if !r.hasAbility(codehost.CapWebhooks) {
		return noWebhooks
	}
	if r.cfg.Token == "" || r.cfg.Repo == "" {
		return noToken
	}
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	c := r.clientAt(r.MainID)
	spec := codehost.HookSpec{URL: "https://hook.example.com/conformance", Secret: hookSecret, Events: []string{codehost.EventPackage},
		Active: true}
	made, err := c.CreateHook(ctx, r.cfg.Token, r.cfg.Repo, spec)
	if r.InspectError("create hook", err) != nil {
		return err
	}
	if err := r.compareHook(made, made.ID, spec); err != nil {
		return fmt.Errorf("create: %w", err)
	}
	spec.Active, spec.URL = false, spec.URL+"/2"
	changed, err := c.UpdateHook(ctx, r.cfg.Token, r.cfg.Repo, made.ID, spec)
	if r.InspectError("update hook", err) != nil {
		return err
	}
	if err := r.compareHook(changed, made.ID, spec); err != nil {
		return fmt.Errorf("update: %w", err)
	}
	all, err := c.Hooks(ctx, r.cfg.Token, r.cfg.Repo)
	if r.InspectError("hooks", err) != nil {
		return err
	}
	i := slices.IndexFunc(all, func(h codehost.Hook) bool { return h.ID == made.ID })
	if i < 0 {
		return errors.New("the new hook is not in the list")
	}
	if err := r.compareHook(&all[i], made.ID, spec); err != nil {
		return fmt.Errorf("list: %w", err)
	}
	if err := c.DeleteHook(ctx, r.cfg.Token, r.cfg.Repo, made.ID); r.InspectError("delete hook", err) != nil {
		return err
	}
	err = c.DeleteHook(ctx, r.cfg.Token, r.cfg.Repo, made.ID)
	return suite.RequireUpstream("deleting a hook that is gone", r.InspectError("delete hook", err), codes.NotFound)
}

func (r *codehostRun) compareHook(got *codehost.Hook, id string, want codehost.HookSpec) error {
	r.NoteSecrets("hook", fmt.Sprintf("%+v", *got))
	if got.ID != id || got.ID == "" || got.URL != want.URL || got.Active != want.Active || !slices.Equal(got.Events, want.Events) {
		return fmt.Errorf("the hook is %+v, want id %q, %s, active %v", *got, id, want.URL, want.Active)
	}
	return nil
}

func (r *codehostRun) cutShort(ctx, short context.Context) error {
	if r.cfg.Slow == "" {
		return suite.Skip("no slow input is known")
	}
	return r.CutCall(ctx, func(id string) error { return suite.ErrorAlone(r.resolveInput(short, id, r.cfg.Token, r.cfg.Slow)) })
}
