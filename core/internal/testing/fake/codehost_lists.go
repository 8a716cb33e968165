package fake

import (
	"context"
	"slices"

	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Viewer implements client.CodeHost.
func (h *CodeHost) Viewer(ctx context.Context, token schema.Secret) (*codehost.ViewerInfo, error) {
	able := func(a client.CodeHostAbilities) bool { return a.Viewer }
	return callCodeHost(ctx, h, "viewer", "", token, false, able, func(*CodeHostContent) (*codehost.ViewerInfo, error) {
		if err := h.charge(); err != nil {
			return nil, err
		}
		return &codehost.ViewerInfo{Account: h.accounts[token], Scopes: []string{"notifications", "public_repo"}, Meta: h.describe()}, nil
	})
}

// ListStarred implements client.CodeHost.
func (h *CodeHost) ListStarred(ctx context.Context, token schema.Secret,
	page codehost.PageRequest) (*codehost.Page[codehost.Starred], error) {
	able := func(a client.CodeHostAbilities) bool { return a.Starred }
	return callCodeHost(ctx, h, "liststarred", "", token, false, able, func(c *CodeHostContent) (*codehost.Page[codehost.Starred], error) {
		return pageOf(h, c.Starred, page)
	})
}

// FindRepository implements client.CodeHost.
func (h *CodeHost) FindRepository(ctx context.Context, token schema.Secret, repo string) (*codehost.RepositoryInfo, error) {
	able := func(a client.CodeHostAbilities) bool { return a.Releases }
	return callCodeHost(ctx, h, "findrepository", repo, token, true, able, func(c *CodeHostContent) (*codehost.RepositoryInfo, error) {
		if err := h.charge(); err != nil {
			return nil, err
		}
		return &codehost.RepositoryInfo{Repository: *c.Repository, Meta: h.describe()}, nil
	})
}

// ListReleases implements client.CodeHost.
func (h *CodeHost) ListReleases(ctx context.Context, token schema.Secret, repo string,
	page codehost.PageRequest) (*codehost.Page[codehost.Release], error) {
	able := func(a client.CodeHostAbilities) bool { return a.Releases }
	return callCodeHost(ctx, h, "listreleases", repo, token, true, able, func(c *CodeHostContent) (*codehost.Page[codehost.Release], error) {
		return pageOf(h, c.Releases, page)
	})
}

// ListTags implements client.CodeHost.
func (h *CodeHost) ListTags(ctx context.Context, token schema.Secret, repo string,
	page codehost.PageRequest) (*codehost.Page[codehost.Tag], error) {
	able := func(a client.CodeHostAbilities) bool { return a.Tags }
	return callCodeHost(ctx, h, "listtags", repo, token, true, able, func(c *CodeHostContent) (*codehost.Page[codehost.Tag], error) {
		return pageOf(h, c.Tags, page)
	})
}

// ListNotifications implements client.CodeHost.
func (h *CodeHost) ListNotifications(ctx context.Context, token schema.Secret,
	req codehost.NotificationsRequest) (*codehost.Page[codehost.Notification], error) {
	able := func(a client.CodeHostAbilities) bool { return a.Notifications }
	return callCodeHost(ctx, h, "listnotifications", "", token, false, able,
		func(c *CodeHostContent) (*codehost.Page[codehost.Notification], error) {
			wanted := slices.DeleteFunc(slices.Clone(c.Notifications), func(n codehost.Notification) bool {
				return n.UpdatedAt.Before(req.Since) || !req.All && !n.Unread
			})
			return pageOf(h, wanted, req.PageRequest)
		})
}

func isSocial(a client.CodeHostAbilities) bool { return a.Social }

// ListOwned implements client.CodeHost.
func (h *CodeHost) ListOwned(ctx context.Context, token schema.Secret,
	page codehost.PageRequest) (*codehost.Page[codehost.Repository], error) {
	return callCodeHost(ctx, h, "listowned", "", token, false, isSocial,
		func(c *CodeHostContent) (*codehost.Page[codehost.Repository], error) {
			return pageOf(h, c.Owned, page)
		})
}

// ListStargazers implements client.CodeHost.
func (h *CodeHost) ListStargazers(ctx context.Context, token schema.Secret, repo string,
	page codehost.PageRequest) (*codehost.Page[codehost.Stargazer], error) {
	return callCodeHost(ctx, h, "liststargazers", repo, token, true, isSocial,
		func(c *CodeHostContent) (*codehost.Page[codehost.Stargazer], error) {
			return pageOf(h, c.Stargazers, page)
		})
}

// ListFollowers implements client.CodeHost.
func (h *CodeHost) ListFollowers(ctx context.Context, token schema.Secret,
	page codehost.PageRequest) (*codehost.Page[codehost.Account], error) {
	return callCodeHost(ctx, h, "listfollowers", "", token, false, isSocial,
		func(c *CodeHostContent) (*codehost.Page[codehost.Account], error) {
			return pageOf(h, c.Followers, page)
		})
}

// ListEvents implements client.CodeHost.
func (h *CodeHost) ListEvents(ctx context.Context, token schema.Secret, login string,
	page codehost.PageRequest) (*codehost.Page[codehost.Event], error) {
	able := func(a client.CodeHostAbilities) bool { return a.Events }
	return callCodeHost(ctx, h, "listevents", login, token, false, able, func(c *CodeHostContent) (*codehost.Page[codehost.Event], error) {
		return pageOf(h, c.Events, page)
	})
}

// ListAnnouncements implements client.CodeHost.
func (h *CodeHost) ListAnnouncements(ctx context.Context, token schema.Secret,
	repos []string) (*codehost.Page[codehost.Announcement], error) {
	able := func(a client.CodeHostAbilities) bool { return a.Announcements }
	return callCodeHost(ctx, h, "listannouncements", "", token, false, able,
		func(*CodeHostContent) (*codehost.Page[codehost.Announcement], error) {
			var all []codehost.Announcement
			for _, repo := range repos {
				all = append(all, h.findContent(repo).Announcements...)
			}
			return pageOf(h, all, codehost.PageRequest{Size: len(all) + 1})
		})
}

// Compare implements client.CodeHost.
func (h *CodeHost) Compare(ctx context.Context, token schema.Secret, repo, base, head string) (*codehost.Comparison, error) {
	able := func(a client.CodeHostAbilities) bool { return a.Compare }
	return callCodeHost(ctx, h, "compare", repo, token, true, able, func(c *CodeHostContent) (*codehost.Comparison, error) {
		if err := h.charge(); err != nil {
			return nil, err
		}
		found, ok := c.Comparisons[base+"..."+head]
		if !ok {
			return nil, CodeHostError(404, 0)
		}
		found.Meta = h.describe()
		return &found, nil
	})
}

// reactionsTo returns the reactions to a node as login sees them. The caller holds the lock.
func (h *CodeHost) reactionsTo(nodeID, login string) (out codehost.Reactions, ok bool) {
	for _, c := range h.content {
		for _, r := range c.Releases {
			if r.NodeID != nodeID {
				continue
			}
			out = codehost.Reactions{NodeID: nodeID, Counts: map[string]int64{}}
			for _, word := range codehost.ReactionContents {
				left := h.viewers[nodeID][word]
				if n := r.Reactions[word] + int64(len(left)); n > 0 {
					out.Counts[word] = n
				}
				if slices.Contains(left, login) {
					out.Viewer = append(out.Viewer, word)
				}
			}
			return out, true
		}
	}
	return out, false
}

func canReact(a client.CodeHostAbilities) bool { return a.Reactions }

// ReadReactions implements client.CodeHost.
func (h *CodeHost) ReadReactions(ctx context.Context, token schema.Secret, nodeIDs []string) (*codehost.Page[codehost.Reactions], error) {
	return callCodeHost(ctx, h, "readreactions", "", token, false, canReact,
		func(*CodeHostContent) (*codehost.Page[codehost.Reactions], error) {
			var all []codehost.Reactions
			for _, id := range nodeIDs {
				if r, ok := h.reactionsTo(id, h.accounts[token].Login); ok {
					all = append(all, r)
				}
			}
			return pageOf(h, all, codehost.PageRequest{Size: len(all) + 1})
		})
}

// SetReaction implements client.CodeHost.
func (h *CodeHost) SetReaction(ctx context.Context, token schema.Secret, nodeID, content string,
	present bool) (*codehost.ReactionInfo, error) {
	return callCodeHost(ctx, h, "setreaction", nodeID, token, false, canReact, func(*CodeHostContent) (*codehost.ReactionInfo, error) {
		login := h.accounts[token].Login
		if _, ok := h.reactionsTo(nodeID, login); !ok {
			return nil, CodeHostError(404, 0)
		}
		if err := h.charge(); err != nil {
			return nil, err
		}
		if h.viewers[nodeID] == nil {
			h.viewers[nodeID] = map[string][]string{}
		}
		left := slices.DeleteFunc(h.viewers[nodeID][content], func(l string) bool { return l == login })
		if present {
			left = append(left, login)
		}
		h.viewers[nodeID][content] = left
		reactions, _ := h.reactionsTo(nodeID, login)
		return &codehost.ReactionInfo{Reactions: reactions, Meta: h.describe()}, nil
	})
}
