package releases

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/releases/feed"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/services/releases/translate"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

// The kinds of what is translated.
const (
	kindSummary      = "release_summary"
	kindDetail       = "release_detail"
	kindSmart        = "release_smart"
	kindNotification = "notification"
)

// DefaultLanguage is what is translated into where nothing else is said.
const DefaultLanguage = "zh-CN"

// jobTranslateUpkeep deletes what is old, and picks up what was left over.
const jobTranslateUpkeep = "releases.translate_upkeep"

// newTranslations makes what translates.
func (s *Service) newTranslations() *translate.Translations {
	return translate.New(translate.Config{
		Store: s.cfg.Store, Queue: s.cfg.Queue, Logger: s.log, Compare: s.syncer.CompareDigest,
		// Jobs run by the clock of the queue.
		Now: time.Now, Noted: s.metrics.observeCall,
		Settings: func() translate.Settings {
			st := s.state.Load()
			set := st.settings.Translation
			return translate.Settings{Translator: st.translator, DailyTokens: set.DailyTokens, DailyCostMicros: int64(set.DailyCost * 1e6), BatchTokens: set.BatchTokens}
		},
	})
}

// keepTranslations picks up translations that wait without a job, and deletes what is old.
func (s *Service) keepTranslations(ctx context.Context, _ *queue.Job, _ queue.Progress) (any, error) {
	return nil, errors.Join(s.translations.SubmitLeftOver(ctx), s.translations.DeleteOld(ctx))
}

// Languages returns the languages that may be asked for, at least one; the first is that of readers who have chosen none.
func (s *Service) Languages() []string {
	languages := s.state.Load().settings.Translation.Languages
	if containsLanguage(languages, DefaultLanguage) {
		return languages
	}
	return append(slices.Clip(languages), DefaultLanguage)
}

// containsLanguage reports whether one of the languages is the given one, in any case of its letters.
func containsLanguage(languages []string, language string) bool {
	return slices.ContainsFunc(languages, func(l string) bool { return strings.EqualFold(l, language) })
}

// sourceOf returns the text of something that a user sees, nil if there is no such thing for the user. The text is the one that is
// stored, whatever the caller has seen.
func (s *Service) sourceOf(ctx context.Context, userID, kind, entityID, language string) (*translate.Source, *translate.ReleaseText, error) {
	if kind == kindNotification {
		n, found, err := s.reads.FindNotification(ctx, userID, entityID)
		if err != nil || !found {
			return nil, nil, err
		}
		return &translate.Source{Task: translator.Translate, Language: language, Title: n.SubjectTitle}, nil, nil
	}
	id, err := parseReleaseID(entityID)
	if err != nil {
		return nil, nil, err
	}
	r, p, err := s.repos.FindRelease(ctx, id)
	if err == nil {
		err = s.checkVisibleTo(ctx, userID, r, p)
	}
	if errors.Is(err, repo.ErrNoRelease) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if kind == kindSmart {
		source, text := summarySource(r, language)
		return &source, &text, nil
	}
	source := &translate.Source{Task: translator.Translate, Language: language, Title: r.Title, Body: r.Body}
	if kind == kindDetail {
		source.Body = r.FullBody
	}
	return source, &translate.ReleaseText{ReleaseID: r.ID, Kind: kind, Hash: r.Hash}, nil
}

// askFor returns what a request asks for.
func (s *Service) askFor(ctx context.Context, r translate.Request, priority int, linger time.Duration, retry bool) (translate.Asked, error) {
	source, text, err := s.sourceOf(ctx, r.UserID, r.Kind, r.EntityID, r.Language)
	asked := translate.Asked{Request: r, Release: text}
	if err == nil && source != nil {
		asked.Demand = &translate.Demand{Source: *source, Priority: priority, Linger: linger, Retry: retry}
	}
	return asked, err
}

// TranslationsOf returns the translations of the releases among items of the feed into the caller's language, by their ids.
func (s *Service) TranslationsOf(ctx context.Context, items []feed.Item) (map[int64]Translated, error) {
	language, err := s.languageOf(ctx)
	if err != nil {
		return nil, err
	}
	return s.translatedOf(ctx, language, releaseIDs(items), false)
}

// releaseIDs returns the ids of the releases among items of the feed.
func releaseIDs(items []feed.Item) (ids []int64) {
	for i := range items {
		if items[i].Kind == feed.Release {
			ids = append(ids, items[i].Seq)
		}
	}
	return ids
}

// errorSummaries tell people why there is no translation, in the languages that are read here.
var errorSummaries = map[string][2]string{
	translate.CodeNotConfigured: {"未配置翻译服务。", "No translator is configured."},
	translate.CodeBudget:        {"今天的翻译额度已用完，明天（UTC）恢复。", "The translation budget of today is used up. It begins anew at 00:00 UTC."},
	translate.CodeStructure:     {"译文的 Markdown 结构与原文不一致。", "The structure of the translation differs from that of the text."},
	translate.CodeTooLong:       {"正文过长，无法翻译。", "The text is too long to be translated."},
	translate.CodeUnusable:      {"模型返回的内容无法使用。", "The model's answer could not be used."},
	translate.CodeRejected:      {"翻译服务拒绝了请求。", "The translation service refused the request."},
	translate.CodeUnavailable:   {"翻译服务暂时不可用。", "The translation service is not available at present."},
	translate.CodeInternal:      {"翻译时发生内部错误。", "An internal error occurred."},
}

// errorSummary returns why there is no translation, for people who read a language.
func errorSummary(code, language string) string {
	words := errorSummaries[code]
	if strings.HasPrefix(strings.ToLower(language), "zh") {
		return words[0]
	}
	return words[1]
}

// Translated is what there is of a release in another language.
type Translated struct{ Text, Smart *TranslatedItem }

// translatedOf returns the translations of releases into a language. The whole text is taken before the beginning, which is left out
// if only the whole is wanted.
func (s *Service) translatedOf(ctx context.Context, language string, ids []int64, whole bool) (map[int64]Translated, error) {
	if s.state.Load().translator == nil {
		return nil, nil
	}
	found, err := s.translations.OfReleases(ctx, language, ids)
	out := make(map[int64]Translated, len(ids))
	for _, w := range found {
		t := out[w.Of]
		item := itemOf(w.Work)
		switch {
		case w.Kind == kindSmart:
			t.Smart = item
		case whole && w.Kind == kindSummary:
		case t.Text == nil || t.Text.Status != statusReady || w.Kind == kindDetail && item.Status == statusReady:
			t.Text = item
		}
		out[w.Of] = t
	}
	return out, err
}

const (
	statusReady   = "ready"
	statusMissing = "missing"
)

// itemOf returns a work as answers about releases have it.
func itemOf(w translate.Work) *TranslatedItem {
	no := false
	item := &TranslatedItem{Lang: w.Language, Status: string(w.Outcome), AutoTranslate: &no}
	switch {
	case !w.State.Final():
		// It is on its way.
		item.Status = statusMissing
	case w.Outcome == translate.Ready:
		item.Title, item.Summary = optional(w.OutTitle), optional(w.OutBody)
	case w.ErrorCode != "":
		summary := errorSummary(w.ErrorCode, w.Language)
		item.ErrorCode, item.ErrorSummary, item.ErrorDetail = &w.ErrorCode, &summary, optional(w.ErrorDetail)
	}
	return item
}

// noTranslation is what stands for a translation that there is not: it is missing, or disabled where nothing translates.
func (s *Service) noTranslation(language string) *TranslatedItem {
	if s.state.Load().translator != nil {
		return &TranslatedItem{Lang: language, Status: statusMissing}
	}
	no := false
	return &TranslatedItem{Lang: language, Status: string(translate.Disabled), AutoTranslate: &no}
}

// orElse returns the translations of a release, with none for those that there are not.
func (t Translated) orElse(none *TranslatedItem) Translated {
	return Translated{cmp.Or(t.Text, none), cmp.Or(t.Smart, none)}
}

// StartTranslation has a release translated into the caller's language, or summarised. What has failed is tried once more.
func (s *Service) StartTranslation(ctx context.Context, id string, summary bool) error {
	userID, err := ownerOf(ctx)
	if err != nil {
		return err
	}
	kind := kindDetail
	if summary {
		kind = kindSmart
	}
	language, err := s.languageOf(ctx)
	if err != nil {
		return err
	}
	asked, err := s.askFor(ctx, translate.Request{UserID: userID, Kind: kind, EntityID: id, Language: language}, translate.Interactive, 0, true)
	if err != nil {
		return err
	}
	if asked.Demand == nil {
		return repo.ErrNoRelease
	}
	works, err := s.translations.Works(ctx, []translate.Asked{asked})
	if err == nil && works[0].Outcome == translate.Disabled {
		err = fault.New(fault.QuotaExhausted, "%s", errorSummary(works[0].ErrorCode, "en"))
	}
	return err
}

// translatedKind returns the kind of what a task translates, "" for other tasks.
func translatedKind(task string) string {
	switch task {
	case taskTranslateRelease:
		return kindSummary
	case taskTranslateDetail:
		return kindDetail
	case taskTranslateNotification:
		return kindNotification
	}
	return ""
}

// readEntityID reads what a request wants translated.
func readEntityID(c *gin.Context, kind string) (string, error) {
	raw, err := httpd.ReadBody(c)
	if err != nil {
		return "", err
	}
	field := "release_id"
	if kind == kindNotification {
		field = "thread_id"
	}
	var body map[string]json.RawMessage
	var id string
	if json.Unmarshal(raw, &body) != nil || json.Unmarshal(body[field], &id) != nil || id == "" || len(id) > 200 {
		return "", badTranslation(field, "The body must be a JSON object with the text %s.", field)
	}
	if kind != kindNotification {
		_, err = parseReleaseID(id)
	}
	return id, err
}

// demandOne returns the work for one thing that a user sees, or an error that says that there is no such thing.
func (s *Service) demandOne(ctx context.Context, kind string, in taskPayload) (translate.Work, error) {
	asked, err := s.askFor(ctx, translate.Request{UserID: in.UserID, Kind: kind, EntityID: in.EntityID, Language: DefaultLanguage}, translate.Interactive, 0, false)
	if err != nil {
		return translate.Work{}, err
	}
	works, err := s.translations.Works(ctx, []translate.Asked{asked})
	if err != nil {
		return translate.Work{}, err
	}
	if works[0].Outcome == translate.Missing {
		if kind == kindNotification {
			return works[0], fault.New(fault.NotFound, "There is no such notification.")
		}
		return works[0], repo.ErrNoRelease
	}
	return works[0], nil
}

// translationOf returns a work that has ended as an answer about one thing, or why it failed.
func translationOf(w translate.Work) (Translation, error) {
	if !w.State.Final() {
		return Translation{}, fault.New(fault.Timeout, "The translation takes longer: ask for it again later.")
	}
	if w.Outcome == translate.Failure {
		return Translation{}, fault.New(fault.Internal, "%s", errorSummary(w.ErrorCode, w.Language))
	}
	return Translation{w.Language, string(w.Outcome), optional(w.OutTitle), optional(w.OutBody)}, nil
}

// serveTranslation answers with the translation of one thing.
func (s *Service) serveTranslation(c *gin.Context, kind string, in taskPayload) {
	ctx := c.Request.Context()
	w, err := s.demandOne(ctx, kind, in)
	var works []translate.Work
	if err == nil {
		works, err = s.waitForWorks(ctx, []translate.Work{w}, legacyWait, nil)
	}
	var out Translation
	if err == nil {
		out, err = translationOf(works[0])
	}
	if err != nil {
		httpd.WriteError(c, err)
		return
	}
	c.Header("Cache-Control", "no-store")
	c.JSON(http.StatusOK, out)
}

// translateInTask translates one thing as a part of the task's own job.
func (s *Service) translateInTask(ctx context.Context, job *queue.Job, kind string, in taskPayload) (out Translation, err error) {
	w, err := s.demandOne(ctx, kind, in)
	if err == nil && w.ID != "" {
		if err = s.translations.Finish(ctx, job.ID, []string{w.ID}); err == nil {
			var works []translate.Work
			if works, err = s.translations.List(ctx, []string{w.ID}); err == nil && len(works) > 0 {
				w = works[0]
			}
		}
	}
	if err != nil {
		return out, err
	}
	return translationOf(w)
}
