package releases

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/releases/feed"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
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

// ReleaseDetail is a release with all that is known of it.
type ReleaseDetail struct {
	ReleaseID       string                       `json:"release_id"`
	RepoFullName    *string                      `json:"repo_full_name"`
	RepoVisual      api.Optional[RepoVisual]     `json:"repo_visual"`
	TagName         string                       `json:"tag_name"`
	PreviousTagName *string                      `json:"previous_tag_name" doc:"The tag of the release before this one in the same repository."`
	Name            *string                      `json:"name"`
	Body            *string                      `json:"body" doc:"Markdown, whole."`
	HTMLURL         string                       `json:"html_url"`
	PublishedAt     *api.Time                    `json:"published_at" nullable:"true"`
	IsPrerelease    bool                         `json:"is_prerelease"`
	IsDraft         bool                         `json:"is_draft"`
	Translated      api.Optional[TranslatedItem] `json:"translated"`
	Smart           api.Optional[TranslatedItem] `json:"smart"`
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

type (
	starredOutput       struct{ Body []StarredRepoItem }
	releasesOutput      struct{ Body []ReleaseItem }
	notificationsOutput struct{ Body []NotificationItem }
	releaseInput        struct {
		ID string `path:"release_id" maxLength:"20"`
	}
	releaseOutput struct{ Body ReleaseDetail }
)

// optional returns a text, or nil for an empty one.
func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func (s *Service) listStarred(ctx context.Context, _ *struct{}) (*starredOutput, error) {
	found, err := s.repos.ListStarred(ctx, readerOf(ctx), maxStarred)
	out := &starredOutput{make([]StarredRepoItem, len(found))}
	for i, r := range found {
		out.Body[i] = StarredRepoItem{r.ID, r.FullName, optional(r.Description), r.HTMLURL, api.OptionalTime(r.StarredAt), r.Private}
	}
	return out, err
}

func (s *Service) listReleases(ctx context.Context, _ *struct{}) (*releasesOutput, error) {
	out := &releasesOutput{[]ReleaseItem{}}
	cursor := ""
	for len(out.Body) < maxReleases {
		page, err := s.feed.List(ctx, feed.Query{UserID: readerOf(ctx), Types: feed.Types{Releases: true}, Limit: feed.MaxLimit, Cursor: cursor})
		if err != nil {
			return nil, err
		}
		for _, i := range page.Items {
			item := ReleaseItem{ReleaseID: i.ID(), FullName: i.RepoFullName, TagName: i.Tag, PublishedAt: api.OptionalTime(i.TS), HTMLURL: i.HTMLURL, IsPrerelease: i.Prerelease}
			if i.Title != i.Tag {
				item.Name = optional(i.Title)
			}
			out.Body = append(out.Body, item)
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	return out, nil
}

// releaseSubject is the subject of a notification about a release. The code host names its list of releases as the page.
const releaseSubject = "Release"

func (s *Service) listNotifications(ctx context.Context, _ *struct{}) (*notificationsOutput, error) {
	found, err := s.reads.ListNotifications(ctx, readerOf(ctx), maxNotifications)
	if err != nil {
		return nil, err
	}
	out := &notificationsOutput{make([]NotificationItem, len(found))}
	for i, n := range found {
		item := NotificationItem{
			ThreadID: n.ThreadID, RepoFullName: optional(n.RepoFullName), SubjectTitle: optional(n.SubjectTitle), SubjectType: optional(n.SubjectType),
			Reason: optional(n.Reason), UpdatedAt: api.OptionalTime(n.UpdatedAt), HTMLURL: optional(n.HTMLURL),
		}
		if n.Unread {
			item.Unread = 1
		}
		if n.SubjectType == releaseSubject {
			page, err := s.repos.FindPage(ctx, n.RepoFullName, n.SubjectTitle)
			if err != nil {
				return nil, err
			}
			if page != "" {
				item.HTMLURL = &page
			}
		}
		out.Body[i] = item
	}
	return out, nil
}

func (s *Service) getRelease(ctx context.Context, in *releaseInput) (*releaseOutput, error) {
	id, err := parseReleaseID(in.ID)
	if err != nil {
		return nil, err
	}
	r, p, err := s.repos.FindRelease(ctx, id)
	return s.writeRelease(ctx, r, p, err)
}

// parseReleaseID reads the id of a release.
func parseReleaseID(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, fault.New(fault.BadRequest, "release_id must be a whole number as text.").With("field", "release_id")
	}
	return id, nil
}

// writeRelease returns a release, with its translation into the default language, to a caller who may see it.
func (s *Service) writeRelease(ctx context.Context, r repo.Release, p repo.Repo, err error) (*releaseOutput, error) {
	if err != nil {
		return nil, err
	}
	detail, err := s.describeRelease(ctx, r, p, DefaultLanguage)
	if err != nil {
		return nil, err
	}
	return &releaseOutput{detail}, nil
}

// describeRelease returns a release, with its translation into a language, to a caller who may see it.
func (s *Service) describeRelease(ctx context.Context, r repo.Release, p repo.Repo, language string) (out ReleaseDetail, err error) {
	if err := s.checkVisible(ctx, r, p); err != nil {
		return out, err
	}
	return s.releaseDetail(ctx, r, p, language)
}

// releaseDetail returns a release with its translation into a language.
func (s *Service) releaseDetail(ctx context.Context, r repo.Release, p repo.Repo, language string) (out ReleaseDetail, err error) {
	previous, err := s.repos.PreviousTag(ctx, r)
	if err != nil {
		return out, err
	}
	out = ReleaseDetail{
		ReleaseID: strconv.FormatInt(r.ID, 10), RepoFullName: &p.FullName, TagName: r.Tag, PreviousTagName: optional(previous), Body: optional(r.FullBody), HTMLURL: r.HTMLURL,
		PublishedAt: api.OptionalTime(r.TS), IsPrerelease: r.Prerelease,
	}
	if r.Title != r.Tag {
		out.Name = optional(r.Title)
	}
	if p.AvatarURL != "" || p.ImageURL != "" || p.CustomImage {
		out.RepoVisual.Of = &RepoVisual{optional(p.AvatarURL), optional(p.ImageURL), p.CustomImage}
	}
	found, err := s.translatedOf(ctx, language, []int64{r.ID}, r.BodyTruncated)
	if err != nil {
		return out, err
	}
	translated := found[r.ID].orElse(s.noTranslation(language))
	out.Translated.Of, out.Smart.Of = translated.Text, translated.Smart
	return out, nil
}

// checkVisible returns an error for a release that the caller does not see: neither its repository, nor a brief that names it.
func (s *Service) checkVisible(ctx context.Context, r repo.Release, p repo.Repo) error {
	return s.checkVisibleTo(ctx, readerOf(ctx), r, p)
}

// checkVisibleTo is checkVisible for a user.
func (s *Service) checkVisibleTo(ctx context.Context, user string, r repo.Release, p repo.Repo) error {
	visible, err := s.repos.Sees(ctx, user, p.ID)
	if err == nil && !visible {
		visible, err = s.briefs.Names(ctx, user, r.ID)
	}
	if err == nil && !visible {
		err = repo.ErrNoRelease
	}
	return err
}

// Paths of a release by its tag: as the document has it, and as it is routed, since tags may have slashes.
const (
	tagPath       = "/api/repos/:owner/:repo/releases/tag/:tag/detail"
	tagRoutedPath = "/api/repos/:owner/:repo/releases/tag/*rest"
	tagSuffix     = "/detail"
)

// declareReleaseByTag declares the endpoint of a release by its repository and tag.
func (s *Service) declareReleaseByTag(a *api.API) {
	path := func(name string) *huma.Param {
		return &huma.Param{Name: name, In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}}
	}
	a.Document(httpd.Route{Method: http.MethodGet, Path: tagPath, Policy: httpd.APIKey, Handler: s.serveReleaseByTag}, huma.Operation{
		OperationID: "release-by-tag", Tags: []string{tagRead}, Summary: "A release by its repository and tag", Description: "The tag may have slashes.",
		Parameters: []*huma.Param{path("owner"), path("repo"), path("tag")},
		Responses:  map[string]*huma.Response{"200": {Description: "The release.", Content: api.JSON(api.Schema[ReleaseDetail](a))}, "404": a.ErrorResponse("There is no such release")},
	})
}

func (s *Service) serveReleaseByTag(c *gin.Context) {
	tag, ok := strings.CutSuffix(strings.TrimPrefix(c.Param("rest"), "/"), tagSuffix)
	if !ok || tag == "" {
		httpd.WriteError(c, fault.New(fault.NotFound, "There is nothing at this address."))
		return
	}
	ctx := c.Request.Context()
	r, p, err := s.repos.FindByTag(ctx, c.Param("owner")+"/"+c.Param("repo"), tag)
	out, err := s.writeRelease(ctx, r, p, err)
	if err != nil {
		httpd.WriteError(c, err)
		return
	}
	c.Header("Cache-Control", "no-store")
	c.JSON(http.StatusOK, out.Body)
}
