package github

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/reponame"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// repositoryFields are what is asked of a repository in GraphQL.
const repositoryFields = `databaseId nameWithOwner description url isPrivate isArchived isFork stargazerCount
	openGraphImageUrl usesCustomOpenGraphImage
	owner { login url avatarUrl(size: 80) ... on User { databaseId } ... on Organization { databaseId } }`

// node is a repository in GraphQL.
type node struct {
	DatabaseID               int64  `json:"databaseId"`
	NameWithOwner            string `json:"nameWithOwner"`
	Description              string `json:"description"`
	URL                      string `json:"url"`
	IsPrivate                bool   `json:"isPrivate"`
	IsArchived               bool   `json:"isArchived"`
	IsFork                   bool   `json:"isFork"`
	StargazerCount           int64  `json:"stargazerCount"`
	OpenGraphImageURL        string `json:"openGraphImageUrl"`
	UsesCustomOpenGraphImage bool   `json:"usesCustomOpenGraphImage"`
	Owner                    actor  `json:"owner"`
}

// actor is an account in GraphQL.
type actor struct {
	DatabaseID int64  `json:"databaseId"`
	Login      string `json:"login"`
	URL        string `json:"url"`
	AvatarURL  string `json:"avatarUrl"`
}

func (a *actor) toAccount() codehost.Account {
	if a == nil {
		return codehost.Account{}
	}
	return codehost.Account{ID: formatID(a.DatabaseID), Login: a.Login, AvatarURL: a.AvatarURL, HTMLURL: a.URL}
}

// formatID returns an id; empty for 0, which is none.
func formatID(id int64) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatInt(id, 10)
}

func (n *node) toRepository() codehost.Repository {
	return codehost.Repository{
		ID: formatID(n.DatabaseID), FullName: n.NameWithOwner, Description: n.Description, HTMLURL: n.URL, Private: n.IsPrivate,
		Archived: n.IsArchived,
		Fork:     n.IsFork, Stars: n.StargazerCount, Owner: n.Owner.toAccount(),
		OpenGraphImageURL: n.OpenGraphImageURL, CustomOpenGraphImage: n.UsesCustomOpenGraphImage,
	}
}

// ListStarred implements codehost.StarHost.
func (h *host) ListStarred(ctx context.Context, token schema.Secret, page codehost.PageRequest) (*codehost.Page[codehost.Starred], error) {
	var data struct {
		Viewer struct {
			Starred struct {
				PageInfo pageInfo `json:"pageInfo"`
				Edges    []struct {
					StarredAt time.Time `json:"starredAt"`
					Node      *node     `json:"node"`
				} `json:"edges"`
			} `json:"starredRepositories"`
		} `json:"viewer"`
	}
	meta, err := h.queryGraphQL(ctx, token, `query($first: Int!, $after: String) { viewer {
		starredRepositories(first: $first, after: $after, orderBy: {field: STARRED_AT, direction: DESC}) {
			pageInfo { hasNextPage endCursor } edges { starredAt node { `+repositoryFields+` } } } } }`, pageVariables(page), &data, "FORBIDDEN", "NOT_FOUND")
	if err != nil {
		return nil, err
	}
	out := &codehost.Page[codehost.Starred]{Meta: meta}
	out.NextCursor = data.Viewer.Starred.PageInfo.nextCursor()
	for _, edge := range data.Viewer.Starred.Edges {
		if edge.Node != nil && reponame.IsFullName(edge.Node.NameWithOwner) {
			out.Items = append(out.Items, codehost.Starred{Repository: edge.Node.toRepository(), StarredAt: edge.StarredAt.UTC()})
		}
	}
	return out, nil
}

// ListOwned implements codehost.SocialHost.
func (h *host) ListOwned(ctx context.Context, token schema.Secret, page codehost.PageRequest) (*codehost.Page[codehost.Repository], error) {
	var data struct {
		Viewer struct {
			Repositories struct {
				PageInfo pageInfo `json:"pageInfo"`
				Nodes    []*node  `json:"nodes"`
			} `json:"repositories"`
		} `json:"viewer"`
	}
	meta, err := h.queryGraphQL(ctx, token, `query($first: Int!, $after: String) { viewer {
		repositories(first: $first, after: $after, ownerAffiliations: [OWNER], affiliations: [OWNER], orderBy: {field: PUSHED_AT, direction: DESC}) {
			pageInfo { hasNextPage endCursor } nodes { `+repositoryFields+` } } } }`, pageVariables(page), &data, "FORBIDDEN", "NOT_FOUND")
	if err != nil {
		return nil, err
	}
	out := &codehost.Page[codehost.Repository]{Meta: meta}
	out.NextCursor = data.Viewer.Repositories.PageInfo.nextCursor()
	for _, n := range data.Viewer.Repositories.Nodes {
		if n != nil && reponame.IsFullName(n.NameWithOwner) {
			out.Items = append(out.Items, n.toRepository())
		}
	}
	return out, nil
}

// FindRepository implements codehost.ReleaseHost.
func (h *host) FindRepository(ctx context.Context, token schema.Secret, repo string) (*codehost.RepositoryInfo, error) {
	path, err := repoPath(repo)
	if err != nil {
		return nil, err
	}
	var r struct {
		repository
		ID          int64  `json:"id"`
		Description string `json:"description"`
		HTMLURL     string `json:"html_url"`
		Fork        bool   `json:"fork"`
		Stars       int64  `json:"stargazers_count"`
		Owner       user   `json:"owner"`
	}
	header, err := h.callAPI(ctx, call{method: http.MethodGet, url: h.apiURL(nil, path...), token: token}, &r)
	if err != nil {
		return nil, err
	}
	if !reponame.IsFullName(r.FullName) || r.ID == 0 {
		return nil, errs.Unavailable(errs.ReasonProtocol, "the answer names no repository")
	}
	return &codehost.RepositoryInfo{Meta: h.readMeta(header), Repository: codehost.Repository{
		ID: formatID(r.ID), FullName: r.FullName, Description: r.Description, HTMLURL: r.HTMLURL, Private: r.Private, Archived: r.Archived,
		Fork: r.Fork, Stars: r.Stars, Owner: r.Owner.toAccount(),
	}}, nil
}

// repoPath returns the parts of the path of a repository, owner/name, and of what lies below it.
func repoPath(repo string, below ...string) ([]string, error) {
	if !reponame.IsFullName(repo) {
		return nil, errs.BadInput(codehost.ReasonInvalidRequest, "the repository must be owner/name")
	}
	owner, name, _ := strings.Cut(repo, "/")
	return append([]string{"repos", owner, name}, below...), nil
}
