package releases_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/services/releases"
	"github.com/patchbay-dev/patchbay/core/services/releases/api"
	"github.com/patchbay-dev/patchbay/core/services/releases/reading"
	"github.com/patchbay-dev/patchbay/core/services/releases/translation"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

func withRepos(names ...string) func(*releases.Settings) {
	return func(set *releases.Settings) { set.Repos = names }
}

// TestFeedWithoutAccount reads the repositories of the settings and pages through their releases.
func TestFeedWithoutAccount(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		s.addRepo("acme/engine", day, 5)
		s.addRepo("acme/loom", day.Add(30*time.Minute), 4)
		s.runJob("releases.sync_due")
		var all []string
		path, pages := "/api/feed?limit=4", 0
		for {
			page := s.want(200, "", s.bob, http.MethodGet, path, nil)
			all = append(all, titles(page)...)
			pages++
			next, ok := page["next_cursor"].(string)
			if !ok {
				break
			}
			path = "/api/feed?limit=4&cursor=" + next
		}
		want := []string{
			"release acme/engine v1.4.0", "release acme/loom v1.3.0", "release acme/engine v1.3.0", "release acme/loom v1.2.0",
			"release acme/engine v1.2.0",
			"release acme/loom v1.1.0", "release acme/engine v1.1.0", "release acme/loom v1.0.0", "release acme/engine v1.0.0",
		}
		if !slices.Equal(all, want) || pages != 3 {
			t.Fatalf("got %d pages %q", pages, all)
		}
		// A whole last page is not followed by an empty one.
		if page := s.want(200, "", s.bob, http.MethodGet, "/api/feed?limit=9", nil); page["next_cursor"] != nil {
			t.Errorf("there is a cursor behind the last item: %v", page["next_cursor"])
		}
		checkSettledSync(t, s)
	}, withRepos("acme/engine", "acme/loom"))
}

// checkSettledSync looks at what is read again.
func checkSettledSync(t *testing.T, s *server) {
	t.Helper()
	lists := s.countCalls("listreleases")
	s.runJob("releases.sync_due")
	if n := s.countCalls("listreleases"); n != lists {
		t.Errorf("%d repositories were read that were not due", n-lists)
	}
	s.clock.advance(2 * time.Hour)
	s.host.SetQuota(&codehost.Quota{Limit: 60, Remaining: 1, ResetAt: time.Now().Add(time.Hour)})
	s.runJob("releases.sync_due")
	if n := s.countCalls("listreleases"); n != lists+2 {
		t.Errorf("%d repositories were read, want 2", n-lists)
	}
	// Both were not modified, and cost nothing.
	if n := s.countCalls("findrepository"); n != 2 {
		t.Errorf("%d repositories were described, want each once", n)
	}
	s.host.SetQuota(nil)
	s.publish("acme/engine", codehost.Release{ID: "new", TagName: "v2.0.0", PublishedAt: s.clock.now(), HTMLURL: "https://codehost.example/x"})
	s.host.Change("acme/loom", func(c *fake.CodeHostContent) { c.Releases = c.Releases[1:] })
	s.clock.advance(2 * time.Hour)
	s.runJob("releases.sync_due")
	got := titles(s.want(200, "", s.bob, http.MethodGet, "/api/feed?types=releases", nil))
	if len(got) != 9 || got[0] != "release v2.0.0" || slices.Contains(got, "release acme/loom v1.3.0") {
		t.Errorf("got %q, want the new release and not the deleted one", got)
	}
}

// TestFeedItemShape compares what is written with the declared type, whose members the contract names.
func TestFeedItemShape(t *testing.T) {
	s := startServer(t, sqlite(t), withRepos("acme/engine"))
	s.addRepo("acme/engine", day, 0)
	s.publish("acme/engine", codehost.Release{
		ID: "1", NodeID: "n", TagName: "v1.0.0-rc.1", Name: " A \"quoted\"\tname\x01 \u2028 ",
		Body: "\r\n" + strings.Repeat("é\\", 2000) + "\r\n", HTMLURL: "https://codehost.example/r?a=1&b=<2>",
		PublishedAt: time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.UTC), Prerelease: true,
		Reactions: map[string]int64{"plus1": 3, "confused": 9},
	})
	s.runJob("releases.sync_due")
	raw := s.send(s.ada, http.MethodGet, "/api/feed", nil).body
	var page api.FeedPage
	must(t, json.Unmarshal(raw, &page))
	if len(page.Items) != 1 {
		t.Fatalf("got %s", raw)
	}
	i := page.Items[0]
	if i.TS.String() != "2026-01-02T03:04:05.006Z" || len([]rune(*i.Body)) != 3000 || !i.BodyTruncated {
		t.Errorf("got %v, a body of %d characters, cut: %v", i.TS, len([]rune(*i.Body)), i.BodyTruncated)
	}
	var members map[string]any
	var items struct{ Items []json.RawMessage }
	must(t, json.Unmarshal(raw, &items))
	must(t, json.Unmarshal(items.Items[0], &members))
	kind := reflect.TypeFor[api.FeedItem]()
	for n := range kind.NumField() {
		name, option, _ := strings.Cut(kind.Field(n).Tag.Get("json"), ",")
		if _, ok := members[name]; !ok && option == "" {
			t.Errorf("%s is left out", name)
		}
		delete(members, name)
	}
	if len(members) > 0 {
		t.Errorf("there are other members: %v", members)
	}
	var item struct {
		Reactions  reading.ReleaseReactions
		Translated translation.TranslatedItem
		RepoVisual reading.RepoVisual `json:"repo_visual"`
	}
	must(t, json.Unmarshal(items.Items[0], &item))
	if item.Reactions.Counts.Plus1 != 3 || item.Reactions.Status != "ready" || item.Translated.Status != "disabled" ||
		*item.RepoVisual.OwnerAvatarURL != "https://avatars.example.com/acme" {
		t.Errorf("got %+v", item)
	}
	detail := s.want(200, "", s.ada, http.MethodGet, "/api/releases/"+i.ID+"/detail", nil)
	if body := detail["body"].(string); len([]rune(body)) != 4000 || detail["is_prerelease"] != true || detail["is_draft"] != false {
		t.Errorf("the whole text has %d characters: %v", len([]rune(body)), detail["is_prerelease"])
	}
}

func TestFeedQueries(t *testing.T) {
	s := startServer(t, sqlite(t), withRepos("acme/engine", "acme/loom", "other/thing"))
	for _, name := range []string{"acme/engine", "acme/loom", "other/thing"} {
		s.addRepo(name, day, 1)
	}
	s.runJob("releases.sync_due")
	many := make([]string, 13)
	for i := range many {
		many[i] = fmt.Sprintf("a/b%d", i)
	}
	for _, tc := range []struct {
		query  string
		status int
		want   any
	}{
		{"types=all", 200, 3},
		{"types=stars", 200, 0},
		{"types=releases,stars", 200, 3},
		{"types=followers&scope=repo&items=acme/engine", 200, 0},
		{"scope=repo&items=ACME/engine/", 200, 1},
		{"scope=repo&items=acme/unknown", 200, 0},
		{"scope=repo", 400, "items"},
		{"scope=repo&items=a/b,c/d", 400, "items"},
		{"scope=repos&items=", 200, 0},
		{"scope=repos&items=acme/loom,+Acme/Loom,other/thing", 200, 2},
		{"scope=repos&items=" + strings.Join(many[:12], ","), 200, 0},
		{"scope=repos&items=" + strings.Join(many, ","), 400, "items"},
		{"scope=repos&items=acme", 400, "items"},
		{"scope=org&org=Acme", 200, 2},
		{"scope=org", 400, "org"},
		{"scope=mine", 200, 0},
		{"scope=all", 400, "scope"},
		{"types=inbox", 400, "types"},
		{"types=x", 400, "types"},
		{"limit=0", 200, 1},
		{"limit=1000", 200, 3},
		{"limit=x", 400, "limit"},
		{"cursor=x", 400, "cursor"},
		{"cursor=eyJ2IjoxLCJrIjp7InQiOjEsInIiOjksImkiOjF9fQ", 400, "cursor"},
	} {
		got := s.send(s.ada, http.MethodGet, "/api/feed?"+tc.query, nil)
		body := dict{}
		must(t, json.Unmarshal(got.body, &body))
		if got.status != tc.status {
			t.Errorf("%s: got %d %s", tc.query, got.status, got.body)
			continue
		}
		if n, ok := tc.want.(int); ok && len(body["items"].([]any)) != n {
			t.Errorf("%s: got %d items, want %d", tc.query, len(body["items"].([]any)), n)
		} else if !ok && (body["code"] != "bad_request" || body["field"] != tc.want) {
			t.Errorf("%s: got %s", tc.query, got.body)
		}
	}
	checkAccess(t, s)
}

// checkAccess looks at who may call, and from where.
func checkAccess(t *testing.T, s *server) {
	t.Helper()
	s.want(401, "unauthorized", "", http.MethodGet, "/api/feed", nil)
	s.want(401, "invalid_api_key", "svc_ak_wrong", http.MethodGet, "/api/feed", nil)
	if head := s.send(s.ada, http.MethodHead, "/api/feed", nil); head.status != 200 || len(head.body) != 0 {
		t.Errorf("HEAD: got %d with %d bytes", head.status, len(head.body))
	}
	for origin, allowed := range map[string]string{"https://patchbay.example.com": "https://patchbay.example.com", "https://evil.example": "",
		"": ""} {
		for _, path := range []string{"/api/feed", "/api/feed?cursor=x"} {
			got := s.send(s.ada, http.MethodGet, path, nil, "Origin", origin)
			if got.header.Get("Access-Control-Allow-Origin") != allowed || got.header.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("%s from %q: got %v", path, origin, got.header)
			}
		}
		ask := s.send("", http.MethodOptions, "/api/feed", nil, "Origin", origin, "Access-Control-Request-Method", "GET",
			"Access-Control-Request-Headers", "authorization")
		if ask.status != 204 || ask.header.Get("Access-Control-Allow-Origin") != allowed ||
			(allowed != "") != strings.Contains(ask.header.Get("Access-Control-Allow-Headers"), "Authorization") {
			t.Errorf("OPTIONS from %q: got %d %v", origin, ask.status, ask.header)
		}
	}
	if got := s.send("svc_ak_wrong", http.MethodGet, "/api/feed", nil, "Origin",
		"https://patchbay.example.com"); got.header.Get("Access-Control-Allow-Origin") == "" {
		t.Error("a page of the own origin cannot read why it was refused")
	}
}

func TestReleaseByTag(t *testing.T) {
	s := startServer(t, sqlite(t), withRepos("acme/engine"))
	s.addRepo("acme/engine", day, 2)
	s.publish("acme/engine", codehost.Release{ID: "slash", TagName: "pkg/v3.0.0", PublishedAt: day.Add(9 * time.Hour)})
	s.runJob("releases.sync_due")
	for _, path := range []string{"/api/repos/Acme/Engine/releases/tag/pkg/v3.0.0/detail",
		"/api/repos/acme/engine/releases/tag/pkg%2Fv3.0.0/detail"} {
		if got := s.want(200, "", s.ada, http.MethodGet, path, nil); got["tag_name"] != "pkg/v3.0.0" || got["previous_tag_name"] != "v1.1.0" ||
			got["name"] != nil {
			t.Errorf("%s: got %v", path, got)
		}
	}
	s.want(404, "not_found", s.ada, http.MethodGet, "/api/repos/acme/engine/releases/tag/v9/detail", nil)
	s.want(404, "not_found", s.ada, http.MethodGet, "/api/repos/acme/engine/releases/tag/detail", nil)
	s.want(404, "not_found", s.ada, http.MethodGet, "/api/releases/999/detail", nil)
	s.want(400, "bad_request", s.ada, http.MethodGet, "/api/releases/abc/detail", nil)
	list := s.list(s.ada, "/api/releases")
	if len(list) != 3 || list[0]["tag_name"] != "pkg/v3.0.0" || list[1]["full_name"] != "acme/engine" {
		t.Errorf("got %v", list)
	}
}
