package reading

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/releases/feed"
	"github.com/patchbay-dev/patchbay/core/services/releases/reader"
)

const (
	maxStarred       = 2000
	maxReleases      = 200
	maxNotifications = 200
)

// StarredRepoItem is a repository that the caller has starred.
type StarredRepoItem struct {
	RepoID      int64     `json:"repo_id"`
	FullName    string    `json:"full_name" example:"golang/go"`
	Description *string   `json:"description"`
	HTMLURL     string    `json:"html_url"`
	StarredAt   *api.Time `json:"starred_at" nullable:"true"`
	IsPrivate   bool      `json:"is_private"`
}

// ReleaseItem is a release in lists.
type ReleaseItem struct {
	ReleaseID    string    `json:"release_id"`
	FullName     string    `json:"full_name" example:"golang/go"`
	TagName      string    `json:"tag_name" example:"v1.2.3"`
	Name         *string   `json:"name"`
	PublishedAt  *api.Time `json:"published_at" nullable:"true"`
	HTMLURL      string    `json:"html_url"`
	IsPrerelease bool      `json:"is_prerelease"`
	IsDraft      bool      `json:"is_draft" doc:"Always false: drafts are not kept."`
}

// NotificationItem is a notification.
type NotificationItem struct {
	ThreadID     string    `json:"thread_id"`
	RepoFullName *string   `json:"repo_full_name"`
	SubjectTitle *string   `json:"subject_title"`
	SubjectType  *string   `json:"subject_type"`
	Reason       *string   `json:"reason"`
	UpdatedAt    *api.Time `json:"updated_at" nullable:"true"`
	Unread       int       `json:"unread" enum:"0,1"`
	HTMLURL      *string   `json:"html_url"`
}

// Starred returns the repositories that the caller has starred, the latest first.
func (rd *Reading) Starred(ctx context.Context) ([]StarredRepoItem, error) {
	found, err := rd.cfg.Repos.ListStarred(ctx, reader.ID(ctx), maxStarred)
	out := make([]StarredRepoItem, len(found))
	for i, r := range found {
		out[i] = StarredRepoItem{r.ID, r.FullName, api.TextOrNull(r.Description), r.HTMLURL, api.OptionalTime(r.StarredAt), r.Private}
	}
	return out, err
}

// LatestReleases returns the latest releases that the caller sees, the newest first.
func (rd *Reading) LatestReleases(ctx context.Context) ([]ReleaseItem, error) {
	out := []ReleaseItem{}
	cursor := ""
	for len(out) < maxReleases {
		page, err := rd.cfg.Feed.List(ctx, feed.Query{UserID: reader.ID(ctx), Types: feed.Types{Releases: true}, Limit: feed.MaxLimit,
			Cursor: cursor})
		if err != nil {
			return nil, err
		}
		for _, i := range page.Items {
			item := ReleaseItem{ReleaseID: i.ID(), FullName: i.RepoFullName, TagName: i.Tag, PublishedAt: api.OptionalTime(i.TS),
				HTMLURL: i.HTMLURL, IsPrerelease: i.Prerelease}
			if i.Title != i.Tag {
				item.Name = api.TextOrNull(i.Title)
			}
			out = append(out, item)
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	return out, nil
}

// releaseSubject is the subject of a notification about a release. The code host names its list of releases as the page.
const releaseSubject = "Release"

// Notifications returns the caller's notifications, the latest first.
func (rd *Reading) Notifications(ctx context.Context) ([]NotificationItem, error) {
	found, err := rd.cfg.Reads.ListNotifications(ctx, reader.ID(ctx), maxNotifications)
	if err != nil {
		return nil, err
	}
	out := make([]NotificationItem, len(found))
	for i, n := range found {
		item := NotificationItem{
			ThreadID: n.ThreadID, RepoFullName: api.TextOrNull(n.RepoFullName), SubjectTitle: api.TextOrNull(n.SubjectTitle),
			SubjectType: api.TextOrNull(n.SubjectType),
			Reason:      api.TextOrNull(n.Reason), UpdatedAt: api.OptionalTime(n.UpdatedAt), HTMLURL: api.TextOrNull(n.HTMLURL),
		}
		if n.Unread {
			item.Unread = 1
		}
		if n.SubjectType == releaseSubject {
			page, err := rd.cfg.Repos.FindPage(ctx, n.RepoFullName, n.SubjectTitle)
			if err != nil {
				return nil, err
			}
			if page != "" {
				item.HTMLURL = &page
			}
		}
		out[i] = item
	}
	return out, nil
}
