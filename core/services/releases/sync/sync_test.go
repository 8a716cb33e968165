package sync_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/services/releases"
	"github.com/patchbay-dev/patchbay/core/services/releases/account"
	"github.com/patchbay-dev/patchbay/core/services/releases/feed"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/services/releases/sync"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// syncing is a Syncer of a double of a code host, with repositories that everybody sees.
type syncing struct {
	*sync.Syncer
	host  *fake.CodeHost
	store *store.Store
	now   time.Time
}

// startSyncing adds repositories with two releases each.
func startSyncing(t *testing.T, cfg store.Config, count int) *syncing {
	t.Helper()
	s := &syncing{host: fake.NewCodeHost(""), store: testkit.OpenStore(t, cfg, releases.Migrations()), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	ring, err := secret.NewKeyring(make([]byte, secret.KeySize))
	must(t, err)
	repos := repo.NewStore(s.store)
	s.Syncer = sync.New(sync.Config{
		Store: s.store, Repos: repos, Feed: feed.NewStore(s.store, repos), Accounts: account.NewStore(s.store, ring), State: sync.NewState(s.store), Logger: hclog.NewNullLogger(),
		Now: func() time.Time { return s.now }, Interval: func() time.Duration { return time.Hour },
		Hosts: func() []sync.Host { return []sync.Host{sync.NewHost("codehost.main", s.host)} },
	})
	must(t, s.store.Tx(t.Context(), "add repositories", func(ctx context.Context) error {
		for i := range count {
			name := fmt.Sprintf("acme/r%d", i)
			s.host.Change(name, func(c *fake.CodeHostContent) {
				c.Repository = &codehost.Repository{ID: name, FullName: name}
				for v := range 2 {
					c.Releases = append(c.Releases, codehost.Release{ID: fmt.Sprint(name, v), TagName: fmt.Sprintf("v%d", 2-v), PublishedAt: s.now.Add(-time.Hour)})
				}
			})
			r := repo.Repo{Host: "codehost.main", FullName: name}
			if err := repos.Save(ctx, &r, s.now); err != nil {
				return err
			}
			if err := repos.SetFollowed(ctx, repo.Everybody, r.ID, true); err != nil {
				return err
			}
		}
		return nil
	}))
	return s
}

// countLists counts how often lists of releases were asked for.
func (s *syncing) countLists() (n int) {
	for _, c := range s.host.Calls() {
		if c.Method == "listreleases" {
			n++
		}
	}
	return n
}

// TestSyncBesideSchedule: a repository that the schedule reads while a sync works is read once, and the sync tells of its releases.
func TestSyncBesideSchedule(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		const count = 12
		s := startSyncing(t, cfg, count)
		began := false
		res, err := s.Releases(t.Context(), "", func(int, int) {
			if began {
				return
			}
			began = true
			if _, err := s.Due(t.Context(), 100); err != nil {
				t.Error(err)
			}
		})
		if err != nil || res.Repos != count || res.Releases != 2*count {
			t.Errorf("got %+v, %v, want the releases of all %d repositories", res, err, count)
		}
		if n := s.countLists(); n != count {
			t.Errorf("the code host was asked %d times for %d repositories", n, count)
		}
		// A sync right after it reads nothing, and tells of nothing new.
		s.now = s.now.Add(10 * time.Second)
		if res, err = s.Releases(t.Context(), "", func(int, int) {}); err != nil || res.Repos != count || res.Releases != 0 || s.countLists() != count {
			t.Errorf("got %+v, %v", res, err)
		}
	})
}

// TestKnownLimits: what a code host says of its limit is known, and that it asked for a pause.
func TestKnownLimits(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		s := startSyncing(t, cfg, 1)
		if known, err := s.Limits(t.Context()); err != nil || len(known) != 0 {
			t.Errorf("before any call: %+v, %v", known, err)
		}
		s.host.SetQuota(&codehost.Quota{Limit: 60, Remaining: 10, ResetAt: s.now.Add(time.Hour)})
		if _, err := s.Releases(t.Context(), "", func(int, int) {}); err != nil {
			t.Fatal(err)
		}
		known, err := s.Limits(t.Context())
		if err != nil || len(known) != 1 || known[0].Host != "codehost.main" || known[0].AccountID != "" || known[0].Quota.Limit != 60 || known[0].Quota.Remaining != 8 || !known[0].PausedUntil.IsZero() {
			t.Errorf("after calls: %+v, %v", known, err)
		}
		s.now = s.now.Add(2 * time.Hour)
		s.host.Fail("acme/r0", fake.CodeHostError(403, 5*time.Minute))
		if _, err := s.Due(t.Context(), 10); err == nil {
			t.Error("the repository was read")
		}
		known, err = s.Limits(t.Context())
		if err != nil || len(known) != 1 || !known[0].PausedUntil.Equal(s.now.Add(5*time.Minute)) || known[0].Quota.Limit != 60 {
			t.Errorf("in the pause: %+v, %v", known, err)
		}
	})
}
