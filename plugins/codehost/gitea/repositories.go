package gitea

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/reponame"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// user is an account in the API.
type user struct {
	ID        int64  `json:"id"`
	Login     string `json:"login"`
	FullName  string `json:"full_name"`
	AvatarURL string `json:"avatar_url"`
	HTMLURL   string `json:"html_url"`
}

func (h *host) toAccount(u *user) codehost.Account {
	if u == nil || u.Login == "" {
		return codehost.Account{}
	}
	out := codehost.Account{ID: formatID(u.ID), Login: u.Login, Name: u.FullName, AvatarURL: u.AvatarURL, HTMLURL: u.HTMLURL}
	if out.HTMLURL == "" {
		// Older servers do not say it.
		out.HTMLURL = h.webURL(u.Login)
	}
	return out
}

// repository is a repository in the API.
type repository struct {
	ID          int64      `json:"id"`
	Owner       *user      `json:"owner"`
	FullName    string     `json:"full_name"`
	Description string     `json:"description"`
	HTMLURL     string     `json:"html_url"`
	AvatarURL   string     `json:"avatar_url"`
	Private     bool       `json:"private"`
	Internal    bool       `json:"internal"`
	Archived    bool       `json:"archived"`
	Fork        bool       `json:"fork"`
	Stars       int64      `json:"stars_count"`
	UpdatedAt   *time.Time `json:"updated_at"`
}

func (h *host) toRepository(r *repository) codehost.Repository {
	out := codehost.Repository{
		ID: formatID(r.ID), FullName: r.FullName, Description: r.Description, HTMLURL: r.HTMLURL, Private: r.Private || r.Internal,
		Archived: r.Archived, Fork: r.Fork,
		Stars: r.Stars, Owner: h.toAccount(r.Owner),
	}
	if out.HTMLURL == "" {
		out.HTMLURL = h.webURL(r.FullName)
	}
	return out
}

// toRepo returns a repository as Resolve names it.
func (r *repository) toRepo() codehost.Repo {
	out := codehost.Repo{FullName: r.FullName, Visibility: "public"}
	switch {
	case r.Internal:
		out.Visibility = "internal"
	case r.Private:
		out.Visibility = "private"
	}
	if r.UpdatedAt != nil {
		out.LastActivity = r.UpdatedAt.UTC()
	}
	return out
}

// Resolve implements codehost.CodeHost.
func (h *host) Resolve(ctx context.Context, token schema.Secret, input string) (*codehost.Resolution, error) {
	owner, name, err := reponame.ParseInput(h.cutPrefix(input), strings.ToLower(h.web.Host))
	if err != nil {
		return nil, err
	}
	if name == "" {
		return h.resolveOwner(ctx, token, owner)
	}
	r, err := h.findRepository(ctx, token, owner+"/"+name)
	if err != nil {
		return nil, err
	}
	out := &codehost.Resolution{Kind: codehost.KindRepo, Owner: owner, Repos: []codehost.Repo{r.toRepo()}}
	if r.Owner != nil && r.Owner.Login != "" {
		out.Owner = r.Owner.Login
	}
	return out, nil
}

// cutPrefix takes the path below which the server is out of an address.
func (h *host) cutPrefix(input string) string {
	if h.web.Path == "" {
		return input
	}
	return strings.Replace(input, h.web.Host+h.web.Path, h.web.Host, 1)
}

// maxOwnedPages is how many pages of the repositories of an owner are listed.
const maxOwnedPages = 20

// resolveOwner lists the repositories of a person or an organisation.
func (h *host) resolveOwner(ctx context.Context, token schema.Secret, owner string) (*codehost.Resolution, error) {
	out := &codehost.Resolution{Kind: codehost.KindOwner, Owner: owner}
	archived, req := 0, codehost.PageRequest{Size: defaultPageSize}
	for range maxOwnedPages {
		page, err := fetchPage(ctx, h, token, req, nil, func(r *repository) (codehost.Repo, bool) {
			if r.Archived {
				archived++
			}
			return r.toRepo(), !r.Archived && reponame.IsFullName(r.FullName)
		}, "users", owner, "repos")
		if err != nil {
			return nil, err
		}
		out.Repos = append(out.Repos, page.Items...)
		if req.Cursor = page.NextCursor; req.Cursor == "" {
			break
		}
	}
	if archived > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("%d archived repositories are left out", archived))
	}
	if req.Cursor != "" {
		out.Warnings = append(out.Warnings, fmt.Sprintf("only the first %d repositories are listed", len(out.Repos)))
	}
	return out, nil
}

func (h *host) findRepository(ctx context.Context, token schema.Secret, repo string) (*repository, error) {
	path, err := repoPath(repo)
	if err != nil {
		return nil, err
	}
	r := &repository{}
	if _, err := h.fetchJSON(ctx, token, nil, r, path...); err != nil {
		return nil, err
	}
	if !reponame.IsFullName(r.FullName) || r.ID == 0 {
		return nil, errs.Unavailable(errs.ReasonProtocol, "the answer names no repository")
	}
	return r, nil
}

// FindRepository implements codehost.ReleaseHost.
func (h *host) FindRepository(ctx context.Context, token schema.Secret, repo string) (*codehost.RepositoryInfo, error) {
	r, err := h.findRepository(ctx, token, repo)
	if err != nil {
		return nil, err
	}
	return &codehost.RepositoryInfo{Repository: h.toRepository(r)}, nil
}

// Viewer implements codehost.ViewerHost.
func (h *host) Viewer(ctx context.Context, token schema.Secret) (*codehost.ViewerInfo, error) {
	var me user
	if _, err := h.fetchJSON(ctx, token, nil, &me, "user"); err != nil {
		return nil, err
	}
	if me.ID == 0 || me.Login == "" {
		return nil, errs.Unavailable(errs.ReasonProtocol, "the answer names no account")
	}
	return &codehost.ViewerInfo{Account: h.toAccount(&me)}, nil
}

// convertRepository returns a repository of a list.
func (h *host) convertRepository(r *repository) (codehost.Repository, bool) {
	return h.toRepository(r), r.ID != 0 && reponame.IsFullName(r.FullName)
}

// ListStarred implements codehost.StarHost. The API does not say when a repository was starred.
func (h *host) ListStarred(ctx context.Context, token schema.Secret, page codehost.PageRequest) (*codehost.Page[codehost.Starred], error) {
	return fetchPage(ctx, h, token, page, nil, func(r *repository) (codehost.Starred, bool) {
		out, ok := h.convertRepository(r)
		return codehost.Starred{Repository: out}, ok
	}, "user", "starred")
}

// ListOwned implements codehost.SocialHost. The list has repositories of others, in which the viewer takes part, as well.
func (h *host) ListOwned(ctx context.Context, token schema.Secret, page codehost.PageRequest) (*codehost.Page[codehost.Repository], error) {
	me, err := h.Viewer(ctx, token)
	if err != nil {
		return nil, err
	}
	return fetchPage(ctx, h, token, page, nil, func(r *repository) (codehost.Repository, bool) {
		out, ok := h.convertRepository(r)
		return out, ok && strings.EqualFold(out.Owner.Login, me.Account.Login)
	}, "user", "repos")
}

// ListStargazers implements codehost.SocialHost. The API does not say when the stars were given.
func (h *host) ListStargazers(ctx context.Context, token schema.Secret, repo string,
	page codehost.PageRequest) (*codehost.Page[codehost.Stargazer], error) {
	path, err := repoPath(repo, "stargazers")
	if err != nil {
		return nil, err
	}
	return fetchPage(ctx, h, token, page, nil, func(u *user) (codehost.Stargazer, bool) {
		return codehost.Stargazer{Account: h.toAccount(u)}, u.Login != ""
	}, path...)
}

// ListFollowers implements codehost.SocialHost.
func (h *host) ListFollowers(ctx context.Context, token schema.Secret,
	page codehost.PageRequest) (*codehost.Page[codehost.Account], error) {
	return fetchPage(ctx, h, token, page, nil, func(u *user) (codehost.Account, bool) { return h.toAccount(u), u.Login != "" }, "user",
		"followers")
}

// thread is a notification in the API.
type thread struct {
	ID         int64       `json:"id"`
	Repository *repository `json:"repository"`
	Subject    struct {
		Title   string `json:"title"`
		HTMLURL string `json:"html_url"`
		Type    string `json:"type"`
	} `json:"subject"`
	Unread    bool      `json:"unread"`
	UpdatedAt time.Time `json:"updated_at"`
}

// ListNotifications implements codehost.NotificationHost. The API does not say the reason of a notification.
func (h *host) ListNotifications(ctx context.Context, token schema.Secret,
	req codehost.NotificationsRequest) (*codehost.Page[codehost.Notification], error) {
	query := url.Values{}
	if req.All {
		query.Set("all", "true")
	}
	if !req.Since.IsZero() {
		query.Set("since", req.Since.UTC().Format(time.RFC3339))
	}
	return fetchPage(ctx, h, token, req.PageRequest, query, func(t *thread) (codehost.Notification, bool) {
		out := codehost.Notification{
			ThreadID: formatID(t.ID), Title: t.Subject.Title, SubjectType: t.Subject.Type, UpdatedAt: t.UpdatedAt.UTC(), Unread: t.Unread,
			HTMLURL: t.Subject.HTMLURL,
		}
		if t.Repository != nil {
			out.RepoFullName = t.Repository.FullName
		}
		if out.HTMLURL == "" {
			out.HTMLURL = h.webURL("notifications")
		}
		return out, t.ID != 0
	}, "notifications")
}
