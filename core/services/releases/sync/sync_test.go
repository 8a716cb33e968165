package sync_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/fault"
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

var must = testkit.Must

// syncing is a Syncer of a double of a code host, with repositories that everybody sees.
type syncing struct {
	*sync.Syncer
	host     *interruptedHost
	store    *store.Store
	accounts *account.Store
	now      time.Time
}

// startSyncing adds repositories with two releases each.
func startSyncing(t *testing.T, cfg store.Config, count int) *syncing {
	t.Helper()
	s := &syncing{host: &interruptedHost{CodeHost: fake.NewCodeHost("")}, store: testkit.OpenStore(t, cfg, releases.Migrations()),
		now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	s.restart(t)
	repos := repo.NewStore(s.store)
	must(t, s.store.Tx(t.Context(), "add repositories", func(ctx context.Context) error {
		for i := range count {
			name := fmt.Sprintf("acme/r%d", i)
			s.host.Change(name, func(c *fake.CodeHostContent) {
				c.Repository = &codehost.Repository{ID: name, FullName: name}
				for v := range 2 {
					c.Releases = append(c.Releases, codehost.Release{ID: fmt.Sprint(name, v), TagName: fmt.Sprintf("v%d", 2-v),
						PublishedAt: s.now.Add(-time.Hour)})
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

// restart replaces the Syncer by one that knows what is in the database alone.
func (s *syncing) restart(t *testing.T) {
	t.Helper()
	ring, err := secret.NewKeyring(make([]byte, secret.KeySize))
	must(t, err)
	s.accounts = account.NewStore(s.store, ring)
	repos := repo.NewStore(s.store)
	s.Syncer = sync.New(sync.Config{
		Store: s.store, Repos: repos, Feed: feed.NewStore(s.store, repos), Accounts: s.accounts, State: sync.NewState(s.store),
		Logger: hclog.NewNullLogger(),
		Now:    func() time.Time { return s.now }, Interval: func() time.Duration { return time.Hour },
		Hosts: func() []sync.Host { return []sync.Host{sync.NewHost("codehost.main", s.host)} },
		OAuth: func() codehost.OAuthClient { return codehost.OAuthClient{} },
	})
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
		if res, err = s.Releases(t.Context(), "", func(int, int) {}); err != nil || res.Repos != count || res.Releases != 0 ||
			s.countLists() != count {
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
		if err != nil || len(known) != 1 || known[0].Host != "codehost.main" || known[0].AccountID != "" || known[0].Quota.Limit != 60 ||
			known[0].Quota.Remaining != 8 || !known[0].PausedUntil.IsZero() {
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

// TestRestartInPause restarts in the middle of a pause, once after a refusal and once after the last call of a quota: what the code host
// said is still known, and it is not called before the pause ends.
func TestRestartInPause(t *testing.T) {
	for name, limit := range map[string]func(*syncing){
		"Retry-After": func(s *syncing) { s.host.Fail("acme/r0", fake.CodeHostError(429, time.Hour)) },
		"quota": func(s *syncing) {
			// A call that finds nothing new costs nothing.
			s.host.Change("acme/r0", func(c *fake.CodeHostContent) {
				c.Releases = append(c.Releases, codehost.Release{ID: "new", TagName: "v3", PublishedAt: s.now})
			})
			s.host.SetQuota(&codehost.Quota{Limit: 60, Remaining: 1, ResetAt: s.now.Add(time.Hour)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
				s := startSyncing(t, cfg, 1)
				s.host.SetQuota(&codehost.Quota{Limit: 60, Remaining: 50, ResetAt: s.now.Add(time.Hour)})
				if _, err := s.Due(t.Context(), 10); err != nil {
					t.Fatal(err)
				}
				s.now = s.now.Add(2 * time.Hour)
				limit(s)
				_, _ = s.Due(t.Context(), 10)
				before, err := s.Limits(t.Context())
				if err != nil || len(before) != 1 || before[0].Quota.Limit != 60 || before[0].PausedUntil.IsZero() {
					t.Fatalf("before the restart: %+v, %v", before, err)
				}
				s.restart(t)
				after, err := s.Limits(t.Context())
				if err != nil || len(after) != 1 || after[0] != before[0] {
					t.Errorf("after the restart: %+v, %v, want %+v", after, err, before)
				}
				calls := len(s.host.Calls())
				until := before[0].PausedUntil
				s.host.SetQuota(nil)
				for s.now = s.now.Add(10 * time.Minute); s.now.Before(until); s.now = s.now.Add(10 * time.Minute) {
					_, _ = s.Due(t.Context(), 10)
					if _, err := s.Releases(t.Context(), "", func(int, int) {}); err == nil {
						t.Error("a sync in the pause tells of no pause")
					}
					if n := len(s.host.Calls()); n != calls {
						t.Fatalf("the code host was called %d times in the pause", n-calls)
					}
				}
				s.now = until.Add(time.Hour)
				if _, err := s.Due(t.Context(), 10); err != nil || len(s.host.Calls()) == calls {
					t.Errorf("after the pause: %d calls, %v", len(s.host.Calls())-calls, err)
				}
			})
		})
	}
}

// TestFailuresSayWhatIsWrong has a code host fail in each way: those who see the repository are told what is wrong.
func TestFailuresSayWhatIsWrong(t *testing.T) {
	for name, tt := range map[string]struct {
		fail error
		code fault.Code
		said string
	}{
		"no such repository": {fake.CodeHostError(404, 0), fault.NotFound,
			"The code host has no repository acme/r0, or no account here can read it."},
		"no access":   {fake.CodeHostError(403, 0), fault.Forbidden, "No account here can read acme/r0 at the code host."},
		"unreachable": {fake.CodeHostError(502, 0), fault.NotReady, "The code host is unreachable: "},
		"a limit": {fake.CodeHostError(429, time.Hour), fault.RateLimited,
			"Rate limited by the code host until 2026-03-01T13:00:00.000Z."},
	} {
		t.Run(name, func(t *testing.T) {
			s := startSyncing(t, testkit.SQLiteConfig(t), 1)
			s.host.Fail("acme/r0", nil, tt.fail) // it is described first
			_, _ = s.Due(t.Context(), 10)
			var found []repo.Repo
			must(t, s.store.DB(t.Context()).Find(&found).Error)
			if len(found) != 1 || found[0].ErrorCode != string(tt.code) || !strings.HasPrefix(found[0].Error, tt.said) {
				t.Errorf("got %+v", found)
			}
			s.now = s.now.Add(24 * time.Hour)
			if _, err := s.Due(t.Context(), 10); err != nil {
				t.Fatal(err)
			}
			must(t, s.store.DB(t.Context()).Find(&found).Error)
			if found[0].Error != "" {
				t.Errorf("after a success it says %q", found[0].Error)
			}
		})
	}
}
