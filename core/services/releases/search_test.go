package releases_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

// search returns the tags that a search of Ada's feed finds.
func (s *server) search(q string, more ...string) (tags []string) {
	s.Helper()
	page := s.want(200, "", s.ada, http.MethodGet, "/api/feed?q="+url.QueryEscape(q)+strings.Join(more, ""), nil)
	for _, item := range page["items"].([]any) {
		tags = append(tags, item.(dict)["title"].(string))
	}
	return tags
}

// TestSearch finds releases by words of their repository, title and whole text, alike on both databases.
func TestSearch(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		for _, name := range []string{"acme/engine", "acme/loom"} {
			s.addRepo(name, day, 0)
		}
		for i, r := range []struct{ repo, tag, body string }{
			{"acme/engine", "v1.0.0", "Reverse proxy with TLS certificates"},
			{"acme/engine", "v1.1.0", "The proxy reverses nothing. Größe: 修复了登录错误"},
			{"acme/loom", "v2.0.0", strings.Repeat("filler ", 600) + "behind the cut"},
		} {
			release := newRelease(r.repo, i, day.AddDate(0, 0, i))
			release.TagName, release.Name, release.Body = r.tag, r.tag, r.body
			s.publish(r.repo, release)
		}
		s.runJob("releases.sync_due")
		for q, want := range map[string][]string{
			"proxy": {"v1.1.0", "v1.0.0"}, `"reverse proxy"`: {"v1.0.0"}, "proxy certificates": {"v1.0.0"}, "PROXY": {"v1.1.0", "v1.0.0"},
			"certif*": {"v1.0.0"}, "certif": nil,
			"grosse": nil, "größe": {"v1.1.0"}, "grosze": nil, "登录": {"v1.1.0"}, "登录错误": {"v1.1.0"}, "错误了": nil,
			"behind": {"v2.0.0"}, "loom": {"v2.0.0"}, "repo:acme": {"v2.0.0", "v1.1.0", "v1.0.0"},
			"repo:acme/engine tls": {"v1.0.0"}, "title:v1.1.0": {"v1.1.0"}, "title:proxy": nil, "after:2026-03-01": {"v1.1.0", "v2.0.0"},
			"before:2026-03-01 proxy": {"v1.0.0"},
			"":                        {"v2.0.0", "v1.1.0", "v1.0.0"}, "' OR 1=1 --": nil, `"`: {"v2.0.0", "v1.1.0", "v1.0.0"}, "NEAR/2 *": nil, "proxy -tls": {"v1.1.0"},
			"-proxy": {"v2.0.0"}, `-"reverse proxy" repo:engine`: {"v1.1.0"}, "-repo:engine": {"v2.0.0"}, "-title:v1*": {"v2.0.0"},
			"after:2026-02-28T12:00:00Z v1*": {"v1.1.0"},
		} {
			got := s.search(q)
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%q: got %q, want %q", q, got, want)
			}
		}
		if got := s.search("acme", "&scope=repo&items=acme/loom"); !slices.Equal(got, []string{"v2.0.0"}) {
			t.Errorf("in a scope: got %q", got)
		}
		for _, q := range []string{"after:soon", "-after:2026-01-01", strings.Repeat("x", 501), strings.Repeat("a b ", 11)} {
			if got := s.want(400, "bad_request", s.ada, http.MethodGet, "/api/feed?q="+url.QueryEscape(q), nil); got["field"] != "q" {
				t.Errorf("%.20q: got %v", q, got)
			}
		}
		checkSearchChanges(t, s)
	}, withRepos("acme/engine", "acme/loom"))
}

// checkSearchChanges looks at the index after releases were changed, deleted and renamed, and at pages of what is found.
func checkSearchChanges(t *testing.T, s *server) {
	t.Helper()
	first := s.want(200, "", s.ada, http.MethodGet, "/api/feed?q=acme&limit=2", nil)
	second := s.want(200, "", s.ada, http.MethodGet, "/api/feed?q=acme&limit=2&cursor="+first["next_cursor"].(string), nil)
	if got := append(titles(first), titles(second)...); !slices.Equal(got, []string{"release v2.0.0", "release v1.1.0", "release v1.0.0"}) ||
		second["next_cursor"] != nil {
		t.Errorf("in pages: got %q", got)
	}
	s.host.Change("acme/engine", func(c *fake.CodeHostContent) {
		c.Releases = c.Releases[:1]
		c.Releases[0].Body = "Rewritten"
	})
	s.host.Change("acme/loom", func(c *fake.CodeHostContent) {
		r := *c.Repository
		r.FullName = "acme/jacquard"
		c.Repository = &r
	})
	s.clock.advance(fullInterval)
	s.runJob("releases.sync_due")
	for q, want := range map[string][]string{"certificates": nil, "reverses": nil, "rewritten": {"v1.1.0"}} {
		if got := s.search(q); !slices.Equal(got, want) {
			t.Errorf("after a change, %q: got %q, want %q", q, got, want)
		}
	}
	var left int
	must(t, s.store.DB(t.Context()).Raw("SELECT COUNT(*) FROM release_search").Scan(&left).Error)
	if left != 2 {
		t.Errorf("the index has %d releases, want those that are left", left)
	}
	// What was stored before there was an index is found once the job has run.
	must(t, s.store.Tx(t.Context(), "forget the index", func(ctx context.Context) error {
		if err := s.store.Writer(ctx).Exec("DELETE FROM release_search").Error; err != nil {
			return err
		}
		return s.store.Writer(ctx).Exec("UPDATE release_entries SET indexed = ?", false).Error
	}))
	if got := s.search("behind"); got != nil {
		t.Errorf("got %q without an index", got)
	}
	s.runJob("releases.index_words")
	if got := s.search("behind"); !slices.Equal(got, []string{"v2.0.0"}) {
		t.Errorf("got %q with the index made anew", got)
	}
}

// TestSearchAfterRename finds the releases of a repository by its new name.
func TestSearchAfterRename(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		r := s.addRepo("acme/loom", day, 1)
		s.star("ada", r, day)
		s.saveToken()
		s.want(200, "", s.ada, http.MethodPost, "/api/sync/all", nil)
		r.FullName = "acme/jacquard"
		s.host.Change("ada", func(c *fake.CodeHostContent) { c.Starred = []codehost.Starred{{Repository: r, StarredAt: day}} })
		s.clock.advance(25 * fullInterval)
		s.want(200, "", s.ada, http.MethodPost, "/api/sync/starred", nil)
		s.runJob("releases.index_words")
		if got := s.search("repo:jacquard"); len(got) != 1 {
			t.Errorf("got %q", got)
		}
		if got := s.search("repo:loom"); len(got) != 0 {
			t.Errorf("got %q by the former name", got)
		}
	})
}
