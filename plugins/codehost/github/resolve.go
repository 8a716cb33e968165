package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/internal/reponame"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// maxRepos is how many repositories of an owner are listed.
const maxRepos = 1000

// repository is what the API says of one.
type repository struct {
	FullName   string     `json:"full_name"`
	Private    bool       `json:"private"`
	Visibility string     `json:"visibility"`
	Archived   bool       `json:"archived"`
	PushedAt   *time.Time `json:"pushed_at"`
	UpdatedAt  *time.Time `json:"updated_at"`
	Owner      struct {
		Login string `json:"login"`
	} `json:"owner"`
}

func (r *repository) toRepo() codehost.Repo {
	out := codehost.Repo{FullName: r.FullName, Visibility: r.Visibility}
	if out.Visibility == "" && r.Private {
		out.Visibility = "private"
	} else if out.Visibility == "" {
		out.Visibility = "public"
	}
	for _, at := range []*time.Time{r.PushedAt, r.UpdatedAt} {
		if at != nil {
			out.LastActivity = at.UTC()
			break
		}
	}
	return out
}

// Resolve implements codehost.CodeHost.
func (h *host) Resolve(ctx context.Context, token schema.Secret, input string) (*codehost.Resolution, error) {
	owner, name, err := reponame.ParseInput(input, h.web)
	if err != nil {
		return nil, err
	}
	if name == "" {
		return h.listOwner(ctx, token, owner)
	}
	var r repository
	if _, err := h.callAPI(ctx, call{method: http.MethodGet, url: h.apiURL(nil, "repos", owner, name), token: token}, &r); err != nil {
		return nil, err
	}
	if !reponame.IsFullName(r.FullName) {
		return nil, errs.Unavailable(errs.ReasonProtocol, "the answer names no repository")
	}
	out := &codehost.Resolution{Kind: codehost.KindRepo, Owner: r.Owner.Login, Repos: []codehost.Repo{r.toRepo()}}
	if out.Owner == "" {
		out.Owner = owner
	}
	if r.Archived {
		out.Warnings = append(out.Warnings, fmt.Sprintf("%s is archived: its webhooks cannot be changed", r.FullName))
	}
	return out, nil
}

// listOwner lists the repositories of an organisation, or else of a person.
func (h *host) listOwner(ctx context.Context, token schema.Secret, owner string) (*codehost.Resolution, error) {
	out, err := h.listRepositories(ctx, token, owner, h.apiURL(url.Values{"type": {"all"}, "per_page": {perPage}}, "orgs", owner, "repos"))
	if errs.From(err) == nil || errs.From(err).Code != codes.NotFound {
		return out, err
	}
	mine, err := h.ownsToken(ctx, token, owner)
	if err != nil {
		return nil, err
	}
	if mine {
		return h.listRepositories(ctx, token, owner, h.apiURL(url.Values{"affiliation": {"owner"}, "per_page": {perPage}}, "user", "repos"))
	}
	return h.listRepositories(ctx, token, owner, h.apiURL(url.Values{"type": {"owner"}, "per_page": {perPage}}, "users", owner, "repos"))
}

// ownsToken reports whether the token is that of owner: then private repositories can be listed too.
func (h *host) ownsToken(ctx context.Context, token schema.Secret, owner string) (bool, error) {
	if token == "" {
		return false, nil
	}
	var me struct {
		Login string `json:"login"`
	}
	_, err := h.callAPI(ctx, call{method: http.MethodGet, url: h.apiURL(nil, "user"), token: token}, &me)
	if e := errs.From(err); e != nil && (e.Code == codes.PermissionDenied || e.Code == codes.NotFound) {
		// A token of an application belongs to nobody.
		return false, nil
	}
	return strings.EqualFold(me.Login, owner), err
}

func (h *host) listRepositories(ctx context.Context, token schema.Secret, owner string, first *url.URL) (*codehost.Resolution, error) {
	out := &codehost.Resolution{Kind: codehost.KindOwner, Owner: owner}
	archived, cut := 0, false
	err := listPage(ctx, h, token, first, func(page []repository) bool {
		for i := range page {
			switch {
			case page[i].Archived:
				archived++
			case len(out.Repos) == maxRepos:
				cut = true
				return false
			case reponame.IsFullName(page[i].FullName):
				out.Repos = append(out.Repos, page[i].toRepo())
			}
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	if archived > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("%d archived repositories are left out", archived))
	}
	if cut {
		out.Warnings = append(out.Warnings, fmt.Sprintf("only the first %d repositories are listed", maxRepos))
	}
	return out, nil
}
