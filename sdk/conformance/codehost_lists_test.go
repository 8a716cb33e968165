package conformance

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

var everyCapability = []string{
	codehost.CapWebhooks, codehost.CapViewer, codehost.CapStarred, codehost.CapReleases, codehost.CapTags, codehost.CapNotifications,
	codehost.CapSocial, codehost.CapEvents, codehost.CapReactions, codehost.CapCompare, codehost.CapAnnouncements,
	codehost.CapOAuth,
}

// listOf gives a page of a list of goodHost, whose validators are its name.
func listOf[T any](g *goodHost, name string, req codehost.PageRequest, all ...T) (*codehost.Page[T], error) {
	out := &codehost.Page[T]{}
	if req.Cursor == "" {
		out.Validators.ETag = name
	}
	from, _ := strconv.Atoi(req.Cursor)
	if req.Validators.ETag == name {
		out.NotModified = true
	} else {
		out.Items = all[from:min(from+req.Size, len(all))]
		if from+req.Size < len(all) {
			out.NextCursor = strconv.Itoa(from + req.Size)
		}
	}
	if g.meta != nil {
		g.meta(name, &out.Meta)
	}
	return out, nil
}

func (g *goodHost) accepts(token schema.Secret) error {
	if token != hostToken {
		return g.denied
	}
	return nil
}

// Viewer implements codehost.ViewerHost.
func (g *goodHost) Viewer(_ context.Context, token schema.Secret) (*codehost.ViewerInfo, error) {
	return &codehost.ViewerInfo{Account: codehost.Account{ID: "1", Login: "me"}}, g.accepts(token)
}

// ListStarred implements codehost.StarHost.
func (g *goodHost) ListStarred(_ context.Context, _ schema.Secret, p codehost.PageRequest) (*codehost.Page[codehost.Starred], error) {
	star := func(id string) codehost.Starred { return codehost.Starred{Repository: codehost.Repository{ID: id}} }
	return listOf(g, "starred", p, star("1"), star("2"), star("3"))
}

// FindRepository implements codehost.ReleaseHost.
func (g *goodHost) FindRepository(_ context.Context, _ schema.Secret, repo string) (*codehost.RepositoryInfo, error) {
	return &codehost.RepositoryInfo{Repository: codehost.Repository{ID: "1", FullName: repo}}, nil
}

// ListReleases implements codehost.ReleaseHost.
func (g *goodHost) ListReleases(_ context.Context, _ schema.Secret, repo string,
	p codehost.PageRequest) (*codehost.Page[codehost.Release], error) {
	if repo != "me/a" {
		return nil, upstreamError(codes.NotFound)
	}
	return listOf(g, "releases", p, codehost.Release{ID: "4", TagName: "v4", Draft: true},
		codehost.Release{ID: g.releaseID, NodeID: "n3", TagName: "v3"}, codehost.Release{ID: "2", TagName: "v2"},
		codehost.Release{ID: "1", TagName: "v1"})
}

// ListTags implements codehost.TagHost.
func (g *goodHost) ListTags(_ context.Context, _ schema.Secret, _ string, p codehost.PageRequest) (*codehost.Page[codehost.Tag], error) {
	return listOf(g, "tags", p, codehost.Tag{Name: "v3"})
}

// ListNotifications implements codehost.NotificationHost.
func (g *goodHost) ListNotifications(_ context.Context, _ schema.Secret,
	req codehost.NotificationsRequest) (*codehost.Page[codehost.Notification], error) {
	return listOf(g, "notifications", req.PageRequest, codehost.Notification{ThreadID: "1"})
}

// ListOwned implements codehost.SocialHost.
func (g *goodHost) ListOwned(_ context.Context, _ schema.Secret, p codehost.PageRequest) (*codehost.Page[codehost.Repository], error) {
	return listOf(g, "owned", p, codehost.Repository{ID: "1"})
}

// ListStargazers implements codehost.SocialHost.
func (g *goodHost) ListStargazers(_ context.Context, _ schema.Secret, _ string,
	p codehost.PageRequest) (*codehost.Page[codehost.Stargazer], error) {
	return listOf[codehost.Stargazer](g, "stargazers", p)
}

// ListFollowers implements codehost.SocialHost.
func (g *goodHost) ListFollowers(_ context.Context, _ schema.Secret, p codehost.PageRequest) (*codehost.Page[codehost.Account], error) {
	return listOf(g, "followers", p, codehost.Account{ID: "1"})
}

// ListEvents implements codehost.EventHost.
func (g *goodHost) ListEvents(_ context.Context, _ schema.Secret, _ string,
	p codehost.PageRequest) (*codehost.Page[codehost.Event], error) {
	return listOf(g, "events", p, codehost.Event{ID: "1"})
}

// ListAnnouncements implements codehost.AnnouncementHost.
func (g *goodHost) ListAnnouncements(context.Context, schema.Secret, []string) (*codehost.Page[codehost.Announcement], error) {
	return &codehost.Page[codehost.Announcement]{}, nil
}

// ReadReactions implements codehost.ReactionHost.
func (g *goodHost) ReadReactions(context.Context, schema.Secret, []string) (*codehost.Page[codehost.Reactions], error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return &codehost.Page[codehost.Reactions]{Items: []codehost.Reactions{{NodeID: "n3", Viewer: slices.Clone(g.left)}}}, nil
}

// SetReaction implements codehost.ReactionHost.
func (g *goodHost) SetReaction(_ context.Context, _ schema.Secret, _, content string, present bool) (*codehost.ReactionInfo, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.keepsReactions {
		g.left = nil
	}
	if present {
		g.left = []string{content}
	}
	return &codehost.ReactionInfo{Reactions: codehost.Reactions{NodeID: "n3", Viewer: slices.Clone(g.left)}}, nil
}

// Compare implements codehost.CompareHost.
func (g *goodHost) Compare(_ context.Context, _ schema.Secret, _, _, head string) (*codehost.Comparison, error) {
	if head != "v3" {
		return nil, g.noTag
	}
	return &codehost.Comparison{Status: "ahead", TotalCommits: 1}, nil
}

func TestWrongLists(t *testing.T) {
	for _, tt := range []struct {
		name   string
		want   []string
		change func(*goodHost)
	}{
		{"ignores validators", []string{"account"}, func(g *goodHost) {
			g.meta = func(name string, m *codehost.Meta) { m.NotModified = m.NotModified && name != "followers" }
		}},
		{"a list without an end", []string{"account"}, func(g *goodHost) {
			g.meta = func(name string, m *codehost.Meta) {
				if name == "events" {
					m.NextCursor = "0"
				}
			}
		}},
		{"a release twice", []string{"releases"}, func(g *goodHost) { g.releaseID = "2" }},
		{"a release without an id", []string{"releases"}, func(g *goodHost) { g.releaseID = "" }},
		{"any tag can be compared", []string{"releases"}, func(g *goodHost) { g.noTag = nil }},
		{"reactions stay", []string{"reactions"}, func(g *goodHost) { g.keepsReactions = true }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := newGoodHost()
			tt.change(g)
			rep := g.run(t)
			if got := names(rep); fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("failed are %v, want %v: %v", got, tt.want, rep.Err())
			}
		})
	}
}

func (g *goodHost) AuthorizeURL(_ context.Context, req codehost.AuthorizeRequest) (string, error) {
	if g.page != "" {
		return g.page, nil
	}
	return "https://code.example.com/authorize?" + url.Values{
		"response_type": {"code"}, "client_id": {req.Client.ID}, "redirect_uri": {req.Client.RedirectURL}, "state": {req.State},
		"code_challenge": {req.CodeChallenge}, "code_challenge_method": {"S256"},
	}.Encode(), nil
}

func (g *goodHost) ExchangeCode(context.Context, codehost.OAuthClient, schema.Secret, schema.Secret) (*codehost.OAuthToken, error) {
	return &codehost.OAuthToken{AccessToken: "token-of-nobody"}, g.refusedCode
}

func (g *goodHost) RefreshToken(context.Context, codehost.OAuthClient, schema.Secret) (*codehost.OAuthToken, error) {
	return nil, g.refusedCode
}
