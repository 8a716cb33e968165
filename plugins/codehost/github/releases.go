package github

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/texts"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// release is a release as the API has it.
type release struct {
	ID          int64            `json:"id"`
	NodeID      string           `json:"node_id"`
	TagName     string           `json:"tag_name"`
	Name        string           `json:"name"`
	Body        string           `json:"body"`
	HTMLURL     string           `json:"html_url"`
	CreatedAt   *time.Time       `json:"created_at"`
	PublishedAt *time.Time       `json:"published_at"`
	Prerelease  bool             `json:"prerelease"`
	Draft       bool             `json:"draft"`
	Author      *user            `json:"author"`
	Reactions   *reactionSummary `json:"reactions"`
}

// reactionSummary is the counts of reactions in the REST API.
type reactionSummary struct {
	Plus1    int64 `json:"+1"`
	Minus1   int64 `json:"-1"`
	Laugh    int64 `json:"laugh"`
	Confused int64 `json:"confused"`
	Heart    int64 `json:"heart"`
	Hooray   int64 `json:"hooray"`
	Rocket   int64 `json:"rocket"`
	Eyes     int64 `json:"eyes"`
}

func (r *reactionSummary) countReactions() map[string]int64 {
	if r == nil {
		return nil
	}
	out := map[string]int64{
		"plus1": r.Plus1, "minus1": r.Minus1, "laugh": r.Laugh, "confused": r.Confused, "heart": r.Heart, "hooray": r.Hooray, "rocket": r.Rocket,
		"eyes": r.Eyes,
	}
	for word, n := range out {
		if n == 0 {
			delete(out, word)
		}
	}
	return out
}

// timeOrZero returns a time, zero for none.
func timeOrZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

func (r *release) toRelease() (codehost.Release, bool) {
	return codehost.Release{
		ID: formatID(r.ID), NodeID: r.NodeID, TagName: r.TagName, Name: r.Name, Body: r.Body, HTMLURL: r.HTMLURL,
		CreatedAt:   timeOrZero(r.CreatedAt),
		PublishedAt: timeOrZero(r.PublishedAt), Prerelease: r.Prerelease, Draft: r.Draft, Reactions: r.Reactions.countReactions(),
		Author: r.Author.toAccount(),
	}, r.ID != 0
}

// ListReleases implements codehost.ReleaseHost.
func (h *host) ListReleases(ctx context.Context, token schema.Secret, repo string,
	page codehost.PageRequest) (*codehost.Page[codehost.Release], error) {
	path, err := repoPath(repo, "releases")
	if err != nil {
		return nil, err
	}
	return fetchPage(ctx, h, pageCall{token: token, path: path, page: page}, (*release).toRelease)
}

// tag is a tag as the API has it.
type tag struct {
	Name   string `json:"name"`
	Commit struct {
		SHA string `json:"sha"`
	} `json:"commit"`
}

// ListTags implements codehost.TagHost. The API does not tell when a tag was made.
func (h *host) ListTags(ctx context.Context, token schema.Secret, repo string,
	page codehost.PageRequest) (*codehost.Page[codehost.Tag], error) {
	path, err := repoPath(repo, "tags")
	if err != nil {
		return nil, err
	}
	return fetchPage(ctx, h, pageCall{token: token, path: path, page: page}, func(t *tag) (codehost.Tag, bool) {
		return codehost.Tag{Name: t.Name, Commit: t.Commit.SHA, HTMLURL: h.webURL(repo + "/releases/tag/" + url.PathEscape(t.Name))}, t.Name != ""
	})
}

// webURL returns the address of a page for people.
func (h *apiClient) webURL(path string) string { return h.pages + "/" + path }

// Limits of a comparison.
const (
	maxFiles = 300
	maxPatch = 4 << 10
)

// Compare implements codehost.CompareHost.
func (h *host) Compare(ctx context.Context, token schema.Secret, repo, base, head string) (*codehost.Comparison, error) {
	path, err := repoPath(repo, "compare", base+"..."+head)
	if err != nil {
		return nil, err
	}
	var got struct {
		Status       string `json:"status"`
		AheadBy      int64  `json:"ahead_by"`
		BehindBy     int64  `json:"behind_by"`
		TotalCommits int64  `json:"total_commits"`
		HTMLURL      string `json:"html_url"`
		Commits      []struct {
			SHA    string `json:"sha"`
			Commit struct {
				Message string `json:"message"`
			} `json:"commit"`
		} `json:"commits"`
		Files []struct {
			Filename  string `json:"filename"`
			Status    string `json:"status"`
			Additions int64  `json:"additions"`
			Deletions int64  `json:"deletions"`
			Patch     string `json:"patch"`
		} `json:"files"`
	}
	header, err := h.callAPI(ctx, call{method: http.MethodGet, url: h.apiURL(url.Values{"per_page": {perPage}}, path...), token: token}, &got)
	if err != nil {
		return nil, err
	}
	out := &codehost.Comparison{
		Status: got.Status, AheadBy: got.AheadBy, BehindBy: got.BehindBy, TotalCommits: got.TotalCommits, HTMLURL: got.HTMLURL,
		Meta: h.readMeta(header),
	}
	for _, c := range got.Commits {
		subject, _, _ := strings.Cut(c.Commit.Message, "\n")
		out.Commits = append(out.Commits, codehost.Commit{Hash: c.SHA, Subject: texts.Truncate(subject, maxSaid)})
	}
	for _, f := range got.Files[:min(len(got.Files), maxFiles)] {
		out.Files = append(out.Files, codehost.ChangedFile{
			Path: f.Filename, Status: f.Status, Additions: f.Additions, Deletions: f.Deletions, Patch: texts.Truncate(f.Patch, maxPatch),
		})
	}
	return out, nil
}
