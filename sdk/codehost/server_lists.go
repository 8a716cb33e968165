package codehost

import (
	"context"
	"strings"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	codehostv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/codehost/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// listOwn makes a call for a list of the account that the token belongs to, and hands the page to answer.
func listOwn[H, T any](
	ctx context.Context, s *server, capability string, p *codehostv1.ListRequest,
	list func(H, schema.Secret, PageRequest) (*Page[T], error), answer func(*Page[T]),
) error {
	if err := checkPage(p.GetPage()); err != nil {
		return err
	}
	return useOptional(ctx, s, capability, func(h H) error {
		token := secretFrom(p.GetToken())
		if err := checkToken(token); err != nil {
			return err
		}
		got, err := list(h, token, pageFrom(p.GetPage()))
		if err == nil && got != nil {
			answer(got)
		}
		return err
	})
}

// listOfRepository makes a call for a list of a repository, and hands the page to answer.
func listOfRepository[H, T any](
	ctx context.Context, s *server, capability string, p *codehostv1.RepositoryListRequest,
	list func(H, schema.Secret, PageRequest) (*Page[T], error), answer func(*Page[T]),
) error {
	if err := firstError(checkRepo(p.GetRepo()), checkPage(p.GetPage())); err != nil {
		return err
	}
	return useOptional(ctx, s, capability, func(h H) error {
		got, err := list(h, secretFrom(p.GetToken()), pageFrom(p.GetPage()))
		if err == nil && got != nil {
			answer(got)
		}
		return err
	})
}

// ListStarred implements the service.
func (s *server) ListStarred(ctx context.Context, p *codehostv1.ListRequest) (out *codehostv1.ListStarredResponse, err error) {
	err = listOwn(ctx, s, CapStarred, p, func(h StarHost, token schema.Secret, page PageRequest) (*Page[Starred], error) {
		return h.ListStarred(ctx, token, page)
	}, func(got *Page[Starred]) {
		out = &codehostv1.ListStarredResponse{Items: convertAll(got.Items, Starred.toProto), Meta: got.Meta.toProto()}
	})
	return out, err
}

// ListReleases implements the service.
func (s *server) ListReleases(ctx context.Context, p *codehostv1.RepositoryListRequest) (out *codehostv1.ListReleasesResponse, err error) {
	err = listOfRepository(ctx, s, CapReleases, p, func(h ReleaseHost, token schema.Secret, page PageRequest) (*Page[Release], error) {
		return h.ListReleases(ctx, token, p.GetRepo(), page)
	}, func(got *Page[Release]) {
		out = &codehostv1.ListReleasesResponse{Items: convertAll(got.Items, Release.toProto), Meta: got.Meta.toProto()}
	})
	return out, err
}

// ListTags implements the service.
func (s *server) ListTags(ctx context.Context, p *codehostv1.RepositoryListRequest) (out *codehostv1.ListTagsResponse, err error) {
	err = listOfRepository(ctx, s, CapTags, p, func(h TagHost, token schema.Secret, page PageRequest) (*Page[Tag], error) {
		return h.ListTags(ctx, token, p.GetRepo(), page)
	}, func(got *Page[Tag]) {
		out = &codehostv1.ListTagsResponse{Items: convertAll(got.Items, Tag.toProto), Meta: got.Meta.toProto()}
	})
	return out, err
}

// ListNotifications implements the service.
func (s *server) ListNotifications(ctx context.Context,
	p *codehostv1.ListNotificationsRequest) (out *codehostv1.ListNotificationsResponse, err error) {
	own := &codehostv1.ListRequest{Token: p.GetToken(), Page: p.GetPage()}
	err = listOwn(ctx, s, CapNotifications, own, func(h NotificationHost, token schema.Secret, page PageRequest) (*Page[Notification], error) {
		return h.ListNotifications(ctx, token, NotificationsRequest{PageRequest: page, Since: timeFrom(p.GetSinceUnixMs()), All: p.GetAll()})
	}, func(got *Page[Notification]) {
		out = &codehostv1.ListNotificationsResponse{Items: convertAll(got.Items, Notification.toProto), Meta: got.Meta.toProto()}
	})
	return out, err
}

// ListOwned implements the service.
func (s *server) ListOwned(ctx context.Context, p *codehostv1.ListRequest) (out *codehostv1.ListRepositoriesResponse, err error) {
	err = listOwn(ctx, s, CapSocial, p, func(h SocialHost, token schema.Secret, page PageRequest) (*Page[Repository], error) {
		return h.ListOwned(ctx, token, page)
	}, func(got *Page[Repository]) {
		out = &codehostv1.ListRepositoriesResponse{Items: convertAll(got.Items, Repository.toProto), Meta: got.Meta.toProto()}
	})
	return out, err
}

// ListStargazers implements the service.
func (s *server) ListStargazers(ctx context.Context,
	p *codehostv1.RepositoryListRequest) (out *codehostv1.ListStargazersResponse, err error) {
	err = listOfRepository(ctx, s, CapSocial, p, func(h SocialHost, token schema.Secret, page PageRequest) (*Page[Stargazer], error) {
		return h.ListStargazers(ctx, token, p.GetRepo(), page)
	}, func(got *Page[Stargazer]) {
		out = &codehostv1.ListStargazersResponse{Items: convertAll(got.Items, Stargazer.toProto), Meta: got.Meta.toProto()}
	})
	return out, err
}

// ListFollowers implements the service.
func (s *server) ListFollowers(ctx context.Context, p *codehostv1.ListRequest) (out *codehostv1.ListFollowersResponse, err error) {
	err = listOwn(ctx, s, CapSocial, p, func(h SocialHost, token schema.Secret, page PageRequest) (*Page[Account], error) {
		return h.ListFollowers(ctx, token, page)
	}, func(got *Page[Account]) {
		out = &codehostv1.ListFollowersResponse{Items: convertAll(got.Items, Account.toProto), Meta: got.Meta.toProto()}
	})
	return out, err
}

// ListEvents implements the service.
func (s *server) ListEvents(ctx context.Context, p *codehostv1.ListEventsRequest) (out *codehostv1.ListEventsResponse, err error) {
	if strings.ContainsAny(p.GetLogin(), "/?#%\\") || strings.Contains(p.GetLogin(), "..") {
		return nil, errs.BadInput(ReasonInvalidRequest, "the login is not valid")
	}
	if err := checkText("the login", p.GetLogin(), maxName); err != nil {
		return nil, err
	}
	own := &codehostv1.ListRequest{Token: p.GetToken(), Page: p.GetPage()}
	err = listOwn(ctx, s, CapEvents, own, func(h EventHost, token schema.Secret, page PageRequest) (*Page[Event], error) {
		return h.ListEvents(ctx, token, p.GetLogin(), page)
	}, func(got *Page[Event]) {
		out = &codehostv1.ListEventsResponse{Items: convertAll(got.Items, Event.toProto), Meta: got.Meta.toProto()}
	})
	return out, err
}

// ListAnnouncements implements the service.
func (s *server) ListAnnouncements(ctx context.Context,
	p *codehostv1.ListAnnouncementsRequest) (out *codehostv1.ListAnnouncementsResponse, err error) {
	if n := len(p.GetRepos()); n == 0 || n > MaxAnnouncementRepos {
		return nil, errs.BadInput(ReasonInvalidRequest, "announcements are listed of 1 to %d repositories", MaxAnnouncementRepos)
	}
	for _, repo := range p.GetRepos() {
		if err := checkRepo(repo); err != nil {
			return nil, err
		}
	}
	own := &codehostv1.ListRequest{Token: p.GetToken()}
	err = listOwn(ctx, s, CapAnnouncements, own, func(h AnnouncementHost, token schema.Secret, _ PageRequest) (*Page[Announcement], error) {
		return h.ListAnnouncements(ctx, token, p.GetRepos())
	}, func(got *Page[Announcement]) {
		out = &codehostv1.ListAnnouncementsResponse{Items: convertAll(got.Items, Announcement.toProto), Meta: got.Meta.toProto()}
	})
	return out, err
}
