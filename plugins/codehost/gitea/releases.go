package gitea

import (
	"context"
	"net/url"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// release is a release in the API.
type release struct {
	ID          int64      `json:"id"`
	TagName     string     `json:"tag_name"`
	Name        string     `json:"name"`
	Body        string     `json:"body"`
	HTMLURL     string     `json:"html_url"`
	Draft       bool       `json:"draft"`
	Prerelease  bool       `json:"prerelease"`
	CreatedAt   *time.Time `json:"created_at"`
	PublishedAt *time.Time `json:"published_at"`
	Author      *user      `json:"author"`
}

// timeOrZero returns a time, zero for none.
func timeOrZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// ListReleases implements codehost.ReleaseHost.
func (h *host) ListReleases(ctx context.Context, token schema.Secret, repo string,
	page codehost.PageRequest) (*codehost.Page[codehost.Release], error) {
	path, err := repoPath(repo, "releases")
	if err != nil {
		return nil, err
	}
	return fetchPage(ctx, h, token, page, nil, func(r *release) (codehost.Release, bool) {
		return codehost.Release{
			ID: formatID(r.ID), TagName: r.TagName, Name: r.Name, Body: r.Body, HTMLURL: r.HTMLURL, CreatedAt: timeOrZero(r.CreatedAt),
			PublishedAt: timeOrZero(r.PublishedAt),
			Prerelease:  r.Prerelease, Draft: r.Draft, Author: h.toAccount(r.Author),
		}, r.ID != 0
	}, path...)
}

// ListTags implements codehost.TagHost.
func (h *host) ListTags(ctx context.Context, token schema.Secret, repo string,
	page codehost.PageRequest) (*codehost.Page[codehost.Tag], error) {
	path, err := repoPath(repo, "tags")
	if err != nil {
		return nil, err
	}
	type tag struct {
		Name   string `json:"name"`
		Commit struct {
			SHA     string     `json:"sha"`
			Created *time.Time `json:"created"`
		} `json:"commit"`
	}
	return fetchPage(ctx, h, token, page, nil, func(t *tag) (codehost.Tag, bool) {
		return codehost.Tag{Name: t.Name, Commit: t.Commit.SHA, HTMLURL: h.webURL(repo, "src", "tag", url.PathEscape(t.Name)),
			CreatedAt: timeOrZero(t.Commit.Created)}, t.Name != ""
	}, path...)
}

// Compare implements codehost.CompareHost. The API names commits and no files.
func (h *host) Compare(ctx context.Context, token schema.Secret, repo, base, head string) (*codehost.Comparison, error) {
	path, err := repoPath(repo, "compare", base+"..."+head)
	if err != nil {
		return nil, err
	}
	var got struct {
		TotalCommits int64 `json:"total_commits"`
		Commits      []struct {
			SHA    string `json:"sha"`
			Commit struct {
				Message string `json:"message"`
			} `json:"commit"`
		} `json:"commits"`
	}
	if _, err := h.fetchJSON(ctx, token, nil, &got, path...); err != nil {
		return nil, err
	}
	out := &codehost.Comparison{Status: "ahead", AheadBy: got.TotalCommits, TotalCommits: got.TotalCommits,
		HTMLURL: h.webURL(repo, "compare", base+"..."+head)}
	if got.TotalCommits == 0 {
		out.Status = "identical"
	}
	for _, c := range got.Commits {
		out.Commits = append(out.Commits, codehost.Commit{Hash: c.SHA, Subject: firstLine(c.Commit.Message)})
	}
	return out, nil
}
