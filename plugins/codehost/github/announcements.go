package github

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/reponame"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// category is a category of discussions.
type category struct {
	ID   string `json:"id"`
	Slug string `json:"slug"`
	Name string `json:"name"`
}

func (c category) isAnnouncement() bool {
	return slices.ContainsFunc([]string{c.Slug, c.Name}, func(word string) bool {
		word = strings.ToLower(word)
		return word == "announcement" || word == "announcements"
	})
}

// discussion is a discussion of a repository.
type discussion struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	Body      string    `json:"body"`
	URL       string    `json:"url"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	Author    *actor    `json:"author"`
}

// queryRepositories makes one query for several repositories, each under an alias. fields returns what is asked of one, and
// further variables by name and type; it leaves one out with empty fields.
func (h *host) queryRepositories(ctx context.Context, token schema.Secret, repos []string, fields func(i int) (string, string), out any,
	variables map[string]any) (codehost.Meta, error) {
	var parameters, selections []string
	for i, repo := range repos {
		if !reponame.IsFullName(repo) {
			return codehost.Meta{}, errs.BadInput(codehost.ReasonInvalidRequest, "the repository must be owner/name")
		}
		text, more := fields(i)
		if text == "" {
			continue
		}
		owner, name, _ := strings.Cut(repo, "/")
		variables[fmt.Sprintf("owner%d", i)], variables[fmt.Sprintf("name%d", i)] = owner, name
		parameters = append(parameters, fmt.Sprintf("$owner%d: String!, $name%d: String!%s", i, i, more))
		selections = append(selections, fmt.Sprintf("r%d: repository(owner: $owner%d, name: $name%d) { nameWithOwner %s }", i, i, i, text))
	}
	if len(selections) == 0 {
		return codehost.Meta{}, nil
	}
	query := "query(" + strings.Join(parameters, ", ") + ") { " + strings.Join(selections, " ") + " }"
	return h.queryGraphQL(ctx, token, query, variables, out, "NOT_FOUND", "FORBIDDEN")
}

// ListAnnouncements implements codehost.AnnouncementHost: the latest discussions in the category for announcements.
func (h *host) ListAnnouncements(ctx context.Context, token schema.Secret, repos []string) (*codehost.Page[codehost.Announcement], error) {
	var known map[string]*struct {
		Categories struct {
			Nodes []category `json:"nodes"`
		} `json:"discussionCategories"`
	}
	meta, err := h.queryRepositories(ctx, token, repos, func(int) (string, string) {
		return "discussionCategories(first: 25) { nodes { id slug name } }", ""
	}, &known, map[string]any{})
	if err != nil {
		return nil, err
	}
	variables := map[string]any{}
	for i := range repos {
		repo := known[fmt.Sprintf("r%d", i)]
		if repo == nil {
			continue
		}
		if at := slices.IndexFunc(repo.Categories.Nodes, category.isAnnouncement); at >= 0 {
			variables[fmt.Sprintf("category%d", i)] = repo.Categories.Nodes[at].ID
		}
	}
	out := &codehost.Page[codehost.Announcement]{Meta: meta}
	if len(variables) == 0 {
		return out, nil
	}
	var found map[string]*struct {
		NameWithOwner string `json:"nameWithOwner"`
		Discussions   struct {
			Nodes []discussion `json:"nodes"`
		} `json:"discussions"`
	}
	out.Meta, err = h.queryRepositories(ctx, token, repos, func(i int) (string, string) {
		if variables[fmt.Sprintf("category%d", i)] == nil {
			return "", ""
		}
		return fmt.Sprintf(`discussions(first: 10, categoryId: $category%d, orderBy: {field: UPDATED_AT, direction: DESC}) {
			nodes { id title body url createdAt updatedAt author { login url avatarUrl(size: 80) } } }`, i), fmt.Sprintf(", $category%d: ID!", i)
	}, &found, variables)
	if err != nil {
		return nil, err
	}
	for i := range repos {
		repo := found[fmt.Sprintf("r%d", i)]
		if repo == nil {
			continue
		}
		for _, d := range repo.Discussions.Nodes {
			out.Items = append(out.Items, codehost.Announcement{
				ID: d.ID, RepoFullName: repo.NameWithOwner, Title: d.Title, Body: d.Body, HTMLURL: d.URL, Author: d.Author.toAccount(),
				CreatedAt: d.CreatedAt.UTC(), UpdatedAt: d.UpdatedAt.UTC(),
			})
		}
	}
	return out, nil
}
