// Package reading shows users what they see: the feed, releases with their translations and reactions, briefs and notifications.
package reading

import (
	"context"
	"strconv"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/auth/limit"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/releases/brief"
	"github.com/patchbay-dev/patchbay/core/services/releases/feed"
	"github.com/patchbay-dev/patchbay/core/services/releases/reader"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/services/releases/sync"
	"github.com/patchbay-dev/patchbay/core/services/releases/translate"
	"github.com/patchbay-dev/patchbay/core/services/releases/translation"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Config is what Reading needs.
type Config struct {
	Store        *store.Store
	Repos        *repo.Store
	Feed         *feed.Store
	Reads        *sync.State
	Briefs       *brief.Briefs
	Users        *auth.Users
	Syncer       *sync.Syncer
	Readers      *reader.Readers
	Translator   *translation.Translator
	Translations *translate.Translations
	Logger       hclog.Logger
	// PublicPages reports whether the settings allow public pages.
	PublicPages func() bool
	Now         func() time.Time
}

// Reading shows users what they see: the feed, releases with their translations and reactions, briefs and notifications.
type Reading struct {
	cfg Config
	// publicReads counts what an address reads without an account.
	publicReads *limit.Limiter
}

// New returns what shows users what they see.
func New(cfg Config) (*Reading, error) {
	reads, err := limit.New(limit.Config{Burst: publicBurst, Every: publicEvery, Now: cfg.Now, Store: cfg.Store, Name: "public_releases"})
	return &Reading{cfg, reads}, err
}

// RepoVisual is how a repository is shown.
type RepoVisual struct {
	OwnerAvatarURL    *string `json:"owner_avatar_url"`
	OpenGraphImageURL *string `json:"open_graph_image_url"`
	UsesCustomImage   bool    `json:"uses_custom_open_graph_image"`
}

// ReleaseDetail is a release with all that is known of it.
type ReleaseDetail struct {
	ReleaseID       string                                   `json:"release_id"`
	RepoFullName    *string                                  `json:"repo_full_name"`
	RepoVisual      api.Optional[RepoVisual]                 `json:"repo_visual"`
	TagName         string                                   `json:"tag_name"`
	PreviousTagName *string                                  `json:"previous_tag_name" doc:"The tag of the release before this one in the same repository."`
	Name            *string                                  `json:"name"`
	Body            *string                                  `json:"body" doc:"Markdown, whole."`
	HTMLURL         string                                   `json:"html_url"`
	PublishedAt     *api.Time                                `json:"published_at" nullable:"true"`
	IsPrerelease    bool                                     `json:"is_prerelease"`
	IsDraft         bool                                     `json:"is_draft"`
	Translated      api.Optional[translation.TranslatedItem] `json:"translated"`
	Smart           api.Optional[translation.TranslatedItem] `json:"smart"`
}

// releaseDetail returns a release with its translation into a language.
func (rd *Reading) releaseDetail(ctx context.Context, r repo.Release, p repo.Repo, language string) (out ReleaseDetail, err error) {
	previous, err := rd.cfg.Repos.PreviousTag(ctx, r)
	if err != nil {
		return out, err
	}
	out = ReleaseDetail{
		ReleaseID: strconv.FormatInt(r.ID, 10), RepoFullName: &p.FullName, TagName: r.Tag, PreviousTagName: api.TextOrNull(previous),
		Body: api.TextOrNull(r.FullBody), HTMLURL: r.HTMLURL,
		PublishedAt: api.OptionalTime(r.TS), IsPrerelease: r.Prerelease,
	}
	if r.Title != r.Tag {
		out.Name = api.TextOrNull(r.Title)
	}
	if p.AvatarURL != "" || p.ImageURL != "" || p.CustomImage {
		out.RepoVisual.Of = &RepoVisual{api.TextOrNull(p.AvatarURL), api.TextOrNull(p.ImageURL), p.CustomImage}
	}
	found, err := rd.cfg.Translator.Find(ctx, language, []int64{r.ID}, r.BodyTruncated)
	if err != nil {
		return out, err
	}
	translated := found[r.ID].OrElse(rd.cfg.Translator.NoTranslation(language))
	out.Translated.Of, out.Smart.Of = translated.Text, translated.Smart
	return out, nil
}

// ListFeed returns a page of the feed.
func (rd *Reading) ListFeed(ctx context.Context, choice feed.Choice) (page feed.Page, err error) {
	q, err := rd.cfg.Readers.FeedQuery(ctx, reader.ID(ctx), choice, "types")
	if err == nil {
		page, err = rd.cfg.Feed.List(ctx, q)
	}
	return page, err
}

// ListFeedAndReads returns a page of the feed, with what the caller has read.
func (rd *Reading) ListFeedAndReads(ctx context.Context, choice feed.Choice) (feed.Page, error) {
	page, err := rd.ListFeed(ctx, choice)
	if err == nil {
		err = rd.cfg.Feed.MarkRead(ctx, reader.ID(ctx), page.Items)
	}
	return page, err
}

// Release returns a release by its repository and tag, with its translation into a language, "" for that of the caller.
func (rd *Reading) Release(ctx context.Context, repoName, tag, language string) (ReleaseDetail, error) {
	r, p, err := rd.cfg.Repos.FindByTag(ctx, repoName, tag)
	if err != nil {
		return ReleaseDetail{}, err
	}
	return rd.showRelease(ctx, r, p, language)
}

// ReleaseByID returns a release by its id, with its translation into a language, "" for that of the caller.
func (rd *Reading) ReleaseByID(ctx context.Context, id, language string) (ReleaseDetail, error) {
	n, err := repo.ParseReleaseID(id)
	if err != nil {
		return ReleaseDetail{}, err
	}
	r, p, err := rd.cfg.Repos.FindRelease(ctx, n)
	if err != nil {
		return ReleaseDetail{}, err
	}
	return rd.showRelease(ctx, r, p, language)
}

// showRelease returns a release, with its translation into a language, to a caller who may see it.
func (rd *Reading) showRelease(ctx context.Context, r repo.Release, p repo.Repo, language string) (out ReleaseDetail, err error) {
	if language == "" {
		if language, err = rd.cfg.Readers.Language(ctx); err != nil {
			return out, err
		}
	}
	if err := rd.cfg.Readers.CheckVisible(ctx, r, p); err != nil {
		return out, err
	}
	return rd.releaseDetail(ctx, r, p, language)
}

// SetRead notes whether the caller has read a release.
func (rd *Reading) SetRead(ctx context.Context, id string, read bool) error {
	n, err := repo.ParseReleaseID(id)
	if err != nil {
		return err
	}
	r, p, err := rd.cfg.Repos.FindRelease(ctx, n)
	if err == nil {
		err = rd.cfg.Readers.CheckVisible(ctx, r, p)
	}
	if err != nil {
		return err
	}
	return rd.cfg.Feed.SetRead(ctx, reader.ID(ctx), n, read)
}

// HasPasskey reports whether the caller has a passkey, which must be shown before a feed for readers is made.
func (rd *Reading) HasPasskey(ctx context.Context) (bool, error) {
	return rd.cfg.Users.Passkeys.Has(ctx, auth.From(ctx).User.ID)
}
