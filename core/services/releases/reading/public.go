package reading

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth/limit"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/services/releases/translation"
	"github.com/patchbay-dev/patchbay/core/store"
)

const (
	// MaxPublicLimit is how many releases a page may have.
	MaxPublicLimit = 30
	// publicBurst and publicEvery bound the requests of one address.
	publicBurst, publicEvery = 60, time.Second
)

// What an answer has of each release.
const (
	ContentOriginal   = "original"
	ContentTranslated = "translated"
	ContentPolished   = "polished"
	ContentAll        = "all"
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

// AllowPublic returns an error for an address that has asked for too much of what everybody may read.
func (rd *Reading) AllowPublic(address string) error {
	if wait, ok := rd.publicReads.Take(limit.Client(address)); !ok {
		return fault.New(fault.RateLimited, "Rate limited: too many requests from this address.").WithRetryAfter(wait)
	}
	return nil
}

// findPublished returns a published repository.
func (rd *Reading) findPublished(ctx context.Context, fullName string) (repo.Repo, error) {
	if !rd.cfg.PublicPages() {
		return repo.Repo{}, repo.ErrNoRepo
	}
	return rd.cfg.Repos.FindPublished(ctx, fullName)
}

// PublicReleases returns a page of the releases of a published repository. content is what it has of each.
func (rd *Reading) PublicReleases(ctx context.Context, fullName, content, cursor string, count int) (out PublicPage, err error) {
	switch content {
	case ContentOriginal, ContentTranslated, ContentPolished, ContentAll:
	default:
		return out, fault.New(fault.BadRequest, "content must be original, translated, polished or all.").With("field", "content")
	}
	if count < 1 || count > MaxPublicLimit {
		return out, fault.New(fault.BadRequest, "limit must be from 1 to %d.", MaxPublicLimit).With("field", "limit")
	}
	var after *repo.Position
	if cursor != "" {
		after = &repo.Position{}
		if err := store.DecodeCursor(cursor, after); err != nil {
			return out, fault.New(fault.BadRequest, "The cursor is not valid for this list.").With("field", "cursor")
		}
	}
	r, err := rd.findPublished(ctx, fullName)
	if err != nil {
		return out, err
	}
	out = PublicPage{Repo: PublicRepo{r.FullName, api.TextOrNull(r.Description), r.HTMLURL}, Status: "ready", Items: []PublicRelease{}}
	if r.SyncedAt == 0 {
		out.Status = "pending_sync"
		return out, nil
	}
	found, err := rd.cfg.Repos.ListAfter(ctx, r.ID, after, count+1)
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
	out.Items, err = rd.publicItems(ctx, found, content)
	return out, err
}

// publicItems returns releases with what is asked for of each.
func (rd *Reading) publicItems(ctx context.Context, found []repo.Release, content string) ([]PublicRelease, error) {
	ids := lists.ConvertAll(found, func(r repo.Release) int64 { return r.ID })
	translated, err := rd.cfg.Translator.Find(ctx, rd.cfg.Readers.Languages()[0], ids, false)
	if err != nil {
		return nil, err
	}
	wants := func(one string) bool { return content == one || content == ContentAll }
	out := make([]PublicRelease, len(found))
	for i, r := range found {
		out[i] = PublicRelease{TagName: r.Tag, HTMLURL: r.HTMLURL, PublishedAt: api.OptionalTime(r.TS), IsPrerelease: r.Prerelease,
			BodyTruncated: r.BodyTruncated}
		if wants(ContentOriginal) {
			out[i].Original.Of = &PublicText{Title: api.TextOrNull(r.Title), Body: api.TextOrNull(r.Body)}
		}
		if wants(ContentTranslated) {
			out[i].Translated.Of = publicText(translated[r.ID].Text)
		}
		if wants(ContentPolished) {
			out[i].Polished.Of = publicText(translated[r.ID].Smart)
		}
	}
	return out, nil
}

// publicText returns a translation that is there, nil for one that is not.
func publicText(t *translation.TranslatedItem) *PublicText {
	if t == nil || t.Status != translation.StatusReady {
		return nil
	}
	return &PublicText{Lang: &t.Lang, Title: t.Title, Body: t.Summary}
}

// PublicRelease returns a release of a published repository, with its whole text and what there is of it in another language.
func (rd *Reading) PublicRelease(ctx context.Context, fullName, tag string) (out ReleaseDetail, err error) {
	p, err := rd.findPublished(ctx, fullName)
	if err != nil {
		return out, err
	}
	r, owner, err := rd.cfg.Repos.FindByTag(ctx, p.FullName, tag)
	if err == nil && owner.ID != p.ID {
		err = repo.ErrNoRelease
	}
	if err != nil {
		return out, err
	}
	return rd.releaseDetail(ctx, r, p, rd.cfg.Readers.Languages()[0])
}
