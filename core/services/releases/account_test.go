package releases_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

const tokenPath = "/api/reaction-token"

// saveToken gives Ada the token of her account at the code host.
func (s *server) saveToken() {
	s.Helper()
	s.want(200, "", s.adaCookie, http.MethodPut, tokenPath, dict{"token": adaToken})
}

func TestToken(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		s.want(403, "forbidden", s.ada, http.MethodGet, tokenPath, nil)
		s.want(403, "pat_required", s.ada, http.MethodPost, "/api/sync/starred", nil)
		if got := s.want(200, "", s.adaCookie, http.MethodGet, tokenPath, nil); got["configured"] != false || got["masked_token"] != nil ||
			got["check"].(dict)["state"] != "idle" {
			t.Errorf("got %v", got)
		}
		if got := s.want(200, "", s.adaCookie, http.MethodPost, tokenPath+"/check", dict{"token": "ghp_of_nobody"}); got["state"] != "invalid" ||
			got["owner"] != nil {
			t.Errorf("got %v", got)
		}
		if got := s.want(200, "", s.adaCookie, http.MethodPost, tokenPath+"/check", dict{"token": adaToken}); got["state"] != "valid" ||
			got["owner"].(dict)["login"] != "ada" {
			t.Errorf("got %v", got)
		}
		s.want(422, "pat_invalid", s.adaCookie, http.MethodPut, tokenPath, dict{"token": "ghp_of_nobody"})
		s.want(400, "bad_request", s.adaCookie, http.MethodPut, tokenPath, dict{"token": "ghp with spaces"})
		saved := s.want(200, "", s.adaCookie, http.MethodPut, tokenPath, dict{"token": " " + adaToken + "\n"})
		if saved["masked_token"] != "ghp_…host" || saved["owner"].(dict)["id"] != "1" || saved["check"].(dict)["state"] != "valid" {
			t.Errorf("got %v", saved)
		}
		var stored string
		must(t, s.store.DB(t.Context()).Raw("SELECT token FROM release_host_accounts").Scan(&stored).Error)
		if stored == "" || strings.Contains(stored, "ada_token") {
			t.Errorf("the token is stored as %q", stored)
		}
		// The code host takes the token back.
		s.host.Fail("liststarred", fake.CodeHostError(401, 0))
		s.want(422, "", s.ada, http.MethodPost, "/api/sync/starred", nil)
	})
}

// TestSync stars, releases, notifies and follows, and reads all of it.
func TestSync(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		engine := s.addRepo("acme/engine", day, 2)
		own := s.addRepo("ada/notes", day, 1)
		s.star("ada", engine, day)
		s.host.Change("ada", func(c *fake.CodeHostContent) {
			c.Owned = []codehost.Repository{own}
			c.Followers = []codehost.Account{{Login: "old"}}
			c.Events = []codehost.Event{{ID: "7", Type: codehost.EventFork, Actor: codehost.Account{Login: "grace"}, RepoFullName: "acme/engine",
				TargetFullName: "grace/engine", CreatedAt: day.Add(3 * time.Hour)}}
			c.Notifications = []codehost.Notification{{ThreadID: "t1", RepoFullName: "acme/engine", Title: "A question", SubjectType: "Issue",
				Reason: "mention", UpdatedAt: s.clock.now(), Unread: true}}
		})
		s.host.Change("ada/notes", func(c *fake.CodeHostContent) {
			c.Stargazers = []codehost.Stargazer{{Account: codehost.Account{Login: "bob"}, StarredAt: day.Add(4 * time.Hour)}}
		})
		s.host.Change("acme/engine", func(c *fake.CodeHostContent) {
			c.Announcements = []codehost.Announcement{{ID: "d1", RepoFullName: "acme/engine", Title: "Roadmap", Body: "Soon",
				CreatedAt: day.Add(5 * time.Hour)}}
		})
		s.saveToken()
		seen := s.want(200, "", s.ada, http.MethodGet, "/api/dashboard/updates", nil)["token"].(string)
		all := s.want(200, "", s.ada, http.MethodPost, "/api/sync/all", nil)
		if all["starred"].(dict)["repos"] != 1.0 || all["releases"].(dict)["releases"] != 2.0 ||
			all["notifications"].(dict)["notifications"] != 1.0 || all["social_error"] != nil {
			t.Errorf("got %v", all)
		}
		want := []string{"announcement Roadmap", "repo_star_received bob", "repo_forked grace/engine", "release acme/engine v1.1.0",
			"release acme/engine v1.0.0"}
		if got := titles(s.want(200, "", s.ada, http.MethodGet, "/api/feed", nil)); !slices.Equal(got, want) {
			t.Errorf("got %q", got)
		}
		checkUpdates(t, s, seen)
		if got := titles(s.want(200, "", s.bob, http.MethodGet, "/api/feed", nil)); len(got) != 0 {
			t.Errorf("Bob sees %q", got)
		}
		s.want(404, "not_found", s.bob, http.MethodGet, "/api/releases/1/detail", nil)
		if starred := s.list(s.ada, "/api/starred"); len(starred) != 1 || starred[0]["starred_at"] != "2026-02-28T00:00:00.000Z" ||
			starred[0]["is_private"] != false {
			t.Errorf("got %v", starred)
		}
		if list := s.list(s.ada, "/api/notifications"); len(list) != 1 || list[0]["unread"] != 1.0 || list[0]["thread_id"] != "t1" {
			t.Errorf("got %v", list)
		}
		checkSecondSync(t, s)
	})
}

// checkUpdates compares what a poll for updates names, since a token, with the lists.
func checkUpdates(t *testing.T, s *server, token string) {
	t.Helper()
	var feed []any
	for _, item := range s.want(200, "", s.ada, http.MethodGet, "/api/feed", nil)["items"].([]any) {
		feed = append(feed, item.(dict)["kind"].(string)+":"+item.(dict)["id"].(string))
	}
	lists := s.want(200, "", s.ada, http.MethodGet, "/api/dashboard/updates?token="+token, nil)["lists"].(dict)
	for list, want := range map[string][]any{"feed": feed, "notifications": {"notification:t1"}, "briefs": {}} {
		if got := lists[list].(dict); !slices.Equal(got["latest_keys"].([]any), want) || got["new_count"] != float64(len(want)) {
			t.Errorf("%s: got %v, want %v", list, got, want)
		}
	}
}

// checkSecondSync looks at what is new at the second look.
func checkSecondSync(t *testing.T, s *server) {
	t.Helper()
	s.clock.advance(3 * time.Hour)
	s.host.Change("ada", func(c *fake.CodeHostContent) { c.Followers = append(c.Followers, codehost.Account{Login: "new"}) })
	if got := s.want(200, "", s.ada, http.MethodPost, "/api/sync/all", nil); got["social"].(dict)["followers"] != 1.0 ||
		got["notifications"].(dict)["since"] == nil {
		t.Errorf("got %v", got)
	}
	got := titles(s.want(200, "", s.ada, http.MethodGet, "/api/feed?types=followers", nil))
	if !slices.Equal(got, []string{"follower_received new"}) {
		t.Errorf("got %q", got)
	}
	// Own releases are shown on request, and mine is what the account owns.
	s.want(200, "", s.ada, http.MethodPut, "/api/preferences",
		dict{"time_zone": "UTC", "brief_hour": 8, "brief_daily": true, "include_own_releases": true})
	s.want(200, "", s.ada, http.MethodPost, "/api/sync/releases", nil)
	mine := titles(s.want(200, "", s.ada, http.MethodGet, "/api/feed?scope=mine", nil))
	if !slices.Equal(mine, []string{"repo_star_received bob", "release ada/notes v1.0.0"}) {
		t.Errorf("got %q", mine)
	}
	// An unstarred repository leaves the feed once the whole list is read.
	s.host.Change("ada", func(c *fake.CodeHostContent) { c.Starred = nil })
	s.want(200, "", s.ada, http.MethodPost, "/api/sync/starred", nil)
	if got := titles(s.want(200, "", s.ada, http.MethodGet, "/api/feed?types=releases", nil)); !slices.Equal(got,
		[]string{"release ada/notes v1.0.0"}) {
		t.Errorf("got %q", got)
	}
	s.want(200, "", s.adaCookie, http.MethodDelete, tokenPath, nil)
	if got := titles(s.want(200, "", s.ada, http.MethodGet, "/api/feed", nil)); len(got) != 0 {
		t.Errorf("without the token there is %q", got)
	}
}

// TestLimits obeys a code host that asks to be left alone.
func TestLimits(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		s.star("ada", s.addRepo("acme/engine", day, 1), day)
		s.saveToken()
		s.host.Fail("liststarred", fake.CodeHostError(429, 10*time.Minute))
		limited := s.send(s.ada, http.MethodPost, "/api/sync/starred", nil)
		if limited.status != 429 || limited.header.Get("Retry-After") != "600" {
			t.Fatalf("got %d %v %s", limited.status, limited.header, limited.body)
		}
		calls := len(s.host.Calls())
		s.want(429, "rate_limited", s.ada, http.MethodPost, "/api/sync/notifications", nil)
		s.clock.advance(9 * time.Minute)
		s.want(429, "rate_limited", s.ada, http.MethodPost, "/api/sync/starred", nil)
		if n := len(s.host.Calls()); n != calls {
			t.Errorf("the code host was called %d times although it asked to be left alone", n-calls)
		}
		s.clock.advance(2 * time.Minute)
		s.want(200, "", s.ada, http.MethodPost, "/api/sync/starred", nil)
		// The last call that the quota allows is followed by none.
		s.host.SetQuota(&codehost.Quota{Limit: 60, Remaining: 2, ResetAt: s.clock.now().Add(time.Hour)})
		s.want(200, "", s.ada, http.MethodPost, "/api/sync/notifications", nil)
		calls = len(s.host.Calls())
		s.want(429, "rate_limited", s.ada, http.MethodPost, "/api/sync/notifications", nil)
		if n := len(s.host.Calls()); n != calls {
			t.Errorf("the code host was called %d times although its quota is used up", n-calls)
		}
	})
}

func TestTasks(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		s.star("ada", s.addRepo("acme/engine", day, 2), day)
		s.saveToken()
		s.want(400, "bad_request", s.ada, http.MethodPost, "/api/sync/all?return_mode=x", nil)
		accepted := s.want(200, "", s.ada, http.MethodPost, "/api/sync/all?return_mode=task_id", nil)
		if accepted["mode"] != "task_id" || accepted["task_type"] != "sync.all" {
			t.Errorf("got %v", accepted)
		}
		path := "/api/tasks/" + accepted["task_id"].(string) + "/events"
		whole := s.send(s.ada, http.MethodGet, path, nil)
		names, last, ids := readEvents(t, whole.body)
		if names[0] != "task.created" || names[1] != "task.running" || names[2] != "task.progress" || names[len(names)-1] != "task.completed" {
			t.Errorf("got %q", names)
		}
		if last["status"] != "succeeded" || last["result"].(dict)["starred"].(dict)["repos"] != 1.0 {
			t.Errorf("got %v", last)
		}
		rest, _, _ := readEvents(t, s.send(s.ada, http.MethodGet, path, nil, "Last-Event-ID", ids[1]).body)
		if !slices.Equal(rest, names[2:]) {
			t.Errorf("after %s there is %q, want %q", ids[1], rest, names[2:])
		}
		s.want(404, "not_found", s.bob, http.MethodGet, path, nil)
		s.want(404, "not_found", s.ada, http.MethodGet, "/api/tasks/job_x/events", nil)
		s.want(400, "bad_request", s.ada, http.MethodGet, path+"?afterId=x", nil)
		streamed, last, _ := readEvents(t, s.send(s.ada, http.MethodPost, "/api/sync/notifications?return_mode=sse", nil).body)
		if streamed[0] != "task.created" || last["result"].(dict)["notifications"] != 0.0 {
			t.Errorf("got %q %v", streamed, last)
		}
		s.host.Fail("liststarred", fake.CodeHostError(500, 0))
		failed, last, _ := readEvents(t, s.send(s.ada, http.MethodPost, "/api/sync/starred?return_mode=sse", nil).body)
		if failed[len(failed)-1] != "task.completed" || last["status"] != "failed" || last["error"] == "" {
			t.Errorf("got %q %v", failed, last)
		}
	})
}

// readEvents returns the names of server-sent events, the data of the last one, and the ids.
func readEvents(t *testing.T, stream []byte) (names []string, last dict, ids []string) {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(string(stream)))
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "event":
			names = append(names, value)
		case "id":
			ids = append(ids, value)
		case "data":
			last = dict{}
			must(t, json.Unmarshal([]byte(value), &last))
		}
	}
	if len(names) < 2 {
		t.Fatalf("got %s", stream)
	}
	return names, last, ids
}
