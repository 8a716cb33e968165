package client

import (
	"context"

	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// askCodeHost makes one call that has an answer.
func askCodeHost[T any](ctx context.Context, f *codehostFacade, operation string,
	ask func(context.Context, *codehost.Client) (T, error)) (out T, err error) {
	err = f.callClient(ctx, operation, func(ctx context.Context, c *codehost.Client) (err error) {
		out, err = ask(ctx, c)
		return err
	})
	return out, err
}

func (f *codehostFacade) Viewer(ctx context.Context, token schema.Secret) (*codehost.ViewerInfo, error) {
	return askCodeHost(ctx, f, "viewer", func(ctx context.Context, c *codehost.Client) (*codehost.ViewerInfo, error) {
		return c.Viewer(ctx, token)
	})
}

func (f *codehostFacade) ListStarred(ctx context.Context, token schema.Secret,
	page codehost.PageRequest) (*codehost.Page[codehost.Starred], error) {
	return askCodeHost(ctx, f, "liststarred", func(ctx context.Context, c *codehost.Client) (*codehost.Page[codehost.Starred], error) {
		return c.ListStarred(ctx, token, page)
	})
}

func (f *codehostFacade) FindRepository(ctx context.Context, token schema.Secret, repo string) (*codehost.RepositoryInfo, error) {
	return askCodeHost(ctx, f, "findrepository", func(ctx context.Context, c *codehost.Client) (*codehost.RepositoryInfo, error) {
		return c.FindRepository(ctx, token, repo)
	})
}

func (f *codehostFacade) ListReleases(ctx context.Context, token schema.Secret, repo string,
	page codehost.PageRequest) (*codehost.Page[codehost.Release], error) {
	return askCodeHost(ctx, f, "listreleases", func(ctx context.Context, c *codehost.Client) (*codehost.Page[codehost.Release], error) {
		return c.ListReleases(ctx, token, repo, page)
	})
}

func (f *codehostFacade) ListTags(ctx context.Context, token schema.Secret, repo string,
	page codehost.PageRequest) (*codehost.Page[codehost.Tag], error) {
	return askCodeHost(ctx, f, "listtags", func(ctx context.Context, c *codehost.Client) (*codehost.Page[codehost.Tag], error) {
		return c.ListTags(ctx, token, repo, page)
	})
}

func (f *codehostFacade) ListNotifications(ctx context.Context, token schema.Secret,
	req codehost.NotificationsRequest) (*codehost.Page[codehost.Notification], error) {
	return askCodeHost(ctx, f, "listnotifications",
		func(ctx context.Context, c *codehost.Client) (*codehost.Page[codehost.Notification], error) {
			return c.ListNotifications(ctx, token, req)
		})
}

func (f *codehostFacade) ListOwned(ctx context.Context, token schema.Secret,
	page codehost.PageRequest) (*codehost.Page[codehost.Repository], error) {
	return askCodeHost(ctx, f, "listowned", func(ctx context.Context, c *codehost.Client) (*codehost.Page[codehost.Repository], error) {
		return c.ListOwned(ctx, token, page)
	})
}

func (f *codehostFacade) ListStargazers(ctx context.Context, token schema.Secret, repo string,
	page codehost.PageRequest) (*codehost.Page[codehost.Stargazer], error) {
	return askCodeHost(ctx, f, "liststargazers", func(ctx context.Context, c *codehost.Client) (*codehost.Page[codehost.Stargazer], error) {
		return c.ListStargazers(ctx, token, repo, page)
	})
}

func (f *codehostFacade) ListFollowers(ctx context.Context, token schema.Secret,
	page codehost.PageRequest) (*codehost.Page[codehost.Account], error) {
	return askCodeHost(ctx, f, "listfollowers", func(ctx context.Context, c *codehost.Client) (*codehost.Page[codehost.Account], error) {
		return c.ListFollowers(ctx, token, page)
	})
}

func (f *codehostFacade) ListEvents(ctx context.Context, token schema.Secret, login string,
	page codehost.PageRequest) (*codehost.Page[codehost.Event], error) {
	return askCodeHost(ctx, f, "listevents", func(ctx context.Context, c *codehost.Client) (*codehost.Page[codehost.Event], error) {
		return c.ListEvents(ctx, token, login, page)
	})
}

func (f *codehostFacade) ListAnnouncements(ctx context.Context, token schema.Secret,
	repos []string) (*codehost.Page[codehost.Announcement], error) {
	return askCodeHost(ctx, f, "listannouncements",
		func(ctx context.Context, c *codehost.Client) (*codehost.Page[codehost.Announcement], error) {
			return c.ListAnnouncements(ctx, token, repos)
		})
}

func (f *codehostFacade) ReadReactions(ctx context.Context, token schema.Secret,
	nodeIDs []string) (*codehost.Page[codehost.Reactions], error) {
	return askCodeHost(ctx, f, "readreactions", func(ctx context.Context, c *codehost.Client) (*codehost.Page[codehost.Reactions], error) {
		return c.ReadReactions(ctx, token, nodeIDs)
	})
}

func (f *codehostFacade) SetReaction(ctx context.Context, token schema.Secret, nodeID, content string,
	present bool) (*codehost.ReactionInfo, error) {
	return askCodeHost(ctx, f, "setreaction", func(ctx context.Context, c *codehost.Client) (*codehost.ReactionInfo, error) {
		return c.SetReaction(ctx, token, nodeID, content, present)
	})
}

func (f *codehostFacade) Compare(ctx context.Context, token schema.Secret, repo, base, head string) (*codehost.Comparison, error) {
	return askCodeHost(ctx, f, "compare", func(ctx context.Context, c *codehost.Client) (*codehost.Comparison, error) {
		return c.Compare(ctx, token, repo, base, head)
	})
}

func (f *codehostFacade) AuthorizeURL(ctx context.Context, req codehost.AuthorizeRequest) (string, error) {
	return askCodeHost(ctx, f, "authorizeurl", func(ctx context.Context, c *codehost.Client) (string, error) {
		return c.AuthorizeURL(ctx, req)
	})
}

func (f *codehostFacade) ExchangeCode(ctx context.Context, app codehost.OAuthClient, code,
	verifier schema.Secret) (*codehost.OAuthToken, error) {
	return askCodeHost(ctx, f, "exchangecode", func(ctx context.Context, c *codehost.Client) (*codehost.OAuthToken, error) {
		return c.ExchangeCode(ctx, app, code, verifier)
	})
}

func (f *codehostFacade) RefreshToken(ctx context.Context, app codehost.OAuthClient,
	refreshToken schema.Secret) (*codehost.OAuthToken, error) {
	return askCodeHost(ctx, f, "refreshtoken", func(ctx context.Context, c *codehost.Client) (*codehost.OAuthToken, error) {
		return c.RefreshToken(ctx, app, refreshToken)
	})
}
