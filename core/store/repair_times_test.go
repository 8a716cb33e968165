package store_test

import (
	"context"
	"testing"
	"testing/fstest"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

func TestRepairTimes(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		files := fstest.MapFS{"0001_x.sql": {Data: []byte("-- +goose Up\nCREATE TABLE waits (id INTEGER PRIMARY KEY, open INTEGER NOT NULL, due INTEGER NOT NULL, done INTEGER NOT NULL);\n")}}
		st := testkit.OpenStore(t, cfg, store.Migrations{Module: "waits", FS: files, Times: []store.StoredTime{
			{Table: "waits", Column: "due", Where: "open = 1", Longest: time.Hour}, {Table: "waits", Column: "done"},
		}})
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		at := func(d time.Duration) int64 { return store.Millis(now.Add(d)) }
		const years = 10 * 365 * 24 * time.Hour
		rows := []struct {
			open              int
			due, done         int64
			wantDue, wantDone int64
		}{
			{1, at(time.Minute), at(-time.Minute), at(time.Minute), at(-time.Minute)},
			{1, at(time.Hour), at(0), at(time.Hour), at(0)},
			{1, at(years), at(years), at(time.Hour), at(0)},
			{0, at(years), 0, at(years), 0},
		}
		err := st.Tx(t.Context(), "fill", func(ctx context.Context) error {
			for i, r := range rows {
				if err := st.Writer(ctx).Exec("INSERT INTO waits (id, open, due, done) VALUES (?, ?, ?, ?)", i, r.open, r.due,
					r.done).Error; err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if n, err := st.RepairTimes(t.Context(), time.Unix(0, 0)); err != nil || n != 0 {
			t.Errorf("a clock that is behind has repaired %d times, %v", n, err)
		}
		for _, want := range []int64{2, 0} {
			if n, err := st.RepairTimes(t.Context(), now); err != nil || n != want {
				t.Errorf("%d repaired, %v; want %d", n, err, want)
			}
		}
		var got []struct{ Due, Done int64 }
		if err := st.DB(t.Context()).Raw("SELECT due, done FROM waits ORDER BY id").Scan(&got).Error; err != nil {
			t.Fatal(err)
		}
		for i, r := range rows {
			if got[i].Due != r.wantDue || got[i].Done != r.wantDone {
				t.Errorf("row %d: %+v, want %d and %d", i, got[i], r.wantDue, r.wantDone)
			}
		}
	})
}
