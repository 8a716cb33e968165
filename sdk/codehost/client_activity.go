package codehost

import (
	"context"

	"google.golang.org/grpc"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	codehostv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/codehost/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// callInstance makes one call for the instance.
func callInstance[I, O any](ctx context.Context, c *Client, rpc func(context.Context, *I, ...grpc.CallOption) (*O, error),
	in *I) (*O, error) {
	out, err := rpc(c.callContext(ctx), in)
	if err != nil {
		return nil, errs.From(err)
	}
	return out, nil
}

// listAnswer is the answer of a list whose items are Ps.
type listAnswer[P any] interface {
	GetItems() []P
	GetMeta() *codehostv1.Meta
}

// pageOf makes a page of an answer.
func pageOf[T, P any](out listAnswer[P], err error, convert func(P) T) (*Page[T], error) {
	if err != nil {
		return nil, err
	}
	return &Page[T]{Items: convertAll(out.GetItems(), convert), Meta: metaFrom(out.GetMeta())}, nil
}

func listRequest(token schema.Secret, page PageRequest) *codehostv1.ListRequest {
	return &codehostv1.ListRequest{Token: secretToProto(token), Page: page.toProto()}
}

func repositoryListRequest(token schema.Secret, repo string, page PageRequest) *codehostv1.RepositoryListRequest {
	return &codehostv1.RepositoryListRequest{Token: secretToProto(token), Repo: repo, Page: page.toProto()}
}

// Viewer implements ViewerHost.
func (c *Client) Viewer(ctx context.Context, token schema.Secret) (*ViewerInfo, error) {
	out, err := callInstance(ctx, c, c.rpc.Viewer, &codehostv1.ViewerRequest{Token: secretToProto(token)})
	if err != nil {
		return nil, err
	}
	return &ViewerInfo{Account: accountFrom(out.GetAccount()), Scopes: out.GetScopes(), Meta: metaFrom(out.GetMeta())}, nil
}

// ListStarred implements StarHost.
func (c *Client) ListStarred(ctx context.Context, token schema.Secret, page PageRequest) (*Page[Starred], error) {
	out, err := callInstance(ctx, c, c.rpc.ListStarred, listRequest(token, page))
	return pageOf(out, err, starredFrom)
}

// FindRepository implements ReleaseHost.
func (c *Client) FindRepository(ctx context.Context, token schema.Secret, repo string) (*RepositoryInfo, error) {
	out, err := callInstance(ctx, c, c.rpc.FindRepository, &codehostv1.FindRepositoryRequest{Token: secretToProto(token), Repo: repo})
	if err != nil {
		return nil, err
	}
	return &RepositoryInfo{Repository: repositoryFrom(out.GetRepository()), Meta: metaFrom(out.GetMeta())}, nil
}

// ListReleases implements ReleaseHost.
func (c *Client) ListReleases(ctx context.Context, token schema.Secret, repo string, page PageRequest) (*Page[Release], error) {
	out, err := callInstance(ctx, c, c.rpc.ListReleases, repositoryListRequest(token, repo, page))
	return pageOf(out, err, releaseFrom)
}

// ListTags implements TagHost.
func (c *Client) ListTags(ctx context.Context, token schema.Secret, repo string, page PageRequest) (*Page[Tag], error) {
	out, err := callInstance(ctx, c, c.rpc.ListTags, repositoryListRequest(token, repo, page))
	return pageOf(out, err, tagFrom)
}

// ListNotifications implements NotificationHost.
func (c *Client) ListNotifications(ctx context.Context, token schema.Secret, req NotificationsRequest) (*Page[Notification], error) {
	out, err := callInstance(ctx, c, c.rpc.ListNotifications, &codehostv1.ListNotificationsRequest{
		Token: secretToProto(token), Page: req.PageRequest.toProto(), SinceUnixMs: unixMS(req.Since), All: req.All,
	})
	return pageOf(out, err, notificationFrom)
}

// ListOwned implements SocialHost.
func (c *Client) ListOwned(ctx context.Context, token schema.Secret, page PageRequest) (*Page[Repository], error) {
	out, err := callInstance(ctx, c, c.rpc.ListOwned, listRequest(token, page))
	return pageOf(out, err, repositoryFrom)
}

// ListStargazers implements SocialHost.
func (c *Client) ListStargazers(ctx context.Context, token schema.Secret, repo string, page PageRequest) (*Page[Stargazer], error) {
	out, err := callInstance(ctx, c, c.rpc.ListStargazers, repositoryListRequest(token, repo, page))
	return pageOf(out, err, stargazerFrom)
}

// ListFollowers implements SocialHost.
func (c *Client) ListFollowers(ctx context.Context, token schema.Secret, page PageRequest) (*Page[Account], error) {
	out, err := callInstance(ctx, c, c.rpc.ListFollowers, listRequest(token, page))
	return pageOf(out, err, accountFrom)
}

// ListEvents implements EventHost.
func (c *Client) ListEvents(ctx context.Context, token schema.Secret, login string, page PageRequest) (*Page[Event], error) {
	out, err := callInstance(ctx, c, c.rpc.ListEvents,
		&codehostv1.ListEventsRequest{Token: secretToProto(token), Login: login, Page: page.toProto()})
	return pageOf(out, err, eventFrom)
}

// ListAnnouncements implements AnnouncementHost.
func (c *Client) ListAnnouncements(ctx context.Context, token schema.Secret, repos []string) (*Page[Announcement], error) {
	out, err := callInstance(ctx, c, c.rpc.ListAnnouncements, &codehostv1.ListAnnouncementsRequest{Token: secretToProto(token), Repos: repos})
	return pageOf(out, err, announcementFrom)
}

// ReadReactions implements ReactionHost.
func (c *Client) ReadReactions(ctx context.Context, token schema.Secret, nodeIDs []string) (*Page[Reactions], error) {
	out, err := callInstance(ctx, c, c.rpc.ReadReactions, &codehostv1.ReadReactionsRequest{Token: secretToProto(token), NodeIds: nodeIDs})
	return pageOf(out, err, reactionsFrom)
}

// SetReaction implements ReactionHost.
func (c *Client) SetReaction(ctx context.Context, token schema.Secret, nodeID, content string, present bool) (*ReactionInfo, error) {
	out, err := callInstance(ctx, c, c.rpc.SetReaction,
		&codehostv1.SetReactionRequest{Token: secretToProto(token), NodeId: nodeID, Content: content, Present: present})
	if err != nil {
		return nil, err
	}
	return &ReactionInfo{Reactions: reactionsFrom(out.GetReactions()), Meta: metaFrom(out.GetMeta())}, nil
}

// Compare implements CompareHost.
func (c *Client) Compare(ctx context.Context, token schema.Secret, repo, base, head string) (*Comparison, error) {
	out, err := callInstance(ctx, c, c.rpc.Compare,
		&codehostv1.CompareRequest{Token: secretToProto(token), Repo: repo, Base: base, Head: head})
	if err != nil {
		return nil, err
	}
	return comparisonFrom(out), nil
}
