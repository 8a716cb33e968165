package releases_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

const wholeBrief = `## 项目更新

### [acme/loom](https://codehost.example/acme/loom)

- [acme/loom v1.0.0](/acme/loom/releases/tag/v1.0.0?from=briefs) · 2026-03-01 09:30 · [GitHub Release](https://codehost.example/acme/loom/releases/tag/v1.0.0)
  - 有更新说明，详情见发布页面。

### [acme/engine](https://codehost.example/acme/engine)

- [\[v2\] of \*everything\*](/acme/engine/releases/tag/pkg%2Fv2?from=briefs) · 2026-03-01 09:00 · 预发布 · [GitHub Release](https://codehost.example/acme/engine/x)
  - 有更新说明，详情见发布页面。
  - 相关链接：[#12](https://codehost.example/acme/engine/issues/12) · [0123456](https://codehost.example/acme/engine/commit/0123456789abcdef)
- [v1](/acme/engine/releases/tag/v1?from=briefs) · 2026-03-01 08:00
  - 没有可提取的更新说明。

## 获星与关注

### 获星

- [ada/notes](/focus/repo/ada/notes)：[@u4](https://codehost.example/u4)、[@u3](https://codehost.example/u3)、[@u2](https://codehost.example/u2)、[@u1](https://codehost.example/u1) 等 5 人
`

func TestBriefs(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		morning := time.Date(2026, 3, 1, 7, 0, 0, 0, time.UTC)
		engine, own := s.addRepo("acme/engine", day, 0), s.addRepo("ada/notes", day, 0)
		s.publish("acme/engine", codehost.Release{ID: "old", TagName: "v0", PublishedAt: morning.Add(-24*time.Hour - time.Millisecond)})
		s.publish("acme/engine", codehost.Release{ID: "1", TagName: "v1", PublishedAt: morning})
		s.publish("acme/engine", codehost.Release{ID: "2", TagName: "pkg/v2", Name: "[v2] of *everything*", Prerelease: true,
			PublishedAt: morning.Add(time.Hour), HTMLURL: "https://codehost.example/acme/engine/x",
			Body: "Fixes https://codehost.example/acme/engine/issues/12 (https://codehost.example/acme/engine/commit/0123456789abcdef), not https://codehost.example/other/thing/issues/1"})
		s.publish("acme/engine", codehost.Release{ID: "late", TagName: "v3", PublishedAt: morning.Add(2 * time.Hour)})
		s.star("ada", engine, day)
		s.star("ada", s.addRepo("acme/loom", morning.Add(90*time.Minute), 1), day)
		s.host.Change("ada", func(c *fake.CodeHostContent) { c.Owned = []codehost.Repository{own} })
		s.host.Change("ada/notes", func(c *fake.CodeHostContent) {
			for _, name := range []string{"u0", "u1", "u2", "u3", "u4"} {
				at := morning.Add(time.Duration(len(c.Stargazers)) * time.Minute)
				c.Stargazers = append(c.Stargazers, codehost.Stargazer{Account: codehost.Account{Login: name,
					HTMLURL: "https://codehost.example/" + name}, StarredAt: at})
			}
		})
		s.saveToken()
		s.want(200, "", s.ada, http.MethodPost, "/api/sync/all", nil)
		s.want(200, "", s.ada, http.MethodPut, "/api/preferences",
			dict{"time_zone": "Europe/Berlin", "brief_hour": 10, "brief_daily": true, "include_own_releases": false})
		s.want(200, "", s.ada, http.MethodPost, "/api/briefs/generate", dict{"date": "2026-03-01"})
		checkBrief(t, s, morning)
	})
}

// TestBriefInEnglish writes the brief of a day with more releases than it lists for a reader of English: the words are English, and the
// count is true.
func TestBriefInEnglish(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		s.addRepo("acme/engine", time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), 0)
		s.host.Change("acme/engine", func(c *fake.CodeHostContent) {
			for i := range 750 {
				c.Releases = append(c.Releases, newRelease("acme/engine", i, time.Date(2026, 3, 1, 2, 0, i, 0, time.UTC)))
			}
		})
		for range 4 {
			s.runJob("releases.sync_due")
			s.clock.advance(time.Minute)
		}
		s.want(200, "", s.ada, http.MethodPut, "/api/preferences",
			dict{"time_zone": "UTC", "brief_hour": 8, "brief_daily": true, "include_own_releases": false, "translation_language": "en"})
		made := s.want(200, "", s.ada, http.MethodPost, "/api/briefs/generate", dict{"date": "2026-03-01"})
		text := made["content_markdown"].(string)
		if !strings.HasPrefix(text, "## Project updates\n") || !strings.HasSuffix(text, "\n- 450 more releases are not listed.\n") ||
			strings.ContainsFunc(text, func(r rune) bool { return r > 0x2e80 }) {
			t.Errorf("got %.80s … %s", text, text[max(0, len(text)-80):])
		}
		if made["release_count"] != 750.0 || len(made["release_ids"].([]any)) != 300 {
			t.Errorf("it counts %v and lists %d", made["release_count"], len(made["release_ids"].([]any)))
		}
	}, withRepos("acme/engine"))
}

// checkBrief looks at the brief of a day that ends two hours after morning, in Berlin.
func checkBrief(t *testing.T, s *server, morning time.Time) {
	t.Helper()
	made := s.want(200, "", s.ada, http.MethodPost, "/api/briefs/generate", nil)
	if text := made["content_markdown"].(string); text != wholeBrief {
		t.Errorf("got\n%s", text)
	}
	if made["window_end"] != morning.Add(2*time.Hour).Format("2006-01-02T15:04:05.000Z") || made["effective_local_boundary"] != "10:00" ||
		made["effective_time_zone"] != "Europe/Berlin" || made["release_count"] != 3.0 {
		t.Errorf("got %v", made)
	}
	list := s.list(s.ada, "/api/briefs")
	if len(list) != 1 || list[0]["id"] != made["id"] || list[0]["covers_repo_stars"] != true || list[0]["covers_followers"] != false ||
		len([]rune(list[0]["preview_markdown"].(string))) != 600 {
		t.Errorf("got %v", list)
	}
	path := "/api/briefs/" + made["id"].(string)
	if got := s.want(200, "", s.ada, http.MethodGet, path, nil); got["content_markdown"] != made["content_markdown"] {
		t.Errorf("got %v", got)
	}
	s.want(404, "not_found", s.bob, http.MethodGet, path, nil)
	s.want(400, "bad_request", s.ada, http.MethodPost, "/api/briefs/generate", dict{"date": "2026-03-02"})
	s.want(400, "bad_request", s.ada, http.MethodPost, "/api/briefs/generate", "[]")
	// A release that a brief names stays readable when its repository is no longer seen.
	id := made["release_ids"].([]any)[0].(string)
	s.want(200, "", s.adaCookie, http.MethodDelete, tokenPath, nil)
	s.want(200, "", s.ada, http.MethodGet, "/api/releases/"+id+"/detail", nil)
	s.want(404, "not_found", s.bob, http.MethodGet, "/api/releases/"+id+"/detail", nil)
}

// TestDailyBriefs lets days pass: each has one brief, also after the core did not run for some.
func TestDailyBriefs(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		s.addRepo("acme/engine", day, 1)
		s.runJob("releases.sync_due")
		dates := func(who string) (out []string) {
			for _, b := range s.list(who, "/api/briefs") {
				out = append(out, b["date"].(string))
			}
			return out
		}
		want := func(who string, all ...string) {
			t.Helper()
			if got := dates(who); strings.Join(got, " ") != strings.Join(all, " ") {
				t.Errorf("got %q, want %q", got, all)
			}
		}
		s.want(200, "", s.bob, http.MethodPut, "/api/preferences",
			dict{"time_zone": "UTC", "brief_hour": 8, "brief_daily": false, "include_own_releases": false})
		s.runJob("releases.write_briefs")
		s.runJob("releases.write_briefs")
		want(s.ada, "2026-03-01")
		want(s.bob)
		// Another hour begins with the next day.
		s.want(200, "", s.ada, http.MethodPut, "/api/preferences",
			dict{"time_zone": "UTC", "brief_hour": 11, "brief_daily": true, "include_own_releases": false})
		s.runJob("releases.write_briefs")
		want(s.ada, "2026-03-01")
		s.clock.advance(3 * 24 * time.Hour)
		s.runJob("releases.write_briefs")
		want(s.ada, "2026-03-04", "2026-03-03", "2026-03-02", "2026-03-01")
		s.want(400, "bad_request", s.ada, http.MethodPut, "/api/preferences",
			dict{"time_zone": "Mars/Olympus", "brief_hour": 11, "brief_daily": true, "include_own_releases": false})
	}, withRepos("acme/engine"))
}
