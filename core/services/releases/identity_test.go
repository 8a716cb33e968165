package releases_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

// TestRepoBecomesAnother: what the host has under a name is compared at each visit.
func TestRepoBecomesAnother(t *testing.T) {
	const old = "release acme/engine v1.0.0"
	tests := []struct {
		name string
		// star says whether Ada has starred it with a token; Bob follows it without one.
		star   bool
		change func(s *server, c *fake.CodeHostContent)
		// bob and ada are the titles that they see after the next visit.
		bob, ada []string
	}{
		{"private, and nobody has a token", false, func(_ *server, c *fake.CodeHostContent) { c.Repository = nil }, nil, nil},
		{"private, and somebody has a token", true, func(_ *server, c *fake.CodeHostContent) {
			r := *c.Repository
			r.Private = true
			c.Repository = &r
		}, nil, []string{old}},
		{"another repository has the name", false, func(s *server, c *fake.CodeHostContent) {
			r := *c.Repository
			r.ID = "id-of-another"
			c.Repository = &r
			next := newRelease("acme/engine", 7, day.Add(time.Hour))
			next.Name = "Not the engine"
			c.Releases = []codehost.Release{next}
		}, []string{old}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			forEach(t, func(t *testing.T, s *server) {
				r := s.addRepo("acme/engine", day, 1)
				s.want(200, "", s.bob, http.MethodPut, "/api/repos/acme/engine/following", nil)
				if tt.star {
					s.star("ada", r, day)
					s.saveToken()
					s.want(200, "", s.ada, http.MethodPost, "/api/sync/all", nil)
				}
				s.runJob("releases.sync_due")
				if got := titles(s.want(200, "", s.bob, http.MethodGet, "/api/feed", nil)); !slices.Equal(got, []string{old}) {
					t.Fatalf("before: %q", got)
				}
				s.host.Change("acme/engine", func(c *fake.CodeHostContent) { tt.change(s, c) })
				if tt.star { // the list of stars tells it as well
					s.host.Change("ada", func(c *fake.CodeHostContent) {
						starred := slices.Clone(c.Starred)
						starred[0].Repository.Private = true
						c.Starred = starred
					})
				}
				s.clock.advance(fullInterval)
				s.runJob("releases.sync_due")
				if got := titles(s.want(200, "", s.bob, http.MethodGet, "/api/feed", nil)); !slices.Equal(got, tt.bob) {
					t.Errorf("who follows it sees %q, want %q", got, tt.bob)
				}
				if got := titles(s.want(200, "", s.ada, http.MethodGet, "/api/feed", nil)); tt.star && !slices.Equal(got, tt.ada) {
					t.Errorf("who can read it sees %q, want %q", got, tt.ada)
				}
			})
		})
	}
}

// TestFollowsAreLimited: a member follows 1,000 repositories at most.
func TestFollowsAreLimited(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		var many strings.Builder
		for i := range 1000 {
			fmt.Fprintf(&many, "acme/r%d\n", i)
		}
		s.want(200, "", s.bob, http.MethodPost, importPath, dict{"content": many.String()})
		s.addRepo("acme/one-more", day, 0)
		s.addRepo("acme/r7", day, 0)
		if got := s.want(409, "conflict", s.bob, http.MethodPut, "/api/repos/acme/one-more/following", nil); got["limit"] != 1000.0 {
			t.Errorf("got %v", got)
		}
		s.want(200, "", s.bob, http.MethodPut, "/api/repos/acme/r7/following", nil)
		s.want(200, "", s.bob, http.MethodDelete, "/api/repos/acme/r7/following", nil)
		s.want(200, "", s.bob, http.MethodPut, "/api/repos/acme/one-more/following", nil)
	})
}
