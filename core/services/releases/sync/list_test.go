package sync_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

// listed is the repository whose list the tests change.
const listed = "acme/r0"

// setReleases gives the repository a list of releases, r1 the first.
func (s *syncing) setReleases(count int) {
	s.host.Change(listed, func(c *fake.CodeHostContent) {
		c.Releases = nil
		for i := range count {
			c.Releases = append(c.Releases, codehost.Release{ID: fmt.Sprint("id", i+1), TagName: fmt.Sprint("r", i+1),
				Name: fmt.Sprint("Release ", i+1), PublishedAt: s.now.Add(-time.Duration(i+1) * time.Hour)})
		}
	})
}

// readDue reads what is due, an hour after the last time.
func (s *syncing) readDue(t *testing.T) {
	t.Helper()
	s.now = s.now.Add(2 * time.Hour)
	if _, err := s.Due(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
}

// listStored returns the releases that are stored, the latest first.
func (s *syncing) listStored(t *testing.T) (all []repo.Release) {
	t.Helper()
	must(t, s.store.DB(t.Context()).Order("ts DESC, id DESC").Find(&all).Error)
	var counts []int
	must(t, s.store.DB(t.Context()).Model(&repo.Repo{}).Pluck("release_count", &counts).Error)
	if len(counts) != 1 || counts[0] != len(all) {
		t.Errorf("the repository counts %v, and has %d releases", counts, len(all))
	}
	return all
}

// findTagged returns the only release with a tag.
func (s *syncing) findTagged(t *testing.T, tag string) repo.Release {
	t.Helper()
	var found []repo.Release
	for _, r := range s.listStored(t) {
		if r.Tag == tag {
			found = append(found, r)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d releases have the tag %s", len(found), tag)
	}
	return found[0]
}

// TestListsAreReadToTheirEnd changes lists of releases as hosts do, and looks at what is known after the next visits.
func TestListsAreReadToTheirEnd(t *testing.T) {
	insert := func(at int, r codehost.Release) func(c *fake.CodeHostContent) {
		return func(c *fake.CodeHostContent) { c.Releases = slices.Insert(slices.Clone(c.Releases), at, r) }
	}
	tests := []struct {
		name   string
		count  int
		change func(s *syncing)
		// visits is how many visits it takes.
		visits int
		check  func(t *testing.T, s *syncing)
	}{
		{"an old commit is released now, behind the first page", 250, func(s *syncing) {
			s.host.Change(listed, insert(180, codehost.Release{ID: "backport", TagName: "v1.0.9", PublishedAt: s.now}))
		}, 1, func(t *testing.T, s *syncing) {
			if got := s.listStored(t); len(got) != 251 || got[0].Tag != "v1.0.9" {
				t.Errorf("of %d releases the latest is %s", len(got), got[0].Tag)
			}
		}},
		{"a full last page is followed by another", 100, func(s *syncing) {
			s.host.Change(listed, insert(100, codehost.Release{ID: "backport", TagName: "v1.0.9", PublishedAt: s.now}))
		}, 1, func(t *testing.T, s *syncing) { s.findTagged(t, "v1.0.9") }},
		{"drafts fill the first page", 10, func(s *syncing) {
			s.host.Change(listed, func(c *fake.CodeHostContent) {
				drafts := make([]codehost.Release, 120)
				for i := range drafts {
					drafts[i] = codehost.Release{ID: fmt.Sprint("draft", i), TagName: fmt.Sprint("draft", i), Draft: true}
				}
				c.Releases = slices.Concat(drafts, c.Releases, []codehost.Release{{ID: "new", TagName: "new", PublishedAt: s.now}})
			})
		}, 1, func(t *testing.T, s *syncing) {
			if got := s.listStored(t); len(got) != 11 || got[0].Tag != "new" {
				t.Errorf("got %d releases, %s the latest", len(got), got[0].Tag)
			}
		}},
		{"page two fails once", 250, func(s *syncing) {
			s.host.Change(listed, insert(0, codehost.Release{ID: "first", TagName: "first", PublishedAt: s.now}))
			s.host.Change(listed, insert(150, codehost.Release{ID: "second", TagName: "second", PublishedAt: s.now}))
			// The first page is read, the repository described, and then the host fails.
			s.host.Fail(listed, nil, nil, fake.CodeHostError(502, 0))
			s.now = s.now.Add(2 * time.Hour)
			if _, err := s.Due(context.Background(), 10); err == nil {
				panic("the host did not fail")
			}
		}, 1, func(t *testing.T, s *syncing) { s.findTagged(t, "first"); s.findTagged(t, "second") }},
		{"one is deleted and made anew", 3, func(s *syncing) {
			s.host.Change(listed, func(c *fake.CodeHostContent) {
				c.Releases = slices.Clone(c.Releases)
				c.Releases[1].ID, c.Releases[1].Body = "made anew", "Now with notes"
			})
		}, 1, func(t *testing.T, s *syncing) {
			if got := s.findTagged(t, "r2"); got.RemoteID != "made anew" || got.Body != "Now with notes" || got.ID != 2 {
				t.Errorf("got %+v, want the release that was there", got)
			}
		}},
		{"two have the same tag", 3, func(s *syncing) {
			s.host.Change(listed, insert(0, codehost.Release{ID: "other", TagName: "r2", PublishedAt: s.now}))
		}, 1, func(t *testing.T, s *syncing) {
			if got := s.listStored(t); len(got) != 4 {
				t.Errorf("got %d releases, want both", len(got))
			}
		}},
		{"a date in the future", 3, func(s *syncing) {
			s.host.Change(listed, insert(0, codehost.Release{ID: "future", TagName: "future", PublishedAt: s.now.AddDate(10, 0, 0)}))
		}, 1, func(t *testing.T, s *syncing) {
			found := s.findTagged(t, "future").TS
			if found != store.Millis(s.now) {
				t.Errorf("it stands at %v, want now", store.FromMillis(found))
			}
			s.host.Change(listed, func(c *fake.CodeHostContent) {
				c.Releases = slices.Clone(c.Releases)
				c.Releases[0].Body = "Notes"
			})
			s.readDue(t)
			if got := s.findTagged(t, "future"); got.TS != found || got.Body != "Notes" {
				t.Errorf("after a change of its notes it stands at %v with %q", store.FromMillis(got.TS), got.Body)
			}
		}},
		{"one is deleted from a list of several pages", 250, func(s *syncing) {
			s.host.Change(listed, func(c *fake.CodeHostContent) { c.Releases = slices.Delete(slices.Clone(c.Releases), 120, 121) })
		}, 2, func(t *testing.T, s *syncing) {
			if got := s.listStored(t); len(got) != 249 {
				t.Errorf("got %d releases", len(got))
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
				s := startSyncing(t, cfg, 1)
				s.setReleases(tt.count)
				s.readDue(t)
				if n := len(s.listStored(t)); n != tt.count {
					t.Fatalf("at first %d releases are known of %d", n, tt.count)
				}
				tt.change(s)
				for range tt.visits {
					s.readDue(t)
				}
				tt.check(t, s)
			})
		})
	}
}

// TestLongListIsReadInTheBackground reads three pages at the first visit, and the others at once after it, also across a restart.
func TestLongListIsReadInTheBackground(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		s := startSyncing(t, cfg, 1)
		s.setReleases(1750)
		for visit, want := range []int{300, 1300, 1750} {
			if visit > 0 {
				s.restart(t)
				s.now = s.now.Add(time.Second) // it is due at once
			}
			if _, err := s.Due(t.Context(), 10); err != nil {
				t.Fatal(err)
			}
			if n := len(s.listStored(t)); n < want-100 || n > want {
				t.Fatalf("after visit %d %d releases are known, want %d", visit+1, n, want)
			}
		}
		calls := s.countLists()
		s.now = s.now.Add(time.Second)
		if _, err := s.Due(t.Context(), 10); err != nil || s.countLists() != calls {
			t.Errorf("the whole list is read again at once: %v", err)
		}
		s.readDue(t)
		s.readDue(t)
		if n := len(s.listStored(t)); n != 1750 {
			t.Errorf("%d releases are known", n)
		}
	})
}

// TestUnchangedPagesCostNothing visits a list of several pages that has not changed with a quota of no calls.
func TestUnchangedPagesCostNothing(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		s := startSyncing(t, cfg, 1)
		s.setReleases(250)
		s.readDue(t)
		s.host.SetQuota(&codehost.Quota{Limit: 60, Remaining: 1, ResetAt: s.now.AddDate(1, 0, 0)})
		calls := s.countLists()
		s.readDue(t)
		if n := s.countLists() - calls; n != 3 {
			t.Errorf("%d pages were asked for, want 3", n)
		}
		known, err := s.Limits(t.Context())
		if err != nil || len(known) != 1 || known[0].Quota.Remaining != 1 {
			t.Errorf("of the quota %+v is left: %v", known, err)
		}
	})
}
