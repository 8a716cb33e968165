package brief_test

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/releases"
	"github.com/patchbay-dev/patchbay/core/services/releases/brief"
	"github.com/patchbay-dev/patchbay/core/services/releases/feed"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
)

// TestReleaseIsStoredWhileABriefIsWritten: a brief that was written with a release is not replaced by one that was begun before it was there.
func TestReleaseIsStoredWhileABriefIsWritten(t *testing.T) {
	const lock = "SELECT pg_advisory_xact_lock(1)"
	cfg, now := testkit.PostgresConfig(t), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	st := testkit.OpenStore(t, cfg, releases.Migrations())
	repos := repo.NewStore(st)
	engine := repo.Repo{Host: "codehost.main", FullName: "acme/engine"}
	testkit.Must(t, repos.Save(t.Context(), &engine, now))
	testkit.Must(t, repos.SetFollowed(t.Context(), "usr_ada", engine.ID, true))

	window := brief.LatestWindow(now, 8, time.UTC)
	generate := func(summarize brief.Summarizer) error {
		briefs := brief.New(st, feed.NewStore(st, repos), summarize, func() time.Time { return now })
		_, err := briefs.Generate(t.Context(), "usr_ada", window, time.UTC)
		return err
	}
	var added repo.Changes
	first, second := testkit.Overlap(t, cfg, lock,
		func() error {
			return generate(func(ctx context.Context, _ []int64) (map[int64]string, bool, error) {
				return nil, false, st.Tx(ctx, "wait", func(ctx context.Context) error { return st.Writer(ctx).Exec(lock).Error })
			})
		},
		func() (err error) {
			release := repo.Release{RemoteID: "1", Tag: "v1", TS: window.End.Add(-time.Hour).UnixMilli()}
			if added, err = repos.AddReleases(t.Context(), engine.ID, []repo.Release{release}, now); err != nil {
				return err
			}
			return generate(func(context.Context, []int64) (map[int64]string, bool, error) { return nil, false, nil })
		})
	testkit.Must(t, first)
	testkit.Must(t, second)
	var all []brief.Brief
	testkit.Must(t, st.DB(t.Context()).Find(&all).Error)
	if want := strconv.FormatInt(added.New[0].ID, 10); len(all) != 1 || !slices.Contains(all[0].Releases(), want) {
		t.Errorf("got %+v, want one brief with the release %s", all, want)
	}
}
