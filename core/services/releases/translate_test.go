package releases_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/services/releases"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

func withTranslator(set *releases.Settings) { set.Translator = "translator.main" }

// addReleases puts a repository with releases before Ada and Bob, and returns the ids of the releases, the newest first.
func (s *server) addReleases(bodies ...string) (ids []string) {
	s.Helper()
	s.addRepo("acme/tool", day, len(bodies))
	s.host.Change("acme/tool", func(c *fake.CodeHostContent) {
		for i := range c.Releases {
			c.Releases[i].Body = bodies[i]
		}
	})
	for _, who := range []string{s.ada, s.bob} {
		s.want(http.StatusOK, "", who, "PUT", "/api/repos/acme/tool/following", nil)
	}
	s.want(http.StatusOK, "", s.ada, "POST", "/api/sync/releases", nil)
	for _, r := range s.list(s.ada, "/api/releases") {
		ids = append(ids, r["release_id"].(string))
	}
	return ids
}

// input returns an input of a request for a translation.
func input(kind, id string) dict {
	return dict{
		"producer_ref": "ref-" + id, "kind": kind, "variant": "card", "entity_id": id, "target_lang": "zh-CN", "max_wait_ms": 30000,
		"source_blocks": []dict{{"slot": "title", "text": "x"}}, "target_slots": []string{"title_zh", "summary_md", "body_md"},
	}
}

// translate asks for a translation and waits for it.
func (s *server) translate(who, kind, id string) dict {
	s.Helper()
	return s.want(http.StatusOK, "", who, "POST", "/api/translate/requests", dict{"mode": "wait", "item": input(kind, id)})
}

func TestTranslationIsReady(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		ids := s.addReleases("## Changes\n\n- faster `parse()`, see #12 by @ada\n")
		got := s.translate(s.ada, "release_detail", ids[0])
		result := got["result"].(dict)
		if got["status"] != "completed" || result["status"] != "ready" || result["title_zh"] != "译acme/tool v1.0.0" ||
			result["body_md"] != "## 译Changes\n\n- 译faster `parse()`, see #12 by @ada" {
			t.Fatalf("%v", got)
		}
		if result["work_item_id"] == nil || result["batch_id"] == nil || result["error"] != nil || result["producer_ref"] != "ref-"+ids[0] {
			t.Errorf("%v", result)
		}
		again := s.want(http.StatusOK, "", s.ada, "GET", "/api/translate/requests/"+got["request_id"].(string), nil)
		if again["result"].(dict)["body_md"] != result["body_md"] {
			t.Errorf("%v", again)
		}
		s.want(http.StatusNotFound, "not_found", s.bob, "GET", "/api/translate/requests/"+got["request_id"].(string), nil)
		if text := s.model.Calls()[0].Parts[1].Text; strings.Contains(text, "parse") || strings.Contains(text, "#12") ||
			strings.Contains(text, "@ada") {
			t.Errorf("the model has seen what must not change: %q", text)
		}
		item := s.want(http.StatusOK, "", s.ada, "GET", "/api/feed", nil)["items"].([]any)[0].(dict)["translated"].(dict)
		if item["status"] != "ready" || item["title"] != "译acme/tool v1.0.0" || !strings.Contains(item["summary"].(string), "译faster") {
			t.Errorf("the feed has %v", item)
		}
		detail := s.want(http.StatusOK, "", s.ada, "GET", "/api/releases/"+ids[0]+"/detail", nil)
		if detail["translated"].(dict)["status"] != "ready" || detail["smart"].(dict)["status"] != "missing" {
			t.Errorf("the release has %v", detail)
		}
	}, withTranslator)
}

func TestOneCallForTenUsers(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		ids := s.addReleases("Some words of the release")
		keys := []string{s.ada, s.bob}
		for i := range 8 {
			_, key, err := s.users.Create(context.Background(), fmt.Sprintf("u%d@example.com", i), "U", "member")
			must(t, err)
			s.want(http.StatusOK, "", key, "PUT", "/api/repos/acme/tool/following", nil)
			keys = append(keys, key)
		}
		var wait sync.WaitGroup
		for _, key := range keys {
			for _, kind := range []string{"release_summary", "release_detail"} {
				wait.Go(func() {
					if got := s.translate(key, kind, ids[0]); got["status"] != "completed" {
						t.Errorf("%v", got)
					}
				})
			}
		}
		wait.Wait()
		if n := len(s.model.Calls()); n != 1 {
			t.Errorf("%d calls of the model", n)
		}
	}, withTranslator)
}

func TestLimitThenReady(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		ids := s.addReleases("Some words of the release")
		s.model.Fail(translator.RateLimited(time.Second, "slow down"))
		if got := s.translate(s.ada, "release_summary", ids[0]); got["result"].(dict)["status"] != "ready" {
			t.Errorf("%v", got)
		}
		use, err := s.service.ModelUse(asAdmin(), "")
		must(t, err)
		if len(use.Calls) != 2 || use.Calls[1].Outcome != translator.OutcomeRateLimited || use.Calls[0].InputTokens != 10 ||
			use.Today.CostMicros != 1000 || use.Today != use.Period || use.Today.Calls != 2 {
			t.Errorf("%+v", use)
		}
	}, withTranslator)
}

// TestAnswersOfAnyCharacters: what no database takes is left out of texts and messages of models, which end within a character.
func TestAnswersOfAnyCharacters(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		ids := s.addReleases("one thing")
		s.model.Answer(func(req translator.Request) *translator.Answer {
			attempt := fake.TranslatorAttempt(translator.OutcomeBadAnswer)
			attempt.Message = "\x00" + strings.Repeat("误", 1000)
			out := &translator.Answer{Attempts: []translator.Attempt{attempt, fake.TranslatorAttempt(translator.OK)}}
			for _, p := range req.Parts {
				p.Text = "译\x00文\xff" + p.Text
				out.Parts = append(out.Parts, p)
			}
			return out
		})
		if got := s.translate(s.ada, "release_summary", ids[0]); got["status"] != "completed" {
			t.Fatalf("%v", got)
		}
		s.model.Answer(func(translator.Request) *translator.Answer {
			return &translator.Answer{Problem: strings.Repeat("误", 1000) + "\x00",
				Attempts: []translator.Attempt{fake.TranslatorAttempt(translator.OutcomeBadAnswer)}}
		})
		if got := s.translate(s.ada, "release_smart", ids[0])["result"].(dict); got["error_code"] != "unusable_answer" {
			t.Errorf("%v", got)
		}
	}, withTranslator)
}

func TestGarbageIsAnErrorWithASummary(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		ids := s.addReleases("- one thing\n- two things")
		answer := func(body string) func(translator.Request) *translator.Answer {
			return func(req translator.Request) *translator.Answer {
				out := &translator.Answer{Attempts: []translator.Attempt{fake.TranslatorAttempt(translator.OK)}}
				for _, p := range req.Parts {
					if p.Markdown {
						p.Text = body
					}
					out.Parts = append(out.Parts, p)
				}
				return out
			}
		}
		s.model.Answer(answer("- 只有一项"))
		got := s.translate(s.ada, "release_summary", ids[0])
		result := got["result"].(dict)
		if got["status"] != "failed" || result["status"] != "error" || result["error_code"] != "markdown_structure_mismatch" ||
			result["error_summary"] != "译文的 Markdown 结构与原文不一致。" || result["error"] != result["error_summary"] || result["error_detail"] == nil {
			t.Fatalf("%v", got)
		}
		calls := s.model.Calls()
		if len(calls) != 2 || calls[0].Correction != "" || calls[1].Correction == "" || len(calls[1].Parts) != 1 {
			t.Errorf("%d calls: %+v", len(calls), calls)
		}
		// It is not tried again by being asked for, but when the caller wants that.
		body := dict{"items": []dict{input("release_summary", ids[0])}}
		first := func() dict {
			return s.want(http.StatusOK, "", s.ada, "POST", "/api/translate/results", body)["items"].([]any)[0].(dict)
		}
		if got := first(); got["status"] != "error" || len(s.model.Calls()) != 2 {
			t.Errorf("%v", got)
		}
		s.model.Answer(answer("- 一\n- 二"))
		body["retry_on_error"] = true
		if got := first(); got["status"] != "queued" {
			t.Errorf("%v", got)
		}
		body["retry_on_error"] = false
		s.until("it is ready", func() bool { return first()["status"] == "ready" })
		s.model.Answer(func(translator.Request) *translator.Answer {
			return &translator.Answer{Problem: "it is not JSON", Attempts: []translator.Attempt{fake.TranslatorAttempt(translator.OutcomeBadAnswer)}}
		})
		if got := s.translate(s.ada, "release_smart", ids[0])["result"].(dict); got["error_code"] != "unusable_answer" {
			t.Errorf("%v", got)
		}
	}, withTranslator)
}

// until waits until something is so.
func (s *server) until(what string, so func() bool) {
	s.Helper()
	for range 400 {
		if so() {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	s.Fatal("it never came about that " + what)
}

func TestLongBodyIsTheSameOutsideOfProse(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		var body strings.Builder
		for i := range 60 {
			fmt.Fprintf(&body, "## Part %d\n\nWords with `code %d` and [a link](https://x.example/%d).\n\n```go\n// not a comment to translate %d\nf()\n\ng()\n```\n\n- item #%d\n\n", i, i, i, i, i)
		}
		source := strings.TrimSpace(body.String())
		ids := s.addReleases(source)
		result := s.translate(s.ada, "release_detail", ids[0])["result"].(dict)
		if result["status"] != "ready" {
			t.Fatalf("%v", result)
		}
		if got := result["body_md"].(string); strings.ReplaceAll(got, "译", "") != source || strings.Count(got, "译") < 180 {
			t.Errorf("what is no prose has changed: %.600s", got)
		}
		if n := len(s.model.Calls()); n < 2 {
			t.Errorf("the text was sent in %d calls", n)
		}
	}, withTranslator, func(set *releases.Settings) { set.Translation.BatchTokens = 300 })
}

func TestBudgetDisables(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		ids := s.addReleases("Some words of the release", "Other words of the release")
		if got := s.translate(s.ada, "release_summary", ids[0])["result"].(dict); got["status"] != "ready" {
			t.Fatalf("%v", got)
		}
		got := s.translate(s.ada, "release_summary", ids[1])
		result := got["result"].(dict)
		if got["status"] != "completed" || result["status"] != "disabled" || result["error_code"] != "budget_reached" ||
			!strings.Contains(result["error_summary"].(string), "额度") {
			t.Errorf("%v", got)
		}
		if n := len(s.model.Calls()); n != 1 {
			t.Errorf("%d calls of the model", n)
		}
		if got := s.translate(s.ada, "release_summary", ids[0])["result"].(dict); got["status"] != "ready" {
			t.Errorf("what was there before: %v", got)
		}
	}, withTranslator, func(set *releases.Settings) { set.Translation.DailyCost = 0.001 })
}

func TestWithoutTranslatorNothingIsQueued(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		ids := s.addReleases("Some words of the release")
		if got := s.translate(s.ada, "release_summary", ids[0]); got["status"] != "completed" ||
			got["result"].(dict)["error_code"] != "not_configured" {
			t.Errorf("%v", got)
		}
		if got := s.want(http.StatusOK, "", s.ada, "POST", "/api/translate/release", dict{"release_id": ids[0]}); got["status"] != "disabled" {
			t.Errorf("%v", got)
		}
		s.want(http.StatusNotFound, "not_found", s.ada, "POST", "/api/translate/release", dict{"release_id": "999"})
	})
}

func TestSummaries(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		ids := s.addReleases("Bugfixes", "First")
		s.host.Change("acme/tool", func(c *fake.CodeHostContent) {
			c.Comparisons = map[string]codehost.Comparison{"v1.0.0...v1.1.0": {TotalCommits: 1,
				Commits: []codehost.Commit{{Hash: "1", Subject: "speed up the parser"}}, Files: []codehost.ChangedFile{
					{Path: "go.sum", Status: "modified", Patch: "+noise"}, {Path: "parser.go", Status: "modified", Patch: "+fast()"},
				}}}
		})
		s.model.Answer(func(req translator.Request) *translator.Answer {
			out := &translator.Answer{Attempts: []translator.Attempt{fake.TranslatorAttempt(translator.OK)}}
			if last := req.Parts[len(req.Parts)-1]; last.Name != "changes" {
				out.Insufficient = true
			} else {
				out.Parts = []translator.Part{{Name: "title", Text: "标题"}, {Name: "body", Text: "- " + last.Text}}
			}
			return out
		})
		result := s.translate(s.ada, "release_smart", ids[0])["result"].(dict)
		if text, _ := result["summary_md"].(string); result["status"] != "ready" || !strings.Contains(text, "speed up the parser") ||
			!strings.Contains(text, "+fast()") || strings.Contains(text, "noise") {
			t.Errorf("%v", result)
		}
		if got := s.translate(s.ada, "release_smart", ids[1])["result"].(dict); got["status"] != "insufficient" {
			t.Errorf("the first release: %v", got)
		}
	}, withTranslator)
}

func TestTranslationInputs(t *testing.T) {
	s := startServer(t, sqlite(t), withTranslator)
	ids := s.addReleases("Some words of the release")
	for field, change := range map[string]func(dict){
		"item.kind":          func(d dict) { d["kind"] = "x" },
		"item.target_lang":   func(d dict) { d["target_lang"] = "de" },
		"item.target_slots":  func(d dict) { d["target_slots"] = []string{"title_zh", "title_zh"} },
		"item.source_blocks": func(d dict) { d["source_blocks"] = []dict{{"slot": "title", "text": " "}} },
		"item.producer_ref":  func(d dict) { d["producer_ref"] = "" },
		"item.variant":       func(d dict) { d["variant"] = strings.Repeat("x", 101) },
	} {
		in := input("release_summary", ids[0])
		change(in)
		if got := s.want(http.StatusBadRequest, "bad_request", s.ada, "POST", "/api/translate/requests",
			dict{"mode": "async", "item": in}); got["field"] != field {
			t.Errorf("%s: %v", field, got)
		}
	}
	one := input("release_summary", ids[0])
	for name, body := range map[string]any{
		"both": dict{"mode": "async", "item": one, "items": []dict{one}}, "neither": dict{"mode": "async"},
		"mode":            dict{"mode": "x", "item": one},
		"items that wait": dict{"mode": "wait", "items": []dict{one}}, "no JSON": "{", "61": dict{"mode": "async", "items": make([]dict, 61)},
	} {
		if got := s.send(s.ada, "POST", "/api/translate/requests", body); got.status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	missing := s.translate(s.ada, "release_summary", "999")
	if missing["status"] != "failed" || missing["result"].(dict)["status"] != "missing" {
		t.Errorf("%v", missing)
	}
	for path, body := range map[string]any{
		"/api/translate/release": dict{}, "/api/translate/releases/batch": dict{"release_ids": []string{}},
		"/api/translate/release/detail/batch": dict{"release_ids": make([]string, 21)},
		"/api/translate/notifications/batch":  dict{"thread_ids": "x"}, "/api/translate/release/detail": dict{"release_id": "x"},
	} {
		s.want(http.StatusBadRequest, "bad_request", s.ada, "POST", path, body)
	}
}

// asAdmin returns the context of a request of an administrator.
func asAdmin() context.Context {
	return auth.With(context.Background(), &auth.Principal{User: auth.User{ID: "usr_admin", Role: auth.Admin}})
}
