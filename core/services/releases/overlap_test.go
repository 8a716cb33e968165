package releases_test

import (
	"errors"
	"testing"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/store"
)

// startOverlapping starts a server on PostgreSQL, and returns the configuration of its database for testkit.Overlap.
func startOverlapping(t *testing.T) (s *server, cfg store.Config) {
	t.Helper()
	cfg = testkit.PostgresConfig(t)
	return startServer(t, cfg, withSignIn()), cfg
}

// TestRepositoryTurnsPrivateWhileItIsFollowed: nobody follows or publishes a repository from the moment on at which it is private.
func TestRepositoryTurnsPrivateWhileItIsFollowed(t *testing.T) {
	for name, see := range map[string]func(s *server) error{
		"follow":  func(s *server) error { return s.service.Follow(s.context(s.bob), "acme/engine") },
		"publish": func(s *server) error { return s.service.PublishRepo(s.context(s.bob), "acme/engine") },
	} {
		t.Run(name, func(t *testing.T) {
			s, cfg := startOverlapping(t)
			repos, now := repo.NewStore(s.store), s.clock.now()
			engine := repo.Repo{Host: "codehost.main", RemoteID: "1", FullName: "acme/engine"}
			must(t, repos.Save(t.Context(), &engine, now))
			secret := engine
			secret.Private = true
			seen, err := testkit.Overlap(t, cfg, "SELECT 1 FROM release_repos FOR UPDATE",
				func() error { return see(s) },
				func() error { return repos.Save(t.Context(), &secret, now) })
			must(t, err)
			if code := fault.CodeOf(seen); seen != nil && !errors.Is(seen, repo.ErrNoRepo) && code != fault.BadRequest {
				t.Error(seen)
			}
			var left int64
			must(t, s.store.DB(t.Context()).Raw("SELECT (SELECT COUNT(*) FROM release_links) + (SELECT COUNT(*) FROM release_public_repos)").Scan(&left).Error)
			if found, err := repos.Find(t.Context(), engine.ID); err != nil || !found.Private || left != 0 {
				t.Errorf("got %+v, %v, with %d who see it", found, err, left)
			}
		})
	}
}
