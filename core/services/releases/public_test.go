package releases_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/services/releases"
)

const publicEngine = "/api/public/repos/acme/engine/releases"

// readPublic reads what everybody may read.
func (s *server) readPublic(path string, header ...string) (reply, dict) {
	s.Helper()
	got := s.send("", http.MethodGet, path, nil, header...)
	out := dict{}
	_ = json.Unmarshal(got.body, &out)
	return got, out
}

// TestPublicReleases: what an administrator has published is read without an account, page by page, and nothing else is.
func TestPublicReleases(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		s.star("ada", s.addRepo("acme/engine", day, 5), day)
		s.star("ada", s.addRepo("acme/hidden", day, 1), day)
		s.saveToken()
		s.want(200, "", s.ada, http.MethodPost, "/api/sync/all", nil)
		s.want(404, "not_found", "", http.MethodGet, publicEngine, nil)
		must(t, s.service.PublishRepo(s.context(s.ada), "Acme/Engine"))
		s.wantCode(s.service.PublishRepo(s.context(s.ada), "acme/none"), fault.NotFound)
		s.wantCode(s.service.PublishRepo(s.context(s.ada), "acme"), fault.BadRequest)
		var tags []string
		next := ""
		for {
			got, page := s.readPublic(publicEngine + "?limit=2&cursor=" + next)
			if got.status != 200 || got.header.Get("ETag") == "" || got.header.Get("Cache-Control") != "public, max-age=60" {
				t.Fatalf("got %d %v %s", got.status, got.header, got.body)
			}
			for _, item := range page["items"].([]any) {
				i := item.(dict)
				tags = append(tags, i["tag_name"].(string))
				if i["original"].(dict)["title"] == nil || i["translated"] != nil || i["polished"] != nil {
					t.Errorf("got %v", i)
				}
			}
			if page["next_cursor"] == nil {
				break
			}
			next = page["next_cursor"].(string)
		}
		if fmt.Sprint(tags) != "[v1.4.0 v1.3.0 v1.2.0 v1.1.0 v1.0.0]" {
			t.Errorf("got %v", tags)
		}
		first, _ := s.readPublic(publicEngine)
		if again, _ := s.readPublic(publicEngine, "If-None-Match", first.header.Get("ETag")); again.status != 304 || len(again.body) != 0 {
			t.Errorf("got %d %s", again.status, again.body)
		}
		if other := s.send(s.ada, http.MethodGet, publicEngine, nil); string(other.body) != string(first.body) {
			t.Error("who is signed in reads something else")
		}
		for _, secret := range []string{"ada", "node_id", "reactions", "viewer"} {
			if strings.Contains(string(first.body), secret) {
				t.Errorf("the answer has %q: %s", secret, first.body)
			}
		}
		for path, code := range map[string]string{
			publicEngine + "?limit=31": "bad_request", publicEngine + "?limit=0": "bad_request", publicEngine + "?limit=x": "bad_request",
			publicEngine + "?content=secret": "bad_request",
			publicEngine + "?cursor=x":       "bad_request",
		} {
			s.want(400, code, "", http.MethodGet, path, nil)
		}
		s.want(404, "not_found", "", http.MethodGet, "/api/public/repos/acme/hidden/releases", nil)
		if state, err := s.service.PublicState(t.Context()); err != nil || !state.Enabled || fmt.Sprint(state.Repos) != "[acme/engine]" {
			t.Errorf("got %+v, %v", state, err)
		}
		must(t, s.service.UnpublishRepo(t.Context(), "acme/engine"))
		s.want(404, "not_found", "", http.MethodGet, publicEngine, nil)
	}, withPublicPages)
}

// exec runs a statement.
func (s *server) exec(statement string) {
	s.Helper()
	must(s, s.store.Tx(s.Context(), "test", func(ctx context.Context) error { return s.store.Writer(ctx).Exec(statement).Error }))
}

func withPublicPages(set *releases.Settings) { set.PublicPages = true }

// TestPublicPending: a repository that has not been read yet is announced, one that is private is not there.
func TestPublicPending(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		s.addRepo("acme/engine", day, 1)
		s.want(200, "", s.ada, http.MethodPut, "/api/repos/acme/engine/following", nil)
		must(t, s.service.PublishRepo(s.context(s.ada), "acme/engine"))
		s.exec("UPDATE release_repos SET synced_at = 0")
		got, page := s.readPublic(publicEngine)
		if got.status != 202 || got.header.Get("Retry-After") != "30" || page["status"] != "pending_sync" || len(page["items"].([]any)) != 0 {
			t.Errorf("got %d %v %s", got.status, got.header, got.body)
		}
		s.exec("UPDATE release_repos SET private = (1 = 1)")
		s.want(404, "not_found", "", http.MethodGet, publicEngine, nil)
		s.wantCode(s.service.PublishRepo(s.context(s.ada), "acme/engine"), fault.BadRequest)
	}, withPublicPages)
}

// TestPublicCallsNoTranslator: a visitor reads the translations that there are, and has nothing translated.
func TestPublicCallsNoTranslator(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		s.star("ada", s.addRepo("acme/engine", day, 1), day)
		s.host.Change("acme/engine", func(c *fake.CodeHostContent) { c.Releases[0].Body = "Faster." })
		s.saveToken()
		s.want(200, "", s.ada, http.MethodPost, "/api/sync/all", nil)
		must(t, s.service.PublishRepo(s.context(s.ada), "acme/engine"))
		_, page := s.readPublic(publicEngine + "?content=all")
		item := page["items"].([]any)[0].(dict)
		if item["original"].(dict)["body"] != "Faster." || item["translated"] != nil || item["polished"] != nil {
			t.Errorf("got %v", item)
		}
		var works int64
		must(t, s.store.DB(t.Context()).Raw("SELECT COUNT(*) FROM release_translations").Scan(&works).Error)
		if works != 0 {
			t.Errorf("%d texts wait for a translation", works)
		}
	}, withPublicPages, func(set *releases.Settings) { set.Translator = "translator.main" })
}

// TestPublicLimit: an address that asks too often waits.
func TestPublicLimit(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		for range 60 {
			s.want(404, "not_found", "", http.MethodGet, publicEngine, nil)
		}
		if got := s.send("", http.MethodGet, publicEngine, nil); got.status != 429 || got.header.Get("Retry-After") != "1" {
			t.Errorf("got %d %v", got.status, got.header)
		}
		s.clock.advance(2 * time.Second)
		s.want(404, "not_found", "", http.MethodGet, publicEngine, nil)
	}, withPublicPages)
}
