package sync

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

// CheckAccount returns an error for a user without a token that can be used.
func (s *reactor) CheckAccount(ctx context.Context, userID string) error {
	all, err := s.cfg.Accounts.List(ctx, userID)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return errNoAccount()
	}
	for _, a := range all {
		if _, err = s.callerOfAccount(ctx, a); err == nil {
			return nil
		}
	}
	return err
}

// CanReact reports whether a user may react to a release: there is a token of its code host, which has reactions.
func (s *reactor) CanReact(ctx context.Context, userID string, of repo.Reactable) (bool, error) {
	all, err := s.cfg.Accounts.Seeing(ctx, userID, of.Host, of.RepoID)
	if err != nil || len(all) == 0 || of.NodeID == "" {
		return false, err
	}
	h, err := s.findHost(of.Host)
	if err != nil {
		// A host that is not in use any more has no reactions.
		return false, nil
	}
	can, err := h.Abilities()
	return can.Reactions, err
}

// Reactions reads the reactions to at most codehost.MaxReactionNodes releases as a user sees them, by the ids of the releases,
// and keeps how many there are. Each is read with the account that sees its repository. Releases of code hosts where the user has no
// account, and those that the host does not show, are left out.
func (s *reactor) Reactions(ctx context.Context, userID string, all []repo.Reactable) (map[int64]codehost.Reactions, error) {
	if err := s.CheckAccount(ctx, userID); err != nil {
		return nil, err
	}
	callers, byAccount, chosen := map[string]caller{}, map[string][]repo.Reactable{}, map[int64]caller{}
	for _, r := range all {
		c, known := chosen[r.RepoID]
		if !known {
			var err error
			if c, _, err = s.callerSeeing(ctx, userID, r.Host, r.RepoID); err != nil {
				return nil, err
			}
			chosen[r.RepoID] = c
		}
		if c.accountID != "" && r.NodeID != "" {
			callers[c.accountID] = c
			byAccount[c.accountID] = append(byAccount[c.accountID], r)
		}
	}
	found := map[int64]codehost.Reactions{}
	var problems []error
	for id, c := range callers {
		problems = append(problems, s.readReactions(ctx, c, byAccount[id], found))
	}
	return found, errors.Join(problems...)
}

// readReactions reads the reactions to releases with one account into found, and keeps how many there are.
func (s *reactor) readReactions(ctx context.Context, c caller, all []repo.Reactable, found map[int64]codehost.Reactions) error {
	can, err := c.host.Abilities()
	if err != nil || !can.Reactions {
		return err
	}
	byNode, counts := map[string]int64{}, map[int64]map[string]int64{}
	var nodes []string
	for _, r := range all {
		nodes, byNode[r.NodeID] = append(nodes, r.NodeID), r.ID
	}
	page, err := callHost(ctx, s.hostCaller, c, pageMeta[codehost.Reactions], func() (*codehost.Page[codehost.Reactions], error) {
		return c.host.Reactions.ReadReactions(ctx, c.token, nodes)
	})
	if page == nil {
		return err
	}
	for _, r := range page.Items {
		if id, ok := byNode[r.NodeID]; ok {
			found[id], counts[id] = r, r.Counts
		}
	}
	return errors.Join(err, s.cfg.Repos.SetReactions(ctx, counts))
}

// CheckReactor returns an error for a user without a token that a reaction can be left with: a refused token is answered like none.
func (s *reactor) CheckReactor(ctx context.Context, userID string) error {
	if err := s.CheckAccount(ctx, userID); err != nil {
		return refineDenied(err)
	}
	return nil
}

// ToggleReaction leaves a reaction of a user to a release, or takes it back if the user has left it, and returns the reactions
// from then on. Calls for the same user come one after the other, so that each sees what the one before has done.
func (s *reactor) ToggleReaction(ctx context.Context, userID string, of repo.Reactable,
	content string) (out codehost.Reactions, err error) {
	if err := s.CheckReactor(ctx, userID); err != nil {
		return out, err
	}
	lock, err := s.cfg.Locks.Lock(ctx, "releases.reactions/"+userID)
	if err != nil {
		return out, err
	}
	defer lock.Release()
	ctx = lock.Hold(ctx)
	c, ok, err := s.callerSeeing(ctx, userID, of.Host, of.RepoID)
	if err != nil {
		return out, refineDenied(err)
	}
	if !ok {
		return out, fault.New(CodeTokenRequired, "The release is from the code host %s: save a personal access token for it first.",
			of.Host).WithStatus(http.StatusForbidden)
	}
	if of.NodeID == "" {
		return out, fault.New(
			"sync_required", "The reactions to the release are unknown: sync the releases first.").WithStatus(http.StatusConflict)
	}
	now, err := s.Reactions(ctx, userID, []repo.Reactable{of})
	if err != nil {
		return out, refineDenied(err)
	}
	left, ok := now[of.ID]
	if !ok {
		return out, errNoReactions(nil)
	}
	info, err := callHost(ctx, s.hostCaller, c, func(i *codehost.ReactionInfo) codehost.Meta { return i.Meta },
		func() (*codehost.ReactionInfo, error) {
			return c.host.Reactions.SetReaction(ctx, c.token, of.NodeID, content, !slices.Contains(left.Viewer, content))
		})
	if info == nil {
		return out, refineDenied(err)
	}
	// A pause that the answer asks for is for the next call: this one was made.
	return info.Reactions, s.cfg.Repos.SetReactions(ctx, map[int64]map[string]int64{of.ID: info.Reactions.Counts})
}

// errNoReactions is for a release whose reactions the code host does not let the token read or change.
func errNoReactions(cause error) error {
	return fault.Wrap(cause, "pat_forbidden",
		"The code host does not let the personal access token react to this release.").WithStatus(http.StatusForbidden)
}

// refineDenied returns the error of a change of a reaction, which tells a token that may not react from one that is refused. The change
// needs a token that is good: one that is refused is answered like none.
func refineDenied(err error) error {
	if f := fault.As(err); f != nil && f.Code == CodeTokenInvalid {
		return fault.Wrap(err, CodeTokenRequired, "%s", f.Message).WithStatus(http.StatusForbidden)
	}
	if cause := client.CauseOf(err); cause == client.CauseDenied && !isUnauthenticated(err) || cause == client.CauseMissing {
		return errNoReactions(err)
	}
	return err
}
