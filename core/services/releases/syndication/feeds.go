package syndication

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/lists"
	own "github.com/patchbay-dev/patchbay/core/services/releases/account"
	"github.com/patchbay-dev/patchbay/core/services/releases/feed"
	"github.com/patchbay-dev/patchbay/core/services/releases/markdown"
	"github.com/patchbay-dev/patchbay/core/services/releases/reader"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Config is what Feeds need.
type Config struct {
	Accounts *own.Store
	Users    *auth.Users
	Feed     *feed.Store
	Readers  *reader.Readers
	// PublicBase returns the address of the service as browsers see it; its path alone if that is not known.
	PublicBase func() string
	// Version is the core's own.
	Version string
	Now     func() time.Time
}

// Feeds are the feeds of users for feed readers, each with a token that reads it.
type Feeds struct{ cfg Config }

// New returns the feeds for feed readers.
func New(cfg Config) *Feeds { return &Feeds{cfg} }

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

const (
	// AtomPath is where the feed of a token is read as Atom.
	AtomPath = "/api/feed.atom"
	// JSONPath is where it is read as JSON Feed.
	JSONPath = "/api/feed.json"
	// defaultFeedName is the title of a feed that was given none.
	defaultFeedName = "Releases"
)

func newFeedToken(t own.FeedToken) FeedToken {
	return FeedToken{t.ID, t.Name, t.Masked, FeedSelection{t.Types, t.Scope, t.Items, t.Org, t.Search}, api.TimeOfMillis(t.CreatedAt),
		api.OptionalTime(t.LastUsedAt)}
}

// FeedTokens returns the caller's tokens of feeds for readers, the newest first.
func (fs *Feeds) FeedTokens(ctx context.Context) ([]FeedToken, error) {
	userID, err := reader.OwnerID(ctx)
	if err != nil {
		return nil, err
	}
	found, err := fs.cfg.Accounts.ListFeedTokens(ctx, userID)
	return lists.ConvertAll(found, newFeedToken), err
}

// AddFeedToken makes a feed for readers of the caller.
func (fs *Feeds) AddFeedToken(ctx context.Context, name string, of FeedSelection) (out NewFeedToken, err error) {
	if len([]rune(name)) > 80 {
		return out, fault.New(fault.BadRequest, "The name can have at most 80 characters.").With("field", "name")
	}
	userID, err := reader.OwnerID(ctx)
	if err != nil {
		return out, err
	}
	if err := fs.cfg.Users.Passkeys.CheckNewWayIn(ctx, auth.From(ctx)); err != nil {
		return out, err
	}
	t := own.FeedToken{
		UserID: userID, Name: cmp.Or(strings.TrimSpace(name), defaultFeedName), Types: of.Types, Scope: of.Scope, Items: of.Items, Org: of.Org,
		Search: of.Query,
	}
	if _, err := fs.queryOfToken(ctx, t); err != nil {
		return out, err
	}
	t, text, err := fs.cfg.Accounts.AddFeedToken(ctx, t, fs.cfg.Now())
	if err != nil {
		return out, err
	}
	httpd.NoteObject(ctx, t.ID)
	base := fs.cfg.PublicBase()
	return NewFeedToken{newFeedToken(t), text, base + AtomPath + "?token=" + text, base + JSONPath + "?token=" + text}, nil
}

// DeleteFeedToken deletes a token of a feed for readers.
func (fs *Feeds) DeleteFeedToken(ctx context.Context, id string) error {
	userID, err := reader.OwnerID(ctx)
	if err != nil {
		return err
	}
	return fs.cfg.Accounts.DeleteFeedToken(ctx, userID, id)
}

// queryOfToken returns what the feed of a token has.
func (fs *Feeds) queryOfToken(ctx context.Context, t own.FeedToken) (feed.Query, error) {
	q, err := fs.cfg.Readers.FeedQuery(ctx, t.UserID,
		feed.Choice{Types: t.Types, Scope: t.Scope, Items: t.Items, Org: t.Org, Search: t.Search}, "types")
	q.Limit = syndicatedItems
	return q, err
}

// FeedOfToken is the feed of a token: whose it is, what it has, and in which state that is.
type FeedOfToken struct {
	token own.FeedToken
	query feed.Query
	marks []feed.Mark
}

// PublicBase returns the address of the service as browsers see it; its path alone if that is not known.
func (fs *Feeds) PublicBase() string { return fs.cfg.PublicBase() }

// OpenFeed returns the feed of a token, whose user may still use the service.
func (fs *Feeds) OpenFeed(ctx context.Context, text string) (out FeedOfToken, err error) {
	if out.token, err = fs.findFeedToken(ctx, text); err != nil {
		return out, err
	}
	if out.query, err = fs.queryOfToken(ctx, out.token); err != nil {
		return out, err
	}
	out.marks, err = fs.cfg.Feed.Marks(ctx, out.query)
	return out, err
}

// findFeedToken returns a token, and notes that it is used.
func (fs *Feeds) findFeedToken(ctx context.Context, text string) (own.FeedToken, error) {
	t, ok, err := fs.cfg.Accounts.FindFeedToken(ctx, text)
	if err != nil {
		return t, err
	}
	refused := fault.New("invalid_feed_token", "The feed token is unknown or was deleted.").WithStatus(http.StatusUnauthorized)
	if !ok {
		return t, refused
	}
	user, err := fs.cfg.Users.Get(ctx, t.UserID)
	if f := fault.As(err); err != nil && f.Code == fault.NotFound {
		return t, refused
	}
	if err == nil && user.Disabled {
		err = fault.New("account_disabled", "This account is disabled.").WithStatus(http.StatusForbidden)
	}
	if err == nil {
		err = fs.cfg.Accounts.NoteFeedTokenUse(ctx, t, fs.cfg.Now())
	}
	return t, err
}

// ETag identifies the state of a feed that is sent in a format under an address. It is weak: the same state is sent as it is, and
// compressed.
func (fs *Feeds) ETag(f FeedOfToken, media, self string) string {
	return newETag(f.marks, f.token.ID, media, fs.cfg.Version, self)
}

// Syndicate returns the feed of a token for readers. self is its address.
func (fs *Feeds) Syndicate(ctx context.Context, f FeedOfToken, self string) (out Feed, err error) {
	page, err := fs.cfg.Feed.List(ctx, f.query)
	if err != nil {
		return out, err
	}
	base := fs.cfg.PublicBase()
	out = buildFeed(f.token, page.Items, base)
	if !strings.HasPrefix(base, "/") {
		out.SelfURL = self
	}
	return out, nil
}

// syndicatedItems is how many items a feed for readers has.
const syndicatedItems = 50

// newETag identifies a state of a feed in a format.
func newETag(marks []feed.Mark, parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		_, _ = h.Write([]byte(part + "\x00"))
	}
	for i := range marks {
		_, _ = h.Write(marks[i].Digest[:])
	}
	return `W/"` + hex.EncodeToString(h.Sum(nil)[:16]) + `"`
}

// buildFeed returns items as a feed for readers.
func buildFeed(t own.FeedToken, items []feed.Item, base string) Feed {
	out := Feed{ID: NewID("feed", t.ID), Title: t.Name, Updated: store.FromMillis(t.CreatedAt)}
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
		e := Entry{ID: NewID("item", i.EntryURL, i.ID()), URL: i.HTMLURL, Title: syndicatedTitle(i), Published: at, Updated: changed,
			Author: i.ActorLogin, AuthorURL: i.ActorURL}
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
		return i.ActorName() + " starred " + i.RepoFullName
	case feed.FollowerNew:
		return i.ActorName() + " follows you"
	case feed.RepoForked:
		return i.ActorName() + " forked " + i.Title
	case feed.ReleaseUpdate:
		return i.ActorName() + " released " + i.ShownTitle()
	}
	if tag := i.TagBeside(); tag != "" {
		return i.RepoFullName + ": " + i.Title + " (" + tag + ")"
	}
	return i.RepoFullName + ": " + i.Title
}
