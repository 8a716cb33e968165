package releases_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

// sqlite returns a fresh database of the embedded kind, for what does not depend on the dialect.
func sqlite(t *testing.T) store.Config {
	t.Helper()
	return testkit.SQLiteConfig(t)
}

func TestUpdates(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		s.addRepo("acme/engine", day, 3)
		s.runJob("releases.sync_due")
		poll := func(query, token string) (string, dict) {
			t.Helper()
			got := s.want(200, "", s.ada, http.MethodGet, "/api/dashboard/updates?"+query+"&token="+token, nil)
			return got["token"].(string), got["lists"].(dict)
		}
		first, lists := poll("", "")
		for _, name := range []string{"feed", "briefs", "notifications"} {
			if l := lists[name].(dict); l["changed"] != false || l["new_count"] != 0.0 || len(l["latest_keys"].([]any)) != 0 {
				t.Errorf("the first call says of %s: %v", name, l)
			}
		}
		if second, lists := poll("", first); second != first || lists["feed"].(dict)["changed"] != false {
			t.Errorf("nothing has happened, and there is %v", lists)
		}
		s.publish("acme/engine", codehost.Release{ID: "new", TagName: "v9", PublishedAt: s.clock.now()})
		s.clock.advance(2 * time.Hour)
		s.runJob("releases.sync_due")
		_, lists = poll("", first)
		changed := lists["feed"].(dict)
		if changed["changed"] != true || changed["new_count"] != 1.0 || changed["latest_keys"].([]any)[0] != "release:4" {
			t.Errorf("got %v", changed)
		}
		// A token of another query is no news.
		if _, lists = poll("scope=org&org=acme", first); lists["feed"].(dict)["changed"] != false {
			t.Errorf("a token of another query tells of changes: %v", lists)
		}
		if _, lists = poll("include=inbox", ""); len(lists) != 1 || lists["notifications"] == nil {
			t.Errorf("got %v", lists)
		}
		for query, field := range map[string]string{"token=x": "token", "token=AQ": "token", "include=x": "include", "feed_type=x": "feed_type",
			"scope=repo": "items"} {
			if got := s.want(400, "bad_request", s.ada, http.MethodGet, "/api/dashboard/updates?"+query, nil); got["field"] != field {
				t.Errorf("%s: got %v", query, got)
			}
		}
		if path := "/api/feed?types=releases"; !slices.Contains(titles(s.want(200, "", s.ada, http.MethodGet, path, nil)), "release v9") {
			t.Error("the feed lacks the release")
		}
	}, withRepos("acme/engine"))
}
