package releases

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth/limit"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/store"
)

const (
	publicPath = "/api/public/repos/:owner/:repo/releases"
	// defaultPublicLimit and maxPublicLimit are how many releases a page has.
	defaultPublicLimit, maxPublicLimit = 6, 30
	// pendingRetry is when to ask again for a repository that has not been read yet.
	pendingRetry = 30 * time.Second
	// publicMaxAge is how long an answer may be kept, in seconds.
	publicMaxAge = "60"
	// publicBurst and publicEvery bound the requests of one address.
	publicBurst, publicEvery = 60, time.Second
)

// What an answer has of each release.
const (
	contentOriginal   = "original"
	contentTranslated = "translated"
	contentPolished   = "polished"
	contentAll        = "all"
)

// PublicRepo is a repository whose releases everybody may read.
type PublicRepo struct {
	FullName    string  `json:"full_name"`
	Description *string `json:"description"`
	HTMLURL     string  `json:"html_url"`
}

// PublicText is a text of a release.
type PublicText struct {
	Lang  *string `json:"lang" doc:"Null for the original."`
	Title *string `json:"title"`
	Body  *string `json:"body" doc:"Markdown."`
}

// PublicRelease is a release that everybody may read. Texts that are not asked for, or are not there, are null.
type PublicRelease struct {
	TagName       string                   `json:"tag_name"`
	HTMLURL       string                   `json:"html_url"`
	PublishedAt   *api.Time                `json:"published_at" nullable:"true"`
	IsPrerelease  bool                     `json:"is_prerelease"`
	BodyTruncated bool                     `json:"body_truncated" doc:"Whether the original is longer than 3000 characters and cut."`
	Original      api.Optional[PublicText] `json:"original"`
	Translated    api.Optional[PublicText] `json:"translated"`
	Polished      api.Optional[PublicText] `json:"polished"`
}

// PublicPage is a page of the releases of a repository.
type PublicPage struct {
	Repo       PublicRepo      `json:"repo"`
	Status     string          `json:"status" enum:"ready,pending_sync"`
	Items      []PublicRelease `json:"items" nullable:"false"`
	NextCursor *string         `json:"next_cursor"`
}

// publicAPI declares what everybody may read.
func (s *Service) publicAPI(a *api.API) {
	text := &huma.Schema{Type: huma.TypeString}
	least, most := 1.0, float64(maxPublicLimit)
	a.Document(httpd.Route{Method: http.MethodGet, Path: publicPath, Policy: httpd.Public, Handler: s.servePublic}, huma.Operation{
		OperationID: "public-releases", Tags: []string{tagRead}, Summary: "Releases of a published repository, without an account",
		Description: "404 unless public_pages is set and an administrator has published the repository. Nothing is translated for it: translated and polished are what is there already.",
		Parameters: []*huma.Param{
			{Name: "owner", In: "path", Required: true, Schema: text}, {Name: "repo", In: "path", Required: true, Schema: text},
			{Name: "content", In: "query", Description: "original if left out.", Schema: &huma.Schema{Type: huma.TypeString, Enum: []any{contentOriginal, contentTranslated, contentPolished, contentAll}}},
			{Name: "limit", In: "query", Description: "6 if left out.", Schema: &huma.Schema{Type: huma.TypeInteger, Minimum: &least, Maximum: &most}},
			{Name: "cursor", In: "query", Description: "next_cursor of the page before.", Schema: text},
		},
		Responses: map[string]*huma.Response{
			"200": {Description: "A page, with ETag.", Content: api.JSON(api.Schema[PublicPage](a))}, "202": {Description: "The repository has not been read yet; Retry-After says when to ask again.", Content: api.JSON(api.Schema[PublicPage](a))},
			"304": {Description: "Nothing has changed since If-None-Match."}, "400": a.ErrorResponse("A parameter is not valid"), "404": a.ErrorResponse("There is no such published repository"), "429": a.ErrorResponse("Too many requests of one address"),
		},
	})
}

// AllowPublic returns an error for an address that has asked for too much of what everybody may read.
func (s *Service) AllowPublic(address string) error {
	if wait, ok := s.publicReads.Take(limit.Client(address)); !ok {
		return fault.New(fault.RateLimited, "Too many requests from this address.").WithRetryAfter(wait)
	}
	return nil
}

// findPublished returns a published repository.
func (s *Service) findPublished(ctx context.Context, fullName string) (repo.Repo, error) {
	if !s.state.Load().settings.PublicPages {
		return repo.Repo{}, repo.ErrNoRepo
	}
	return s.repos.FindPublished(ctx, fullName)
}

// PublicReleases returns a page of the releases of a published repository. content is what it has of each.
func (s *Service) PublicReleases(ctx context.Context, fullName, content, cursor string, count int) (out PublicPage, err error) {
	switch content {
	case contentOriginal, contentTranslated, contentPolished, contentAll:
	default:
		return out, fault.New(fault.BadRequest, "content must be original, translated, polished or all.").With("field", "content")
	}
	if count < 1 || count > maxPublicLimit {
		return out, fault.New(fault.BadRequest, "limit must be from 1 to %d.", maxPublicLimit).With("field", "limit")
	}
	var after *repo.Position
	if cursor != "" {
		after = &repo.Position{}
		if err := store.DecodeCursor(cursor, after); err != nil {
			return out, fault.New(fault.BadRequest, "The cursor is not one that this list gave out.").With("field", "cursor")
		}
	}
	r, err := s.findPublished(ctx, fullName)
	if err != nil {
		return out, err
	}
	out = PublicPage{Repo: PublicRepo{r.FullName, optional(r.Description), r.HTMLURL}, Status: "ready", Items: []PublicRelease{}}
	if r.SyncedAt == 0 {
		out.Status = "pending_sync"
		return out, nil
	}
	found, err := s.repos.ListAfter(ctx, r.ID, after, count+1)
	if err != nil {
		return out, err
	}
	if len(found) > count {
		found = found[:count]
		next, err := store.EncodeCursor(repo.Position{TS: found[count-1].TS, ID: found[count-1].ID})
		if err != nil {
			return out, err
		}
		out.NextCursor = &next
	}
	out.Items, err = s.publicItems(ctx, found, content)
	return out, err
}

// publicItems returns releases with what is asked for of each.
func (s *Service) publicItems(ctx context.Context, found []repo.Release, content string) ([]PublicRelease, error) {
	ids := make([]int64, len(found))
	for i, r := range found {
		ids[i] = r.ID
	}
	translated, err := s.translatedOf(ctx, s.Languages()[0], ids, false)
	if err != nil {
		return nil, err
	}
	wants := func(one string) bool { return content == one || content == contentAll }
	out := make([]PublicRelease, len(found))
	for i, r := range found {
		out[i] = PublicRelease{TagName: r.Tag, HTMLURL: r.HTMLURL, PublishedAt: api.OptionalTime(r.TS), IsPrerelease: r.Prerelease, BodyTruncated: r.BodyTruncated}
		if wants(contentOriginal) {
			out[i].Original.Of = &PublicText{Title: optional(r.Title), Body: optional(r.Body)}
		}
		if wants(contentTranslated) {
			out[i].Translated.Of = publicText(translated[r.ID].Text)
		}
		if wants(contentPolished) {
			out[i].Polished.Of = publicText(translated[r.ID].Smart)
		}
	}
	return out, nil
}

// publicText returns a translation that is there, nil for one that is not.
func publicText(t *TranslatedItem) *PublicText {
	if t == nil || t.Status != statusReady {
		return nil
	}
	return &PublicText{Lang: &t.Lang, Title: t.Title, Body: t.Summary}
}

func (s *Service) servePublic(c *gin.Context) {
	page, err := PublicPage{}, s.AllowPublic(httpd.ClientAddr(c))
	count := defaultPublicLimit
	if text := c.Query("limit"); text != "" && err == nil {
		if count, err = strconv.Atoi(text); err != nil {
			err = fault.New(fault.BadRequest, "limit must be a number.").With("field", "limit")
		}
	}
	if err == nil {
		page, err = s.PublicReleases(c.Request.Context(), c.Param("owner")+"/"+c.Param("repo"), c.DefaultQuery("content", contentOriginal), c.Query("cursor"), count)
	}
	var body []byte
	if err == nil {
		body, err = json.Marshal(page)
	}
	if err != nil {
		httpd.WriteError(c, err)
		return
	}
	if page.Status != "ready" {
		c.Header("Cache-Control", "no-store")
		c.Header("Retry-After", strconv.FormatInt(httpd.RetrySeconds(pendingRetry), 10))
		httpd.WriteBody(c, http.StatusAccepted, "application/json", body)
		return
	}
	sum := sha256.Sum256(bytes.TrimSpace(body))
	etag := `"` + hex.EncodeToString(sum[:16]) + `"`
	c.Header("ETag", etag)
	c.Header("Cache-Control", "public, max-age="+publicMaxAge)
	if strings.Contains(c.GetHeader("If-None-Match"), etag) {
		c.Status(http.StatusNotModified)
		return
	}
	httpd.WriteBody(c, http.StatusOK, "application/json", body)
}
