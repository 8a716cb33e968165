package api

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/releases/syndication"
)

// syndicationHandlers serves the feeds for readers, and manages their tokens.
type syndicationHandlers struct{ feeds *syndication.Feeds }

type (
	feedTokensOutputBody struct {
		Tokens []syndication.FeedToken `json:"tokens" nullable:"false"`
	}
	feedTokenInput struct {
		Body struct {
			Name string `json:"name,omitempty" maxLength:"80" doc:"The title of the feed; Releases if left out."`
			syndication.FeedSelection
		}
	}
	feedTokenID struct {
		ID string `path:"token_id" maxLength:"64"`
	}
)

// syndicationAPI declares the feeds for readers and their tokens.
func (h *syndicationHandlers) syndicationAPI(a *api.API) {
	const path = "/api/feed-tokens"
	op := func(id, method, path, summary string, errors ...int) api.Operation {
		return newOperation(id, method, path, tagSyndication, httpd.Session, summary, errors...)
	}
	api.Register(a, withText(op("feed-tokens", http.MethodGet, path, "Tokens of feeds for readers"), "The newest first."), h.listFeedTokens)
	api.Register(a, op("feed-token-add", http.MethodPost, path, "Make a feed for readers", http.StatusConflict, http.StatusForbidden),
		h.addFeedToken)
	api.Register(a, withText(op("feed-token-delete", http.MethodDelete, path+"/{token_id}", "Delete a token", http.StatusNotFound),
		"Its feed can no longer be read."), h.deleteFeedToken)
	for _, f := range []struct {
		id, path, media, summary string
		write                    func(io.Writer, syndication.Feed) error
	}{
		{"feed-atom", syndication.AtomPath, syndication.AtomType, "The feed of a token as Atom", syndication.WriteAtom},
		{"feed-json", syndication.JSONPath, syndication.JSONType, "The feed of a token as JSON Feed", syndication.WriteJSON},
	} {
		a.Document(httpd.Route{Method: http.MethodGet, Path: f.path, Policy: httpd.AccessToken,
			Handler: func(c *gin.Context) { h.serveSyndication(c, f.path, f.media, f.write) }}, huma.Operation{
			OperationID: f.id, Tags: []string{tagSyndication}, Summary: f.summary,
			Description: "The latest 50 items, with ETag. The token stands in the query, or as Bearer in the header Authorization.",
			Parameters:  []*huma.Param{{Name: "token", In: "query", Schema: &huma.Schema{Type: huma.TypeString}}},
			Responses: map[string]*huma.Response{
				"200": {Description: "The feed.", Content: map[string]*huma.MediaType{f.media: {Schema: &huma.Schema{Type: huma.TypeString}}}},
				"304": {Description: "Nothing has changed."},
				"401": a.ErrorResponse("The token is unknown or was deleted"), "403": a.ErrorResponse("The account of the token is disabled"),
			},
		})
	}
}

func (h *syndicationHandlers) listFeedTokens(ctx context.Context, _ *struct{}) (*api.Out[feedTokensOutputBody], error) {
	tokens, err := h.feeds.FeedTokens(ctx)
	return api.AnswerWith(feedTokensOutputBody{tokens}, err)
}

func (h *syndicationHandlers) addFeedToken(ctx context.Context, in *feedTokenInput) (*api.Out[syndication.NewFeedToken], error) {
	return api.AnswerWith(h.feeds.AddFeedToken(ctx, in.Body.Name, in.Body.FeedSelection))
}

func (h *syndicationHandlers) deleteFeedToken(ctx context.Context, in *feedTokenID) (*api.OKAnswer, error) {
	return api.Done(h.feeds.DeleteFeedToken(ctx, in.ID))
}

// serveSyndication answers with the feed of a token in a format.
func (h *syndicationHandlers) serveSyndication(c *gin.Context, path, media string, write func(io.Writer, syndication.Feed) error) {
	ctx := c.Request.Context()
	text := c.Query("token")
	if scheme, value, ok := strings.Cut(c.GetHeader("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		text = strings.TrimSpace(value)
	}
	found, err := h.feeds.OpenFeed(ctx, text)
	if err != nil {
		httpd.WriteError(c, err)
		return
	}
	self := h.feeds.PublicBase() + path
	if inQuery := c.Query("token"); inQuery != "" {
		self += "?token=" + url.QueryEscape(inQuery)
	}
	etag := h.feeds.ETag(found, media, self)
	c.Header("ETag", etag)
	c.Header("Cache-Control", "private, no-cache")
	if strings.Contains(c.GetHeader("If-None-Match"), strings.TrimPrefix(etag, "W/")) {
		c.Status(http.StatusNotModified)
		return
	}
	about, err := h.feeds.Syndicate(ctx, found, self)
	var body bytes.Buffer
	if err == nil {
		err = write(&body, about)
	}
	if err != nil {
		c.Writer.Header().Del("ETag")
		httpd.WriteError(c, err)
		return
	}
	httpd.WriteText(c, http.StatusOK, media+"; charset=utf-8", body.Bytes())
}
