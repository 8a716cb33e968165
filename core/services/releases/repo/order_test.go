package repo_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/releases"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/store"
)

// overlapping is a store of repositories on PostgreSQL, with the configuration of its database for testkit.Overlap.
type overlapping struct {
	*repo.Store
	db  *store.Store
	cfg store.Config
}

func startOverlapping(t *testing.T) *overlapping {
	t.Helper()
	cfg := testkit.PostgresConfig(t)
	db := testkit.OpenStore(t, cfg, releases.Migrations())
	return &overlapping{repo.NewStore(db), db, cfg}
}

// reposOf returns repositories of acme with names that are their ids at the host as well.
func reposOf(names ...string) (all []*repo.Repo) {
	for _, name := range names {
		all = append(all, &repo.Repo{Host: "codehost.main", RemoteID: name, FullName: "acme/" + name})
	}
	return all
}

// save saves repositories of acme.
func (o *overlapping) save(t *testing.T, names ...string) []*repo.Repo {
	t.Helper()
	all := reposOf(names...)
	testkit.Must(t, o.SaveAll(t.Context(), all, time.Now()))
	return all
}

// TestSaveAllHasOneOrder: of two transactions that save the same repositories, listed differently, one waits for the other.
func TestSaveAllHasOneOrder(t *testing.T) {
	o := startOverlapping(t)
	o.save(t, "a", "b", "c")
	first, second := testkit.Overlap(t, o.cfg, "SELECT 1 FROM release_repos WHERE remote_id = 'c' FOR UPDATE",
		func() error { return o.SaveAll(t.Context(), reposOf("a", "c", "b"), time.Now()) },
		func() error { return o.SaveAll(t.Context(), reposOf("b", "a", "c"), time.Now()) })
	testkit.Must(t, first)
	testkit.Must(t, second)
}

// TestRepositoryTurnsPrivateBesideLinks: who saves a repository that turns private, and another one, changes links once both are saved. A
// transaction that has saved the other one, and changes links of the same user, does not wait for it.
func TestRepositoryTurnsPrivateBesideLinks(t *testing.T) {
	o := startOverlapping(t)
	all := o.save(t, "b", "c")
	testkit.Must(t, o.SetFollowed(t.Context(), "usr_ada", all[0].ID, true))
	secret := reposOf("b", "c")
	secret[0].Private = true
	first, second := testkit.Overlap(t, o.cfg, "LOCK TABLE release_account_repos IN SHARE MODE",
		func() error {
			return o.db.Tx(t.Context(), "save repository and star", func(ctx context.Context) error {
				if err := o.SaveAll(ctx, reposOf("c"), time.Now()); err != nil {
					return err
				}
				return o.ReplaceStarred(ctx, "usr_ada", "usr_ada", []repo.Starred{{RepoID: all[1].ID}})
			})
		},
		func() error { return o.SaveAll(t.Context(), secret, time.Now()) })
	testkit.Must(t, first)
	testkit.Must(t, second)
	for i, want := range []bool{false, true} {
		if sees, err := o.Sees(t.Context(), "usr_ada", all[i].ID); err != nil || sees != want {
			t.Errorf("%s is seen: %v, %v", all[i].FullName, sees, err)
		}
	}
}

// TestRepositoryIsRenamedWhileReleasesAreStored: who renames a repository changes its releases after it, as who stores releases does.
func TestRepositoryIsRenamedWhileReleasesAreStored(t *testing.T) {
	o := startOverlapping(t)
	id := o.save(t, "a")[0].ID
	add := func(all ...repo.Release) error {
		_, err := o.AddReleases(t.Context(), id, all, time.Now(), nil)
		return err
	}
	testkit.Must(t, add(repo.Release{RemoteID: "1", Tag: "v1"}))
	renamed := reposOf("a")
	renamed[0].FullName = "acme/renamed"
	first, second := testkit.Overlap(t, o.cfg, "LOCK TABLE release_bodies IN SHARE MODE",
		func() error {
			return add(repo.Release{RemoteID: "1", Tag: "v1", Hash: "changed"},
				repo.Release{RemoteID: "2", Tag: "v2", BodyTruncated: true, FullBody: "all of it"})
		},
		func() error { return o.SaveAll(t.Context(), renamed, time.Now()) })
	testkit.Must(t, first)
	testkit.Must(t, second)
}

// TestLinksMoveWhileARepositoryIsFollowed: who follows a repository by its former name, and who gives its links to the one with the present
// name, wait for each other in one order.
func TestLinksMoveWhileARepositoryIsFollowed(t *testing.T) {
	o := startOverlapping(t)
	all := o.save(t, "old", "new")
	from, to := all[0].ID, all[1].ID
	testkit.Must(t, o.SetFollowed(t.Context(), "usr_ada", from, true))
	first, second := testkit.Overlap(t, o.cfg, "LOCK TABLE release_filters IN SHARE MODE",
		func() error { return o.MoveLinks(t.Context(), from, to) },
		func() error {
			return o.db.Tx(t.Context(), "follow", func(ctx context.Context) error {
				if _, err := o.Hold(ctx, from); err != nil {
					return err
				}
				return o.SetFollowed(ctx, "usr_ada", from, true)
			})
		})
	testkit.Must(t, first)
	if second != nil && !errors.Is(second, repo.ErrNoRepo) {
		t.Error(second)
	}
	if sees, err := o.Sees(t.Context(), "usr_ada", to); err != nil || !sees {
		t.Errorf("the repository is seen: %v, %v", sees, err)
	}
}

// TestRenamedRepositoryIsSavedUnderTwoNames: of two transactions that save a repository under its former and its present name, and others
// beside it, one waits for the other.
func TestRenamedRepositoryIsSavedUnderTwoNames(t *testing.T) {
	o := startOverlapping(t)
	o.save(t, "a", "b", "c")
	renamed := reposOf("a", "c")
	renamed[0].FullName = "acme/z"
	first, second := testkit.Overlap(t, o.cfg, "SELECT 1 FROM release_repos WHERE remote_id = 'b' FOR UPDATE",
		func() error { return o.SaveAll(t.Context(), reposOf("a", "b", "c"), time.Now()) },
		func() error { return o.SaveAll(t.Context(), renamed, time.Now()) })
	testkit.Must(t, first)
	testkit.Must(t, second)
	if r, err := o.FindByName(t.Context(), "codehost.main", "acme/z"); err != nil || r.RemoteID != "a" {
		t.Errorf("got %+v, %v", r, err)
	}
}

// TestRepositoryIsRenamedWhileReleasesAreDeleted: who renames a repository changes its releases after it, as who deletes some does.
func TestRepositoryIsRenamedWhileReleasesAreDeleted(t *testing.T) {
	o := startOverlapping(t)
	id := o.save(t, "a")[0].ID
	_, err := o.AddReleases(t.Context(), id, []repo.Release{{RemoteID: "2", Tag: "v2"}, {RemoteID: "1", Tag: "v1"}}, time.Now(), nil)
	testkit.Must(t, err)
	renamed := reposOf("a")
	renamed[0].FullName = "acme/renamed"
	first, second := testkit.Overlap(t, o.cfg, "SELECT 1 FROM release_entries WHERE remote_id = '1' FOR UPDATE",
		func() error { return o.SaveAll(t.Context(), renamed, time.Now()) },
		func() error { return o.DeleteReleases(t.Context(), id, []string{"2"}) })
	testkit.Must(t, first)
	testkit.Must(t, second)
}

// TestReleasesAreDeletedTwiceAtOnce: who waits for another one that deletes the same releases does not count them once more.
func TestReleasesAreDeletedTwiceAtOnce(t *testing.T) {
	o := startOverlapping(t)
	id := o.save(t, "a")[0].ID
	_, err := o.AddReleases(t.Context(), id, []repo.Release{{RemoteID: "2", Tag: "v2"}, {RemoteID: "1", Tag: "v1"}}, time.Now(), nil)
	testkit.Must(t, err)
	deleteOne := func() error { return o.DeleteReleases(t.Context(), id, []string{"2"}) }
	first, second := testkit.Overlap(t, o.cfg, "SELECT 1 FROM release_repos FOR UPDATE", deleteOne, deleteOne)
	testkit.Must(t, first)
	testkit.Must(t, second)
	if r, err := o.Find(t.Context(), id); err != nil || r.ReleaseCount != 1 {
		t.Errorf("%d are left of 2: %v", r.ReleaseCount, err)
	}
}

// TestReleasesAreAddedTwiceAtOnce: who waits for another one that adds the same release finds it.
func TestReleasesAreAddedTwiceAtOnce(t *testing.T) {
	o := startOverlapping(t)
	id := o.save(t, "a")[0].ID
	add := func() error {
		_, err := o.AddReleases(t.Context(), id, []repo.Release{{RemoteID: "1", Tag: "v1"}}, time.Now(), nil)
		return err
	}
	first, second := testkit.Overlap(t, o.cfg, "SELECT 1 FROM release_repos FOR UPDATE", add, add)
	testkit.Must(t, first)
	testkit.Must(t, second)
	if r, err := o.Find(t.Context(), id); err != nil || r.ReleaseCount != 1 {
		t.Errorf("%d releases: %v", r.ReleaseCount, err)
	}
}

// TestRepositoriesAreRenamedWhileTheyAreStarred: who renames several repositories waits for one who makes links to them, or the other way
// round.
func TestRepositoriesAreRenamedWhileTheyAreStarred(t *testing.T) {
	o := startOverlapping(t)
	all := o.save(t, "a", "b")
	renamed := reposOf("a", "b")
	renamed[0].FullName, renamed[1].FullName = "acme/z", "acme/y"
	first, second := testkit.Overlap(t, o.cfg, "SELECT 1 FROM release_repos WHERE remote_id = 'a' FOR KEY SHARE",
		func() error { return o.SaveAll(t.Context(), renamed, time.Now()) },
		func() error {
			return o.ReplaceStarred(t.Context(), "ada", "account", []repo.Starred{{RepoID: all[0].ID}, {RepoID: all[1].ID}})
		})
	testkit.Must(t, first)
	testkit.Must(t, second)
}
