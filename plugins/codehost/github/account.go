package github

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// user is an account in the REST API.
type user struct {
	ID        int64  `json:"id"`
	Login     string `json:"login"`
	Name      string `json:"name"`
	AvatarURL string `json:"avatar_url"`
	HTMLURL   string `json:"html_url"`
}

func (u *user) toAccount() codehost.Account {
	if u == nil {
		return codehost.Account{}
	}
	return codehost.Account{ID: formatID(u.ID), Login: u.Login, Name: u.Name, AvatarURL: u.AvatarURL, HTMLURL: u.HTMLURL}
}

// Viewer implements codehost.ViewerHost.
func (h *host) Viewer(ctx context.Context, token schema.Secret) (*codehost.ViewerInfo, error) {
	var me user
	header, err := h.callAPI(ctx, call{method: http.MethodGet, url: h.apiURL(nil, "user"), token: token}, &me)
	if err != nil {
		return nil, err
	}
	if me.ID == 0 || me.Login == "" {
		return nil, errs.Unavailable(errs.ReasonProtocol, "the answer names no account")
	}
	out := &codehost.ViewerInfo{Account: me.toAccount(), Meta: h.readMeta(header)}
	for _, scope := range strings.Split(header.Get("X-Oauth-Scopes"), ",") {
		if scope = printableText(strings.TrimSpace(scope)); scope != "" {
			out.Scopes = append(out.Scopes, scope)
		}
	}
	return out, nil
}

// ListFollowers implements codehost.SocialHost.
func (h *host) ListFollowers(ctx context.Context, token schema.Secret,
	page codehost.PageRequest) (*codehost.Page[codehost.Account], error) {
	return fetchPage(ctx, h, pageCall{token: token, path: []string{"user", "followers"}, page: page}, func(u *user) (codehost.Account, bool) {
		return u.toAccount(), u.ID != 0
	})
}

// stargazer is who starred a repository, and when.
type stargazer struct {
	StarredAt *time.Time `json:"starred_at"`
	User      *user      `json:"user"`
}

// ListStargazers implements codehost.SocialHost. The API lists the earliest star first.
func (h *host) ListStargazers(ctx context.Context, token schema.Secret, repo string,
	page codehost.PageRequest) (*codehost.Page[codehost.Stargazer], error) {
	path, err := repoPath(repo, "stargazers")
	if err != nil {
		return nil, err
	}
	c := pageCall{token: token, path: path, page: page, accept: "application/vnd.github.star+json"}
	return fetchPage(ctx, h, c, func(s *stargazer) (codehost.Stargazer, bool) {
		return codehost.Stargazer{Account: s.User.toAccount(), StarredAt: timeOrZero(s.StarredAt)}, s.User != nil
	})
}
