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
func (s *Syncer) CheckAccount(ctx context.Context, userID string) error {
	_, _, err := s.accountOf(ctx, userID)
	return err
}

// CanReact reports whether a user may react to a release: there is a token of its code host, which has reactions.
func (s *Syncer) CanReact(ctx context.Context, userID string, of repo.Reactable) (bool, error) {
	a, ok, err := s.cfg.Accounts.Find(ctx, userID)
	if err != nil || !ok || of.NodeID == "" || a.Host != of.Host {
		return false, err
	}
	h, err := s.findHost(a.Host)
	if err != nil {
		// A host that is not in use any more has no reactions.
		return false, nil
	}
	can, err := h.Abilities()
	return can.Reactions, err
}

// Reactions reads the reactions to at most codehost.MaxReactionNodes releases as a user sees them, by the ids of the releases,
// and keeps how many there are. Releases of another code host than that of the user's account, and those that the host does not
// show, are left out.
func (s *Syncer) Reactions(ctx context.Context, userID string, all []repo.Reactable) (map[int64]codehost.Reactions, error) {
	c, _, err := s.accountOf(ctx, userID)
	if err != nil {
		return nil, err
	}
	can, err := c.host.Abilities()
	if err != nil {
		return nil, err
	}
	byNode := map[string]int64{}
	var nodes []string
	for _, r := range all {
		if r.NodeID != "" && r.Host == c.host.Ref {
			nodes, byNode[r.NodeID] = append(nodes, r.NodeID), r.ID
		}
	}
	found, counts := map[int64]codehost.Reactions{}, map[int64]map[string]int64{}
	if !can.Reactions || len(nodes) == 0 {
		return found, nil
	}
	page, err := callHost(ctx, s, c, pageMeta[codehost.Reactions], func() (*codehost.Page[codehost.Reactions], error) {
		return c.host.Reactions.ReadReactions(ctx, c.token, nodes)
	})
	if page == nil {
		return nil, err
	}
	for _, r := range page.Items {
		if id, ok := byNode[r.NodeID]; ok {
			found[id], counts[id] = r, r.Counts
		}
	}
	return found, errors.Join(err, s.cfg.Repos.SetReactions(ctx, counts))
}

// ToggleReaction leaves a reaction of a user to a release, or takes it back if the user has left it, and returns the reactions
// from then on.
func (s *Syncer) ToggleReaction(ctx context.Context, userID string, of repo.Reactable, content string) (out codehost.Reactions, err error) {
	c, _, err := s.accountOf(ctx, userID)
	if err != nil {
		return out, err
	}
	if of.Host != c.host.Ref {
		return out, fault.New("pat_required", "The release is of the code host %s, of which you have no personal access token.", of.Host).WithStatus(http.StatusForbidden)
	}
	if of.NodeID == "" {
		return out, fault.New("sync_required", "Nothing is known of reactions to the release: sync the releases first.").WithStatus(http.StatusConflict)
	}
	now, err := s.Reactions(ctx, userID, []repo.Reactable{of})
	if err != nil {
		return out, refineDenied(err)
	}
	left, ok := now[of.ID]
	if !ok {
		return out, errNoReactions(nil)
	}
	info, err := callHost(ctx, s, c, func(i *codehost.ReactionInfo) codehost.Meta { return i.Meta }, func() (*codehost.ReactionInfo, error) {
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
	return fault.Wrap(cause, "pat_forbidden", "The code host does not let the personal access token react to this release.").WithStatus(http.StatusForbidden)
}

// refineDenied returns the error of a call about reactions, which tells a token that may not react from one that is refused.
func refineDenied(err error) error {
	if cause := client.CauseOf(err); cause == client.CauseDenied && !isUnauthenticated(err) || cause == client.CauseMissing {
		return errNoReactions(err)
	}
	return err
}
