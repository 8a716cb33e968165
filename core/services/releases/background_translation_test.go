package releases_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/releases"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

func withLanguages(set *releases.Settings) {
	set.Translator, set.Translation.Languages = "translator.main", []string{"de", "fr"}
}

// publishNow has the code host publish a release, and the service read it.
func (s *server) publishNow(r codehost.Release) {
	s.Helper()
	r.PublishedAt = s.clock.now()
	s.publish("acme/engine", r)
	s.clock.advance(fullInterval)
	s.runJob("releases.sync_due")
}

// languagesOf returns the languages of the model's calls so far.
func (s *server) languagesOf() (languages []string) {
	for _, call := range s.model.Calls() {
		languages = append(languages, call.TargetLanguage)
	}
	slices.Sort(languages)
	return languages
}

// TestUnaskedTranslation translates new releases for those who want that, into each language once, and no others.
func TestUnaskedTranslation(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		s.addRepo("acme/engine", day, 2)
		s.runJob("releases.sync_due")
		s.publishNow(codehost.Release{ID: "1", TagName: "v1", Body: "nobody wants it in another language"})
		s.choose(dict{"auto_translate": true})
		s.want(200, "", s.bob, http.MethodPut, "/api/preferences",
			dict{"time_zone": "UTC", "brief_hour": 8, "brief_daily": false, "include_own_releases": false, "auto_translate": true,
				"translation_language": "fr"})
		carol, key, err := s.users.Create(t.Context(), "carol@example.com", "Carol", auth.Member)
		must(t, err)
		s.want(200, "", key, http.MethodPut, "/api/preferences",
			dict{"time_zone": "UTC", "brief_hour": 8, "brief_daily": false, "include_own_releases": false, "auto_translate": true,
				"translation_language": "zh-CN"})
		disabled := true
		_, err = s.users.Change(t.Context(), carol.ID, auth.UserChange{Disabled: &disabled})
		must(t, err)
		s.publishNow(codehost.Release{ID: "2", TagName: "v2", Name: "Second", Body: "faster words"})
		testkit.Eventually(t, 20*time.Second, func() bool { return len(s.model.Calls()) >= 2 },
			"the release is not translated into both languages")
		s.want(200, "", s.ada, http.MethodPut, "/api/repos/acme/engine/filter", dict{"muted": true})
		s.want(200, "", s.bob, http.MethodPut, "/api/repos/acme/engine/filter", dict{"keyword": "nothing has it"})
		s.publishNow(codehost.Release{ID: "3", TagName: "v3", Body: "filters hide it"})
		s.want(200, "", s.ada, http.MethodPut, "/api/repos/acme/engine/filter", dict{})
		old := codehost.Release{ID: "4", TagName: "v4", Body: "too old", PublishedAt: s.clock.now().AddDate(0, -1, 0)}
		s.publish("acme/engine", old)
		s.clock.advance(fullInterval)
		s.runJob("releases.sync_due")
		if got := s.languagesOf(); !slices.Equal(got, []string{"de", "fr"}) {
			t.Errorf("the model was asked for %q", got)
		}
		for who, language := range map[string]string{s.ada: "de", s.bob: "fr"} {
			ctx := auth.With(context.Background(), &auth.Principal{User: s.userOf(who)})
			testkit.Eventually(t, 20*time.Second, func() bool {
				r, err := s.service.Release(ctx, "acme/engine", "v2", "")
				must(t, err)
				item := r.Translated.Of
				return item.Status == "ready" && item.Lang == language && strings.Contains(*item.Summary, "译faster words")
			}, "the release cannot be read in "+language)
		}
		if left := s.countUnfinished(); left != 0 {
			t.Errorf("%d texts wait", left)
		}
	}, withRepos("acme/engine"), withLanguages)
}

// countUnfinished counts the texts whose translation has not ended.
func (s *server) countUnfinished() (n int) {
	s.Helper()
	must(s, s.store.DB(context.Background()).Raw("SELECT COUNT(*) FROM release_translations WHERE state NOT IN ('completed', 'failed')").Scan(&n).Error)
	return n
}

// TestLanguages refuses a language that is not configured, and names those that are.
func TestLanguages(t *testing.T) {
	s := startServer(t, sqlite(t), withLanguages)
	got := s.want(400, "bad_request", s.ada, http.MethodPut, "/api/preferences",
		dict{"time_zone": "UTC", "brief_hour": 8, "brief_daily": true, "include_own_releases": false, "translation_language": "it"})
	if got["field"] != "translation_language" || got["message"] != "translation_language must be one of de, fr, zh-CN, en." {
		t.Errorf("got %v", got)
	}
	s.choose(dict{"translation_language": "fr", "auto_translate": true})
	if got := s.want(200, "", s.ada, http.MethodGet, "/api/preferences", nil); got["translation_language"] != "fr" ||
		got["auto_translate"] != true {
		t.Errorf("got %v", got)
	}
	// The API's own language stays.
	id := s.addReleases("Some words")[0]
	if got := s.want(200, "", s.ada, http.MethodGet, "/api/releases/"+id+"/detail", nil); got["translated"].(dict)["lang"] != "zh-CN" {
		t.Errorf("got %v", got)
	}
}

// TestBriefsWithSummaries writes a brief at once, and again when the summaries of its releases are there.
func TestBriefsWithSummaries(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		s.model.Answer(func(req translator.Request) *translator.Answer {
			body := "- 更快 [docs](https://elsewhere.example/x) <b>和</b>\n- # 修复 https://elsewhere.example/y\n"
			return &translator.Answer{Parts: []translator.Part{{Name: translator.PartTitle, Text: "标题"},
				{Name: translator.PartBody, Text: body}}, Attempts: []translator.Attempt{{Model: "fake", Outcome: translator.OK}}}
		})
		held := make(chan struct{})
		s.model.Before(func(context.Context, translator.Request) { <-held })
		s.addRepo("acme/engine", day, 0)
		s.publish("acme/engine", codehost.Release{ID: "1", TagName: "v1", Body: "Words", PublishedAt: s.clock.now().Add(-6 * time.Hour)})
		s.runJob("releases.sync_due")
		made := s.want(200, "", s.ada, http.MethodPost, "/api/briefs/generate", nil)
		if text := made["content_markdown"].(string); !strings.Contains(text, "  - 有更新说明，详情见发布页面。\n") {
			t.Errorf("the first text is\n%s", text)
		}
		s.runJob("releases.refresh_briefs")
		path := "/api/briefs/" + made["id"].(string)
		if got := s.want(200, "", s.ada, http.MethodGet, path, nil); got["content_markdown"] != made["content_markdown"] {
			t.Errorf("it was written again without a summary: %v", got)
		}
		close(held)
		testkit.Eventually(t, 20*time.Second, func() bool {
			s.runJob("releases.refresh_briefs")
			text := s.want(200, "", s.ada, http.MethodGet, path, nil)["content_markdown"].(string)
			return strings.Contains(text, "\n  - 更快 docs 和\n  - 修复\n") && !strings.Contains(text, "有更新说明")
		}, "the brief lacks the summary")
		calls := len(s.model.Calls())
		again := s.want(200, "", s.ada, http.MethodPost, "/api/briefs/generate", nil)
		if text := again["content_markdown"].(string); again["id"] != made["id"] || !strings.Contains(text, "更快 docs") ||
			len(s.model.Calls()) != calls || calls != 1 {
			t.Errorf("%d calls of the model, then %d, and\n%s", calls, len(s.model.Calls()), text)
		}
		var waiting int
		must(t, s.store.DB(context.Background()).Raw("SELECT COUNT(*) FROM release_briefs WHERE awaits_summaries").Scan(&waiting).Error)
		if waiting != 0 {
			t.Errorf("%d briefs wait", waiting)
		}
	}, withRepos("acme/engine"), withTranslator, func(set *releases.Settings) { set.Translation.Briefs = true })
}

// TestUpdatesTellOfTranslations: a translation that has come is a change of the feed.
func TestUpdatesTellOfTranslations(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		id := s.addReleases("Some words of the release")[0]
		const path = "/api/dashboard/updates?include=feed&token="
		token := s.want(200, "", s.ada, http.MethodGet, path, nil)["token"].(string)
		if s.want(200, "", s.ada, http.MethodGet, path+token, nil)["token"] != token {
			t.Error("nothing has happened, and the token is another")
		}
		s.translate(s.ada, "release_summary", id)
		got := s.want(200, "", s.ada, http.MethodGet, path+token, nil)
		if feed := got["lists"].(dict)["feed"].(dict); feed["changed"] != true ||
			!slices.Equal(feed["latest_keys"].([]any), []any{"release:" + id}) {
			t.Errorf("got %v", got)
		}
	}, withTranslator)
}
