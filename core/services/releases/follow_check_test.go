package releases_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

const followPath = "/api/repos/following"

// followedNames returns what a user follows.
func (s *server) followedNames(key string) (names []string) {
	s.Helper()
	for _, r := range s.want(200, "", key, http.MethodGet, followPath, nil)["repos"].([]any) {
		names = append(names, r.(dict)["full_name"].(string))
	}
	return names
}

// TestFollowTakesAddresses follows a repository by each way in which people write it.
func TestFollowTakesAddresses(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		for i, format := range []string{
			"%s", " %s ", "https://codehost.example/%s", "https://codehost.example/%s/", "https://www.codehost.example/%s/releases",
			"https://codehost.example/%s/releases/tag/v1.0.0?x=1#notes",
			"http://codehost.example/%s.git", "codehost.example/%s", "git@codehost.example:%s.git", "ssh://git@codehost.example/%s.git",
			"git+https://codehost.example/%s",
		} {
			name := fmt.Sprintf("acme/engine%d", i)
			s.addRepo(name, day, 1)
			text := fmt.Sprintf(format, name)
			if got := s.want(200, "", s.bob, http.MethodPost, followPath, dict{"name": text}); got["full_name"] != name {
				t.Errorf("%s: got %v", text, got)
			}
			if got := s.followedNames(s.bob); !slices.Contains(got, name) {
				t.Errorf("%s: followed are %q", text, got)
			}
		}
		// The name is the one that the code host has for it.
		renamed := s.addRepo("acme/Loom", day, 1)
		s.host.Change("acme/weaver", func(c *fake.CodeHostContent) { c.Repository = &renamed })
		if got := s.want(200, "", s.bob, http.MethodPost, followPath, dict{"name": "acme/weaver"}); got["full_name"] != "acme/Loom" {
			t.Errorf("got %v", got)
		}
		for _, text := range []string{"", "nonsense", "https://", "https://codehost.example/acme", "a/b/c", "owner/na me",
			strings.Repeat("x", 501)} {
			s.want(400, "bad_request", s.bob, http.MethodPost, followPath, dict{"name": text})
		}
		foreign := errs.BadInput(codehost.ReasonInvalidInput, "not an address of this host")
		s.host.Fail("https://blog.example/some/post", foreign)
		if got := s.want(400, "bad_request", s.bob, http.MethodPost, followPath,
			dict{"name": "https://blog.example/some/post"}); got["reason"] != "other_site" ||
			!strings.Contains(got["message"].(string), "blog.example") {
			t.Errorf("got %v", got)
		}
	})
}

// TestFollowChecksThatTheRepositoryExists: what the code host says of a name is what the user is told, and nothing is followed.
func TestFollowChecksThatTheRepositoryExists(t *testing.T) {
	limited := fake.CodeHostError(429, time.Hour)
	for _, tt := range []struct {
		name   string
		fails  error
		status int
		code   string
		reason string
		// says is part of the message.
		says string
	}{
		{"no such repository", fake.CodeHostError(404, 0), 404, "not_found", "no_such_repository", "has no repository acme/ghost"},
		{"no access", fake.CodeHostError(403, 0), 403, "forbidden", "repository_denied", "cannot read the repository acme/ghost"},
		{"refused", fake.CodeHostError(422, 0), 400, "bad_request", "repository_refused", "refuses the repository name acme/ghost"},
		{"down", fake.CodeHostError(503, 0), 503, "not_ready", "host_unreachable", "acme/ghost was not checked"},
		{"too slow", fault.FromPlugin("codehost.fake", context.DeadlineExceeded), 503, "not_ready", "host_unreachable", "try again"},
		{"limited", limited, 429, "rate_limited", "host_limited", "Rate limited by the code host until 2026-03-01T13:00:00"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			forEach(t, func(t *testing.T, s *server) {
				for _, way := range []struct {
					method, path string
					body         any
				}{{http.MethodPut, "/api/repos/acme/ghost/following", nil}, {http.MethodPost, followPath, dict{"name": "acme/ghost"}}} {
					s.host.Fail("acme/ghost", tt.fails)
					got := s.want(tt.status, tt.code, s.bob, way.method, way.path, way.body)
					if got["reason"] != tt.reason || got["field"] != "name" || !strings.Contains(got["message"].(string), tt.says) {
						t.Errorf("%s: got %v", way.method, got)
					}
					if got := s.followedNames(s.bob); len(got) != 0 {
						t.Errorf("%s: followed is %q", way.method, got)
					}
				}
				for _, c := range s.host.Calls() {
					if c.Method == "findrepository" && !c.Bounded {
						t.Error("the code host may take as long as it likes")
					}
				}
			})
		})
	}
}

// TestFollowAsksWithTheTokenOfTheUser: with a token the check is that account's, and an account that is refused keeps nobody from what
// everybody sees. What is known already is followed while the code host is down.
func TestFollowAsksWithTheTokenOfTheUser(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		s.addRepo("acme/engine", day, 1)
		s.saveToken()
		before := len(s.host.Calls())
		s.want(200, "", s.ada, http.MethodPost, followPath, dict{"name": "acme/engine"})
		if c := s.host.Calls()[before:]; len(c) != 1 || c[0].Method != "findrepository" || c[0].Token != schema.Secret(adaToken) {
			t.Errorf("got %+v", c)
		}
		s.addRepo("acme/loom", day, 1)
		s.host.Fail("acme/loom", fake.CodeHostError(403, 0))
		s.want(200, "", s.ada, http.MethodPost, followPath, dict{"name": "acme/loom"})
		// A private repository is shown by a star; who has its name alone learns nothing.
		secret := s.addRepo("acme/secret", day, 1)
		secret.Private = true
		s.host.Change("acme/secret", func(c *fake.CodeHostContent) { c.Repository = &secret })
		if got := s.want(404, "not_found", s.ada, http.MethodPost, followPath,
			dict{"name": "acme/secret"}); got["reason"] != "private_repository" {
			t.Errorf("got %v", got)
		}
		if got := s.want(404, "not_found", s.bob, http.MethodPost, followPath,
			dict{"name": "acme/secret"}); got["reason"] != "no_such_repository" {
			t.Errorf("got %v", got)
		}
		s.runJob("releases.sync_due")
		s.host.Fail("acme/engine", fake.CodeHostError(503, 0))
		s.want(200, "", s.bob, http.MethodPost, followPath, dict{"name": "acme/engine"})
	})
}
