package releases_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

// TestFollow follows repositories without a star, and hides some of their releases.
func TestFollow(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		s.addRepo("acme/engine", day, 0)
		for i, tag := range []string{"v1.0.0", "v1.1.0", "v1.1.1", "v2.0.0-rc.1", "nightly"} {
			r := newRelease("acme/engine", i, day)
			r.TagName, r.Name, r.Prerelease = tag, "Engine "+tag, tag == "v2.0.0-rc.1"
			s.publish("acme/engine", r)
		}
		const path = "/api/repos/acme/engine"
		s.want(404, "not_found", s.ada, http.MethodPut, path+"/filter", dict{"muted": true})
		s.want(200, "", s.ada, http.MethodPut, path+"/following", nil)
		s.want(400, "bad_request", s.ada, http.MethodPut, "/api/repos/acme/eng%20ine/following", nil)
		s.runJob("releases.sync_due")
		for _, tc := range []struct {
			filter dict
			want   []string
		}{
			{dict{}, []string{"nightly", "v2.0.0-rc.1", "v1.1.1", "v1.1.0", "v1.0.0"}},
			{dict{"no_prereleases": true}, []string{"nightly", "v1.1.1", "v1.1.0", "v1.0.0"}},
			{dict{"min_level": "minor"}, []string{"nightly", "v2.0.0-rc.1", "v1.1.0", "v1.0.0"}},
			{dict{"min_level": "major", "no_prereleases": true}, []string{"nightly", "v1.0.0"}},
			{dict{"keyword": "V1.1"}, []string{"v1.1.1", "v1.1.0"}},
			{dict{"muted": true}, nil},
		} {
			s.want(200, "", s.ada, http.MethodPut, path+"/filter", tc.filter)
			var got []string
			for _, r := range s.list(s.ada, "/api/releases") {
				got = append(got, r["tag_name"].(string))
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("%v: got %q, want %q", tc.filter, got, tc.want)
			}
		}
		s.want(400, "bad_request", s.ada, http.MethodPut, path+"/filter", dict{"min_level": "x"})
		followed := s.want(200, "", s.ada, http.MethodGet, "/api/repos/following", nil)["repos"].([]any)
		if len(followed) != 1 || followed[0].(dict)["followed"] != true || followed[0].(dict)["filter"].(dict)["muted"] != true {
			t.Errorf("got %v", followed)
		}
		s.want(200, "", s.ada, http.MethodDelete, path+"/following", nil)
		if got := s.want(200, "", s.ada, http.MethodGet, "/api/repos/following", nil)["repos"].([]any); len(got) != 0 {
			t.Errorf("got %v", got)
		}
	})
}

// TestFollowPrivate: a private repository is seen by who has starred it, and not by who knows its name.
func TestFollowPrivate(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		r := s.addRepo("acme/secret", day, 1)
		r.Private = true
		s.host.Change("acme/secret", func(c *fake.CodeHostContent) { c.Repository = &r })
		// Bob asks for the name before anything is stored of it.
		s.want(404, "not_found", s.bob, http.MethodPut, "/api/repos/acme/secret/following", nil)
		s.star("ada", r, day)
		s.saveToken()
		s.want(200, "", s.ada, http.MethodPost, "/api/sync/all", nil)
		if got := titles(s.want(200, "", s.ada, http.MethodGet, "/api/feed", nil)); !slices.Equal(got, []string{"release acme/secret v1.0.0"}) {
			t.Errorf("Ada sees %q", got)
		}
		if got := titles(s.want(200, "", s.bob, http.MethodGet, "/api/feed", nil)); len(got) != 0 {
			t.Errorf("Bob sees %q", got)
		}
		s.want(404, "not_found", s.bob, http.MethodPut, "/api/repos/acme/secret/following", nil)
		s.want(404, "not_found", s.bob, http.MethodGet, "/api/releases/1/detail", nil)
	})
}

// TestTagsOfRepoWithoutReleases takes tags as releases: at the first look the latest, and then each new one.
func TestTagsOfRepoWithoutReleases(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		s.addRepo("acme/tagged", day, 0)
		s.host.Change("acme/tagged", func(c *fake.CodeHostContent) { c.Tags = []codehost.Tag{{Name: "v2"}, {Name: "v1"}} })
		s.runJob("releases.sync_due")
		s.host.Change("acme/tagged", func(c *fake.CodeHostContent) { c.Tags = append([]codehost.Tag{{Name: "v3"}}, c.Tags...) })
		s.clock.advance(fullInterval)
		s.runJob("releases.sync_due")
		if got := titles(s.want(200, "", s.ada, http.MethodGet, "/api/feed", nil)); !slices.Equal(got, []string{"release v3", "release v2"}) {
			t.Errorf("got %q", got)
		}
	}, withRepos("acme/tagged"))
}
