package repo_test

import (
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/releases"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
)

// TestSaveAllHasOneOrder: of two transactions that save the same repositories, listed differently, one waits for the other.
func TestSaveAllHasOneOrder(t *testing.T) {
	cfg := testkit.PostgresConfig(t)
	repos := repo.NewStore(testkit.OpenStore(t, cfg, releases.Migrations()))
	save := func(names ...string) error {
		all := make([]*repo.Repo, len(names))
		for i, name := range names {
			all[i] = &repo.Repo{Host: "codehost.main", RemoteID: name, FullName: "acme/" + name}
		}
		return repos.SaveAll(t.Context(), all, time.Now())
	}
	testkit.Must(t, save("a", "b", "c"))
	first, second := testkit.Overlap(t, cfg, "SELECT 1 FROM release_repos WHERE remote_id = 'c' FOR UPDATE",
		func() error { return save("a", "c", "b") },
		func() error { return save("b", "a", "c") })
	testkit.Must(t, first)
	testkit.Must(t, second)
}
