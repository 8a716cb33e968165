package releases

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	own "github.com/patchbay-dev/patchbay/core/services/releases/account"
	"github.com/patchbay-dev/patchbay/core/services/releases/feed"
	"github.com/patchbay-dev/patchbay/core/services/releases/markdown"
	"github.com/patchbay-dev/patchbay/core/services/releases/syndication"
	"github.com/patchbay-dev/patchbay/core/store"
)

// FeedSelection chooses what a feed for readers has, in the words of the feed endpoint.
type FeedSelection struct {
	Types string `json:"types,omitempty" maxLength:"100"`
	Scope string `json:"scope,omitempty" enum:",repo,repos,org,mine"`
	Items string `json:"items,omitempty" maxLength:"3000"`
	Org   string `json:"org,omitempty" maxLength:"100"`
	Query string `json:"q,omitempty" maxLength:"500"`
}

// FeedToken is a token that reads one feed.
type FeedToken struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	MaskedToken string `json:"masked_token"`
	FeedSelection
	CreatedAt  api.Time  `json:"created_at"`
	LastUsedAt *api.Time `json:"last_used_at" nullable:"true" doc:"To the hour."`
}

// NewFeedToken is a token that was made, with what is told this once.
type NewFeedToken struct {
	FeedToken
	Token   string `json:"token" doc:"It is sensitive, and not shown again."`
	AtomURL string `json:"atom_url" doc:"With the token. A path if no public_url is configured."`
	JSONURL string `json:"json_url"`
}

type (
	feedTokensOutput struct {
		Body struct {
			Tokens []FeedToken `json:"tokens" nullable:"false"`
		}
	}
	feedTokenInput struct {
		Body struct {
			Name string `json:"name,omitempty" maxLength:"80" doc:"The title of the feed; Releases if left out."`
			FeedSelection
		}
	}
	feedTokenOutput struct{ Body NewFeedToken }
	feedTokenID     struct {
		ID string `path:"token_id" maxLength:"64"`
	}
)

const (
	atomPath = "/api/feed.atom"
	jsonPath = "/api/feed.json"
	// defaultFeedName is the title of a feed that was given none.
	defaultFeedName = "Releases"
)

// syndicationAPI declares the feeds for readers and their tokens.
func (s *Service) syndicationAPI(a *api.API) {
	const path = "/api/feed-tokens"
	op := func(id, method, path, summary string, errors ...int) api.Operation {
		return newOperation(id, method, path, tagSyndication, httpd.Session, summary, errors...)
	}
	api.Register(a, withText(op("feed-tokens", http.MethodGet, path, "Tokens of feeds for readers"), "The newest first."), s.listFeedTokens)
	api.Register(a, op("feed-token-add", http.MethodPost, path, "Make a feed for readers", http.StatusConflict, http.StatusForbidden), s.addFeedToken)
	api.Register(a, withText(op("feed-token-delete", http.MethodDelete, path+"/{token_id}", "Delete a token", http.StatusNotFound), "Its feed can no longer be read."), s.deleteFeedToken)
	for _, f := range []struct {
		id, path, media, summary string
		write                    func(io.Writer, syndication.Feed) error
	}{
		{"feed-atom", atomPath, syndication.AtomType, "The feed of a token as Atom", syndication.WriteAtom},
		{"feed-json", jsonPath, syndication.JSONType, "The feed of a token as JSON Feed", syndication.WriteJSON},
	} {
		a.Document(httpd.Route{Method: http.MethodGet, Path: f.path, Policy: httpd.AccessToken, Handler: func(c *gin.Context) { s.serveSyndication(c, f.path, f.media, f.write) }}, huma.Operation{
			OperationID: f.id, Tags: []string{tagSyndication}, Summary: f.summary,
			Description: "The latest 50 items, with ETag. The token stands in the query, or as Bearer in the header Authorization.",
			Parameters:  []*huma.Param{{Name: "token", In: "query", Schema: &huma.Schema{Type: huma.TypeString}}},
			Responses: map[string]*huma.Response{
				"200": {Description: "The feed.", Content: map[string]*huma.MediaType{f.media: {Schema: &huma.Schema{Type: huma.TypeString}}}}, "304": {Description: "Nothing has changed."},
				"401": a.ErrorResponse("The token is unknown or was deleted"), "403": a.ErrorResponse("The account of the token is disabled"),
			},
		})
	}
}

func feedTokenOf(t own.FeedToken) FeedToken {
	return FeedToken{t.ID, t.Name, t.Masked, FeedSelection{t.Types, t.Scope, t.Items, t.Org, t.Search}, api.TimeOfMillis(t.CreatedAt), api.OptionalTime(t.LastUsedAt)}
}

func (s *Service) listFeedTokens(ctx context.Context, _ *struct{}) (*feedTokensOutput, error) {
	userID, err := ownerOf(ctx)
	if err != nil {
		return nil, err
	}
	found, err := s.accounts.ListFeedTokens(ctx, userID)
	out := &feedTokensOutput{}
	out.Body.Tokens = make([]FeedToken, len(found))
	for i, t := range found {
		out.Body.Tokens[i] = feedTokenOf(t)
	}
	return out, err
}

func (s *Service) addFeedToken(ctx context.Context, in *feedTokenInput) (*feedTokenOutput, error) {
	userID, err := ownerOf(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.cfg.Users.Passkeys.CheckNewWayIn(ctx, auth.From(ctx)); err != nil {
		return nil, err
	}
	b := in.Body
	t := own.FeedToken{UserID: userID, Name: strings.TrimSpace(b.Name), Types: b.Types, Scope: b.Scope, Items: b.Items, Org: b.Org, Search: b.Query}
	if t.Name == "" {
		t.Name = defaultFeedName
	}
	if _, err := s.queryOfToken(ctx, t); err != nil {
		return nil, err
	}
	t, text, err := s.accounts.AddFeedToken(ctx, t, s.cfg.Now())
	if err != nil {
		return nil, err
	}
	httpd.NoteObject(ctx, t.ID)
	base := s.publicBase()
	return &feedTokenOutput{NewFeedToken{feedTokenOf(t), text, base + atomPath + "?token=" + text, base + jsonPath + "?token=" + text}}, nil
}

func (s *Service) deleteFeedToken(ctx context.Context, in *feedTokenID) (*api.OKAnswer, error) {
	userID, err := ownerOf(ctx)
	if err != nil {
		return nil, err
	}
	return api.Done(s.accounts.DeleteFeedToken(ctx, userID, in.ID))
}

// publicBase returns the address of the service as browsers see it; its path alone if that is not known.
func (s *Service) publicBase() string {
	st := s.state.Load()
	base := strings.TrimSuffix(st.settings.BaseURL, "/")
	if strings.HasPrefix(base, "/") || base == "" {
		base = strings.TrimSuffix(st.access.PublicURL, "/") + base
	}
	return base
}

// queryOfToken returns what the feed of a token has.
func (s *Service) queryOfToken(ctx context.Context, t own.FeedToken) (q feed.Query, err error) {
	q.UserID, q.Limit = t.UserID, syndicatedItems
	if q.Types, err = feed.ParseTypes(t.Types, "types"); err != nil {
		return q, err
	}
	if q.Search, err = feed.ParseSearch(t.Search); err != nil {
		return q, err
	}
	q.Scope, err = feed.ParseScope(t.Scope, t.Items, t.Org, func() ([]string, error) { return s.loginsOf(ctx, q.UserID) })
	return q, err
}

// readFeedToken returns the token of a request, whose user may still use the service.
func (s *Service) readFeedToken(c *gin.Context) (t own.FeedToken, err error) {
	ctx := c.Request.Context()
	text := c.Query("token")
	if scheme, value, ok := strings.Cut(c.GetHeader("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		text = strings.TrimSpace(value)
	}
	t, ok, err := s.accounts.FindFeedToken(ctx, text)
	if err != nil {
		return t, err
	}
	refused := fault.New("invalid_feed_token", "The token of the feed is unknown, or was deleted.").WithStatus(http.StatusUnauthorized)
	if !ok {
		return t, refused
	}
	user, err := s.cfg.Users.Get(ctx, t.UserID)
	if f := fault.As(err); err != nil && f.Code == fault.NotFound {
		return t, refused
	}
	if err == nil && user.Disabled {
		err = fault.New("account_disabled", "This account is disabled.").WithStatus(http.StatusForbidden)
	}
	if err == nil {
		err = s.accounts.NoteFeedTokenUse(ctx, t, s.cfg.Now())
	}
	return t, err
}

// syndicatedItems is how many items a feed for readers has.
const syndicatedItems = 50

// serveSyndication answers with the feed of a token in a format.
func (s *Service) serveSyndication(c *gin.Context, path, media string, write func(io.Writer, syndication.Feed) error) {
	ctx := c.Request.Context()
	t, err := s.readFeedToken(c)
	var q feed.Query
	if err == nil {
		q, err = s.queryOfToken(ctx, t)
	}
	var marks []feed.Mark
	if err == nil {
		marks, err = s.feed.Marks(ctx, q)
	}
	if err != nil {
		httpd.WriteError(c, err)
		return
	}
	base := s.publicBase()
	self := base + path
	if inQuery := c.Query("token"); inQuery != "" {
		self += "?token=" + url.QueryEscape(inQuery)
	}
	// It is weak: the same state is sent as it is, and compressed.
	etag := etagOf(marks, t.ID, media, s.cfg.Version, self)
	c.Header("ETag", etag)
	c.Header("Cache-Control", "private, no-cache")
	if strings.Contains(c.GetHeader("If-None-Match"), strings.TrimPrefix(etag, "W/")) {
		c.Status(http.StatusNotModified)
		return
	}
	page, err := s.feed.List(ctx, q)
	var body bytes.Buffer
	if err == nil {
		about := s.syndicate(t, page.Items, base)
		if !strings.HasPrefix(base, "/") {
			about.SelfURL = self
		}
		err = write(&body, about)
	}
	if err != nil {
		c.Writer.Header().Del("ETag")
		httpd.WriteError(c, err)
		return
	}
	httpd.WriteText(c, http.StatusOK, media+"; charset=utf-8", body.Bytes())
}

// etagOf identifies a state of a feed in a format.
func etagOf(marks []feed.Mark, parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		_, _ = h.Write([]byte(part + "\x00"))
	}
	for i := range marks {
		_, _ = h.Write(marks[i].Digest[:])
	}
	return `W/"` + hex.EncodeToString(h.Sum(nil)[:16]) + `"`
}

// syndicate returns items as a feed for readers.
func (s *Service) syndicate(t own.FeedToken, items []feed.Item, base string) syndication.Feed {
	out := syndication.Feed{ID: syndication.NewID("feed", t.ID), Title: t.Name, Updated: store.FromMillis(t.CreatedAt)}
	if !strings.HasPrefix(base, "/") {
		out.HomeURL = base + "/feed"
	}
	render := markdown.NewRenderer(base)
	for n := range items {
		i := &items[n]
		at, changed := store.FromMillis(i.TS), store.FromMillis(max(i.TS, i.ChangedAt))
		if changed.After(out.Updated) {
			out.Updated = changed
		}
		e := syndication.Entry{ID: syndication.NewID("item", i.EntryURL, i.ID()), URL: i.HTMLURL, Title: syndicatedTitle(i), Published: at, Updated: changed, Author: i.ActorLogin, AuthorURL: i.ActorURL}
		if i.Body != "" {
			e.HTML = render.RenderNotes(i.Body, markdown.NewPage(i.HTMLURL, i.RepoFullName))
		}
		if i.Kind == feed.Release {
			e.Author = i.RepoFullName
		}
		e.Tags = []string{string(i.Kind)}
		if i.Prerelease {
			e.Tags = append(e.Tags, "prerelease")
		}
		out.Entries = append(out.Entries, e)
	}
	return out
}

// syndicatedTitle names an item in words.
func syndicatedTitle(i *feed.Item) string {
	switch i.Kind {
	case feed.StarReceived:
		return actorLogin(i) + " starred " + i.RepoFullName
	case feed.FollowerNew:
		return actorLogin(i) + " follows you"
	case feed.RepoForked:
		return actorLogin(i) + " forked " + i.Title
	case feed.ReleaseUpdate:
		return actorLogin(i) + " released " + shownTitle(i)
	}
	if tag := i.TagBeside(); tag != "" {
		return i.RepoFullName + ": " + i.Title + " (" + tag + ")"
	}
	return i.RepoFullName + ": " + i.Title
}
