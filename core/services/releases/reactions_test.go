package releases_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

const (
	refreshPath = "/api/feed/reactions/refresh"
	togglePath  = "/api/release/reactions/toggle"
)

// TestReactions reads, leaves and takes back reactions with the token of a user.
func TestReactions(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		s.star("ada", s.addRepo("acme/engine", day, 3), day)
		s.addRepo("acme/hidden", day, 1)
		s.want(200, "", s.bob, http.MethodPut, "/api/repos/acme/hidden/following", nil)
		s.runJob("releases.sync_due")
		hidden := s.list(s.bob, "/api/releases")[0]["release_id"].(string)
		s.want(403, "pat_required", s.ada, http.MethodPost, togglePath, dict{"release_id": hidden, "content": "heart"})
		if got := s.want(200, "", s.ada, http.MethodPost, refreshPath, dict{"release_ids": []string{hidden}})["items"].([]any); len(got) != 0 {
			t.Errorf("without a token there is %v", got)
		}
		s.saveToken()
		s.want(200, "", s.ada, http.MethodPost, "/api/sync/all", nil)
		id := s.list(s.ada, "/api/releases")[0]["release_id"].(string)
		left := s.want(200, "", s.ada, http.MethodPost, togglePath, dict{"release_id": id, "content": "heart"})
		if r := left["reactions"].(dict); left["release_id"] != id || r["status"] != "ready" || r["counts"].(dict)["heart"] != 3.0 ||
			r["viewer"].(dict)["heart"] != true || r["viewer"].(dict)["eyes"] != false {
			t.Errorf("got %v", left)
		}
		// The feed has the count from then on, and never who left it.
		feed := s.want(200, "", s.ada, http.MethodGet, "/api/feed", nil)["items"].([]any)[0].(dict)["reactions"].(dict)
		if feed["counts"].(dict)["heart"] != 3.0 || feed["viewer"].(dict)["heart"] != false {
			t.Errorf("the feed has %v", feed)
		}
		items := s.want(200, "", s.ada, http.MethodPost, refreshPath, dict{"release_ids": []string{" " + id, id, hidden, "999"}})["items"].([]any)
		if len(items) != 1 || items[0].(dict)["release_id"] != id || items[0].(dict)["reactions"].(dict)["viewer"].(dict)["heart"] != true {
			t.Errorf("got %v, want the one release that Ada sees", items)
		}
		back := s.want(200, "", s.ada, http.MethodPost, togglePath, dict{"release_id": id, "content": "heart"})["reactions"].(dict)
		if back["counts"].(dict)["heart"] != 2.0 || back["viewer"].(dict)["heart"] != false {
			t.Errorf("got %v", back)
		}
		s.want(404, "not_found", s.ada, http.MethodPost, togglePath, dict{"release_id": hidden, "content": "heart"})
		checkReactionErrors(t, s, id)
	})
}

// checkReactionErrors looks at requests that cannot be met. id is a release that Ada sees.
func checkReactionErrors(t *testing.T, s *server, id string) {
	t.Helper()
	many := make([]string, 101)
	for i := range many {
		many[i] = fmt.Sprint(i + 1)
	}
	s.want(200, "", s.ada, http.MethodPost, refreshPath, dict{"release_ids": many[:100]})
	for _, body := range []any{dict{}, dict{"release_ids": []string{}}, dict{"release_ids": many}, dict{"release_ids": []string{"abc"}},
		dict{"release_ids": []any{1}}, `{"release_ids":`} {
		s.want(400, "bad_request", s.ada, http.MethodPost, refreshPath, body)
	}
	for _, body := range []any{dict{"release_id": id}, dict{"release_id": id, "content": "confused"},
		dict{"release_id": "x", "content": "heart"}, dict{"content": "heart"}} {
		s.want(400, "bad_request", s.ada, http.MethodPost, togglePath, body)
	}
	s.want(401, "unauthorized", "", http.MethodPost, togglePath, dict{"release_id": id, "content": "heart"})
	toggle := dict{"release_id": id, "content": "rocket"}
	// The token may read and not react.
	s.host.Fail("node-acme/engine2", fake.CodeHostError(403, 0))
	s.want(403, "pat_forbidden", s.ada, http.MethodPost, togglePath, toggle)
	// The release is gone.
	kept := []codehost.Release{}
	s.host.Change("acme/engine", func(c *fake.CodeHostContent) { kept, c.Releases = c.Releases, nil })
	s.want(403, "pat_forbidden", s.ada, http.MethodPost, togglePath, toggle)
	s.host.Change("acme/engine", func(c *fake.CodeHostContent) { c.Releases = kept })
	// A host that asks to be left alone is.
	s.host.Fail("readreactions", fake.CodeHostError(429, 10*time.Minute))
	s.want(429, "rate_limited", s.ada, http.MethodPost, refreshPath, dict{"release_ids": []string{id}})
	calls := s.countCalls("readreactions")
	s.want(429, "rate_limited", s.ada, http.MethodPost, togglePath, toggle)
	if n := s.countCalls("readreactions"); n != calls {
		t.Errorf("the code host was called %d times although it asked to be left alone", n-calls)
	}
	s.clock.advance(11 * time.Minute)
	s.want(200, "", s.ada, http.MethodPost, togglePath, toggle)
	must(t, s.store.Tx(t.Context(), "forget node", func(ctx context.Context) error {
		return s.store.Writer(ctx).Exec("UPDATE release_entries SET node_id = '' WHERE id = ?", id).Error
	}))
	s.want(409, "sync_required", s.ada, http.MethodPost, togglePath, toggle)
	s.host.SetAbilities(client.CodeHostAbilities{Viewer: true, Releases: true})
	if got := s.want(200, "", s.ada, http.MethodPost, refreshPath, dict{"release_ids": []string{id}})["items"].([]any); len(got) != 0 {
		t.Errorf("a host without reactions gives %v", got)
	}
	s.want(403, "pat_forbidden", s.ada, http.MethodPost, togglePath,
		dict{"release_id": s.list(s.ada, "/api/releases")[1]["release_id"], "content": "heart"})
	s.host.SetAbilities(client.CodeHostAbilities{Viewer: true, Releases: true, Reactions: true})
	s.host.Fail("readreactions", fake.CodeHostError(401, 0))
	// A token that the host refuses is none to react with, at the call that finds it and at those after it.
	refused := dict{"release_id": s.list(s.ada, "/api/releases")[1]["release_id"], "content": "heart"}
	for range 2 {
		s.want(403, "pat_required", s.ada, http.MethodPost, togglePath, refused)
	}
	s.want(422, "pat_invalid", s.ada, http.MethodPost, refreshPath,
		dict{"release_ids": []string{s.list(s.ada, "/api/releases")[1]["release_id"].(string)}})
}
