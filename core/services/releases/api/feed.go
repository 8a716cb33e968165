package api

import (
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/releases/feed"
	"github.com/patchbay-dev/patchbay/core/services/releases/reader"
	"github.com/patchbay-dev/patchbay/core/services/releases/reading"
	"github.com/patchbay-dev/patchbay/core/services/releases/translation"
)

// FeedItem is an item of the feed. All members are always there but actor.
type FeedItem struct {
	Kind          string                                   `json:"kind" enum:"release,repo_star_received,follower_received,announcement,release_update,repo_forked"`
	TS            api.Time                                 `json:"ts" doc:"By which the feed is sorted."`
	ID            string                                   `json:"id"`
	RepoFullName  *string                                  `json:"repo_full_name" example:"golang/go"`
	RepoVisual    api.Optional[reading.RepoVisual]         `json:"repo_visual"`
	Title         *string                                  `json:"title"`
	Body          *string                                  `json:"body" doc:"Markdown, at most 3000 characters."`
	BodyTruncated bool                                     `json:"body_truncated"`
	Subtitle      *string                                  `json:"subtitle"`
	Reason        *string                                  `json:"reason"`
	SubjectType   *string                                  `json:"subject_type" enum:"discussion,release,repository"`
	HTMLURL       *string                                  `json:"html_url"`
	Unread        *int                                     `json:"unread" doc:"Always null: notifications are not in the feed."`
	Actor         *FeedActor                               `json:"actor,omitempty"`
	Translated    api.Optional[translation.TranslatedItem] `json:"translated"`
	Smart         api.Optional[translation.TranslatedItem] `json:"smart"`
	Reactions     api.Optional[reading.ReleaseReactions]   `json:"reactions"`
}

// FeedActor is who caused an event.
type FeedActor struct {
	Login     string  `json:"login"`
	AvatarURL *string `json:"avatar_url"`
	HTMLURL   *string `json:"html_url"`
}

// FeedPage is a page of the feed.
type FeedPage struct {
	Items      []FeedItem `json:"items" nullable:"false"`
	NextCursor *string    `json:"next_cursor" doc:"Null if no item follows."`
}

// feedParams are the parameters that choose items, as the document has them.
func feedParams(types string) []*huma.Param {
	text := &huma.Schema{Type: huma.TypeString}
	query := func(name, about string) *huma.Param {
		return &huma.Param{Name: name, In: "query", Description: about, Schema: text}
	}
	return []*huma.Param{
		query(types, "all, releases, stars or followers; several with commas. Empty means all. A scope has no followers."),
		{Name: "scope", In: "query", Schema: &huma.Schema{Type: huma.TypeString, Enum: []any{"", "repo", "repos", "org", "mine"}}},
		query("items", "owner/name for scope=repo; up to 12 of them with commas for scope=repos."), query("org", "The owner for scope=org."),
	}
}

// declareFeed declares the feed, whose handler is its own to be fast.
func (h *readHandlers) declareFeed(a *api.API) {
	least, most := 1.0, float64(feed.MaxLimit)
	params := append(feedParams("types"),
		&huma.Param{Name: "q", In: "query", Description: "Words that a release has: \"a phrase\", the beginning of a word*, repo:, title:, before: and after: a day. With it the feed has releases alone.", Schema: &huma.Schema{Type: huma.TypeString}},
		&huma.Param{Name: "cursor", In: "query", Description: "next_cursor of the page before.", Schema: &huma.Schema{Type: huma.TypeString}},
		&huma.Param{Name: "limit", In: "query", Description: "30 if left out; clamped to 1 to 100.",
			Schema: &huma.Schema{Type: huma.TypeInteger, Minimum: &least, Maximum: &most}})
	a.Document(httpd.Route{Method: http.MethodGet, Path: "/api/feed", Policy: httpd.APIKey, Handler: h.serveFeed}, huma.Operation{
		OperationID: "feed", Tags: []string{tagRead}, Summary: "The feed, the newest first",
		Description: "Releases of the repositories that the caller sees: starred, followed, configured for everybody, and own ones if wanted.",
		Parameters:  params,
		Responses: map[string]*huma.Response{"200": {Description: "A page.", Content: api.JSON(api.Schema[FeedPage](a))},
			"400": a.ErrorResponse("A parameter is not valid")},
	})
}

// readFeedChoice reads the parameters that choose items. types is the name of that for types.
func readFeedChoice(c *gin.Context, types string) feed.Choice {
	return feed.Choice{Types: c.Query(types), Scope: c.Query("scope"), Items: c.Query("items"), Org: c.Query("org")}
}

func (h *readHandlers) serveFeed(c *gin.Context) {
	choice := readFeedChoice(c, "types")
	choice.Search, choice.Cursor, choice.Limit = c.Query("q"), c.Query("cursor"), feed.DefaultLimit
	var err error
	if text := c.Query("limit"); text != "" {
		if choice.Limit, err = strconv.Atoi(text); err != nil {
			err = fault.New(fault.BadRequest, "limit must be a number.").With("field", "limit")
		}
		choice.Limit = feed.ClampLimit(choice.Limit)
	}
	var page feed.Page
	if err == nil {
		page, err = h.reading.ListFeed(c.Request.Context(), choice)
	}
	var translated map[int64]translation.Translated
	if err == nil {
		translated, err = h.translator.Find(c.Request.Context(), reader.DefaultLanguage, translation.ReleaseIDs(page.Items), false)
	}
	if err != nil {
		httpd.WriteError(c, err)
		return
	}
	buf := feedBuffers.Get().(*[]byte)
	defer feedBuffers.Put(buf)
	*buf = appendFeedPage((*buf)[:0], page, translated, h.translator.NoTranslation(reader.DefaultLanguage))
	c.Header("Cache-Control", "no-store")
	httpd.WriteBody(c, http.StatusOK, "application/json", *buf)
}
