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
	"github.com/patchbay-dev/patchbay/core/store"
)

// inChinese is the language of all readers.
func inChinese(context.Context, string) (string, error) { return "zh-CN", nil }

// TestReleaseIsStoredWhileABriefIsWritten: who writes a brief keeps nobody from storing a release or writing the brief anew, and does not
// replace the brief that was begun later and has the release.
func TestReleaseIsStoredWhileABriefIsWritten(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		st := testkit.OpenStore(t, cfg, releases.Migrations())
		repos := repo.NewStore(st)
		engine := repo.Repo{Host: "codehost.main", FullName: "acme/engine"}
		testkit.Must(t, repos.Save(ctx, &engine, now))
		testkit.Must(t, repos.SetFollowed(ctx, "usr_ada", engine.ID, true))

		window := brief.LatestWindow(now, 8, time.UTC)
		generate := func(meanwhile func()) brief.Brief {
			summarize := func(context.Context, string, []int64) (map[int64]string, bool, error) {
				meanwhile()
				return nil, false, nil
			}
			briefs := brief.New(brief.NewStore(st), feed.NewStore(st, repos), inChinese, summarize, func() time.Time { return now })
			written, err := briefs.Generate(ctx, "usr_ada", window, time.UTC)
			testkit.Must(t, err)
			return written
		}
		var later brief.Brief
		written := generate(func() {
			now = now.Add(time.Second)
			release := repo.Release{RemoteID: "1", Tag: "v1", TS: window.End.Add(-time.Hour).UnixMilli()}
			added, err := repos.AddReleases(ctx, engine.ID, []repo.Release{release}, now, nil)
			testkit.Must(t, err)
			later = generate(func() {})
			if want := strconv.FormatInt(added.New[0].ID, 10); !slices.Contains(later.Releases(), want) {
				t.Errorf("got %+v, want the release %s in it", later, want)
			}
		})
		var all []brief.Brief
		testkit.Must(t, st.DB(ctx).Find(&all).Error)
		if len(all) != 1 || all[0] != later || written != later {
			t.Errorf("got %+v, and %+v is stored; want the one that was begun later: %+v", written, all, later)
		}
	})
}
