// Package translation has what users see translated, and tells what there is of it.
package translation

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/releases/feed"
	"github.com/patchbay-dev/patchbay/core/services/releases/reader"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/services/releases/sync"
	"github.com/patchbay-dev/patchbay/core/services/releases/translate"
	"github.com/patchbay-dev/patchbay/core/texts/locale"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

// Settings are what translates, and what that may take.
type Settings struct {
	// Model translates; nil if none is configured.
	Model translator.Translator
	// Briefs says that briefs have summaries of releases.
	Briefs      bool
	DailyTokens int64
	DailyCost   float64
}

// Config is what a Translator needs.
type Config struct {
	Translations *translate.Translations
	Repos        *repo.Store
	Reads        *sync.State
	Readers      *reader.Readers
	Logger       hclog.Logger
	Settings     func() Settings
}

// Translator has what users see translated.
type Translator struct{ cfg Config }

// New returns what has releases and notifications translated.
func New(cfg Config) *Translator { return &Translator{cfg} }

// Enabled reports whether something translates.
func (tr *Translator) Enabled() bool { return tr.cfg.Settings().Model != nil }

// TranslatedItem is the state of a translation.
type TranslatedItem struct {
	Lang          string  `json:"lang" example:"zh-CN"`
	Status        string  `json:"status" enum:"ready,missing,disabled,error,insufficient"`
	Title         *string `json:"title"`
	Summary       *string `json:"summary"`
	ErrorCode     *string `json:"error_code"`
	ErrorSummary  *string `json:"error_summary"`
	ErrorDetail   *string `json:"error_detail"`
	AutoTranslate *bool   `json:"auto_translate"`
}

// Translation is the translation of one thing.
type Translation struct {
	Lang    string  `json:"lang" example:"zh-CN"`
	Status  string  `json:"status" enum:"ready,disabled"`
	Title   *string `json:"title"`
	Summary *string `json:"summary"`
}

// The kinds of what is translated.
const (
	KindSummary      = "release_summary"
	KindDetail       = "release_detail"
	KindSmart        = "release_smart"
	KindNotification = "notification"
)

// MaxLinger is how long a text waits for others with which it is sent, ShortLinger if somebody waits for it.
const MaxLinger, ShortLinger = 2 * time.Second, 200 * time.Millisecond

// findSource returns the text of something that a user sees, nil if there is no such thing for the user. The text is the one that is
// stored, whatever the caller has seen.
func (tr *Translator) findSource(ctx context.Context, userID, kind, entityID,
	language string) (*translate.Source, *translate.ReleaseText, error) {
	if kind == KindNotification {
		n, found, err := tr.cfg.Reads.FindNotification(ctx, userID, entityID)
		if err != nil || !found {
			return nil, nil, err
		}
		return &translate.Source{Task: translator.Translate, Language: language, Title: n.SubjectTitle}, nil, nil
	}
	id, err := repo.ParseReleaseID(entityID)
	if err != nil {
		return nil, nil, err
	}
	r, p, err := tr.cfg.Repos.FindRelease(ctx, id)
	if err == nil {
		err = tr.cfg.Readers.CheckVisibleTo(ctx, userID, r, p)
	}
	if errors.Is(err, repo.ErrNoRelease) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if kind == KindSmart {
		source, text := summarySource(r, language)
		return &source, &text, nil
	}
	source := &translate.Source{Task: translator.Translate, Language: language, Title: r.Title, Body: r.Body}
	if kind == KindDetail {
		source.Body = r.FullBody
	}
	return source, &translate.ReleaseText{ReleaseID: r.ID, Kind: kind, Hash: r.Hash}, nil
}

// AskFor returns what a request asks for.
func (tr *Translator) AskFor(ctx context.Context, r translate.Request, priority int, linger time.Duration,
	retry bool) (translate.Asked, error) {
	source, text, err := tr.findSource(ctx, r.UserID, r.Kind, r.EntityID, r.Language)
	asked := translate.Asked{Request: r, Release: text}
	if err == nil && source != nil {
		asked.Demand = &translate.Demand{Source: *source, Priority: priority, Linger: linger, Retry: retry}
	}
	return asked, err
}

// TranslateItems returns the translations of the releases among items of the feed into the caller's language, by their ids.
func (tr *Translator) TranslateItems(ctx context.Context, items []feed.Item) (map[int64]Translated, error) {
	language, err := tr.cfg.Readers.Language(ctx)
	if err != nil {
		return nil, err
	}
	return tr.Find(ctx, language, ReleaseIDs(items), false)
}

// ReleaseIDs returns the ids of the releases among items of the feed.
func ReleaseIDs(items []feed.Item) (ids []int64) {
	for i := range items {
		if items[i].Kind == feed.Release {
			ids = append(ids, items[i].Seq)
		}
	}
	return ids
}

// ErrorSummary returns why there is no translation, for people who read a language; "" for an unknown code.
func ErrorSummary(code, language string) string {
	lang := locale.English
	if strings.HasPrefix(strings.ToLower(language), locale.Chinese) {
		lang = locale.Chinese
	}
	if !allTexts().Known(code) {
		return ""
	}
	return allTexts().Text(lang, code)
}

// Translated is what there is of a release in another language.
type Translated struct{ Text, Smart *TranslatedItem }

// Find returns the translations of releases into a language. The whole text is taken before the beginning, which is left out
// if only the whole is wanted.
func (tr *Translator) Find(ctx context.Context, language string, ids []int64, whole bool) (map[int64]Translated, error) {
	if !tr.Enabled() {
		return nil, nil
	}
	found, err := tr.cfg.Translations.OfReleases(ctx, language, ids)
	out := make(map[int64]Translated, len(ids))
	for _, w := range found {
		t := out[w.Of]
		item := newItem(w.Work)
		switch {
		case w.Kind == KindSmart:
			t.Smart = item
		case whole && w.Kind == KindSummary:
		case t.Text == nil || t.Text.Status != StatusReady || w.Kind == KindDetail && item.Status == StatusReady:
			t.Text = item
		}
		out[w.Of] = t
	}
	return out, err
}

const (
	// StatusReady is the status of a translation that is there.
	StatusReady   = "ready"
	statusMissing = "missing"
)

// newItem returns a work as answers about releases have it.
func newItem(w translate.Work) *TranslatedItem {
	no := false
	item := &TranslatedItem{Lang: w.Language, Status: string(w.Outcome), AutoTranslate: &no}
	switch {
	case !w.State.Final():
		// It is on its way.
		item.Status = statusMissing
	case w.Outcome == translate.Ready:
		item.Title, item.Summary = api.TextOrNull(w.OutTitle), api.TextOrNull(w.OutBody)
	case w.ErrorCode != "":
		summary := ErrorSummary(w.ErrorCode, w.Language)
		item.ErrorCode, item.ErrorSummary, item.ErrorDetail = &w.ErrorCode, &summary, api.TextOrNull(w.ErrorDetail)
	}
	return item
}

// NoTranslation is what stands for a translation that there is not: it is missing, or disabled where nothing translates.
func (tr *Translator) NoTranslation(language string) *TranslatedItem {
	if tr.Enabled() {
		return &TranslatedItem{Lang: language, Status: statusMissing}
	}
	no := false
	return &TranslatedItem{Lang: language, Status: string(translate.Disabled), AutoTranslate: &no}
}

// StartTranslation has a release translated into the caller's language, or summarised. What has failed is tried once more.
func (tr *Translator) StartTranslation(ctx context.Context, id string, summary bool) error {
	userID, err := reader.OwnerID(ctx)
	if err != nil {
		return err
	}
	kind := KindDetail
	if summary {
		kind = KindSmart
	}
	language, err := tr.cfg.Readers.Language(ctx)
	if err != nil {
		return err
	}
	asked, err := tr.AskFor(ctx, translate.Request{UserID: userID, Kind: kind, EntityID: id, Language: language}, translate.Interactive, 0,
		true)
	if err != nil {
		return err
	}
	if asked.Demand == nil {
		return repo.ErrNoRelease
	}
	works, err := tr.cfg.Translations.Works(ctx, []translate.Asked{asked})
	if err == nil && works[0].Outcome == translate.Disabled {
		err = fault.New(fault.QuotaExhausted, "%s", ErrorSummary(works[0].ErrorCode, "en"))
	}
	return err
}

// Wanted is one thing that a user wants translated into the default language.
type Wanted struct{ UserID, Kind, EntityID string }

// DemandOne returns the work for one thing that a user sees, or an error that says that there is no such thing.
func (tr *Translator) DemandOne(ctx context.Context, in Wanted) (translate.Work, error) {
	asked, err := tr.AskFor(ctx, translate.Request{UserID: in.UserID, Kind: in.Kind, EntityID: in.EntityID, Language: reader.DefaultLanguage},
		translate.Interactive, 0, false)
	if err != nil {
		return translate.Work{}, err
	}
	works, err := tr.cfg.Translations.Works(ctx, []translate.Asked{asked})
	if err != nil {
		return translate.Work{}, err
	}
	if works[0].Outcome == translate.Missing {
		if in.Kind == KindNotification {
			return works[0], fault.New(fault.NotFound, "There is no such notification.")
		}
		return works[0], repo.ErrNoRelease
	}
	return works[0], nil
}

// TranslationOf returns a work that has ended as an answer about one thing, or why it failed.
func TranslationOf(w translate.Work) (Translation, error) {
	if !w.State.Final() {
		return Translation{}, fault.New(fault.Timeout, "The translation is not ready yet: try again later.")
	}
	if w.Outcome == translate.Failure {
		return Translation{}, fault.New(fault.Internal, "%s", ErrorSummary(w.ErrorCode, w.Language))
	}
	return Translation{w.Language, string(w.Outcome), api.TextOrNull(w.OutTitle), api.TextOrNull(w.OutBody)}, nil
}

// TranslateInTask translates one thing as a part of the task's own job.
func (tr *Translator) TranslateInTask(ctx context.Context, job *queue.Job, in Wanted) (out Translation, err error) {
	w, err := tr.DemandOne(ctx, in)
	if err == nil && w.ID != "" {
		if err = tr.cfg.Translations.Finish(ctx, job.ID, []string{w.ID}); err == nil {
			var works []translate.Work
			if works, err = tr.cfg.Translations.List(ctx, []string{w.ID}); err == nil && len(works) > 0 {
				w = works[0]
			}
		}
	}
	if err != nil {
		return out, err
	}
	return TranslationOf(w)
}

// OrElse returns the translations of a release, with none for those that there are not.
func (t Translated) OrElse(none *TranslatedItem) Translated {
	return Translated{cmp.Or(t.Text, none), cmp.Or(t.Smart, none)}
}
