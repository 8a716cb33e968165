package queue_test

import (
	"context"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
)

// A database of the first version keeps its jobs and events, which get numbers in the order of their times.
func TestMigrateFromTheFirstVersion(t *testing.T) {
	first := queue.Migrations()
	old := fstest.MapFS{}
	text, err := fs.ReadFile(first.FS, "0001_queue.sql")
	if err != nil {
		t.Fatal(err)
	}
	old["0001_queue.sql"] = &fstest.MapFile{Data: text}
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		st := testkit.OpenStore(t, cfg, store.Migrations{Module: first.Module, FS: old})
		err := st.Tx(t.Context(), "fill", func(ctx context.Context) error {
			for _, sql := range []string{
				`INSERT INTO jobs (id, type, state, payload, run_at, created_at, last_seq) VALUES ('a', 'x', 'queued', '{}', 1, 1, 2), ('b', 'y', 'queued', '{}', 2, 2, 1)`,
				`INSERT INTO job_events (job_id, seq, at, type, data) VALUES ('a', 1, 10, 'queued', '{}'), ('a', 2, 30, 'log', '{"text":"t"}'), ('b', 1, 20, 'queued', '{}')`,
			} {
				if err := st.Writer(ctx).Exec(sql).Error; err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := st.Migrate(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		q := build(t, config(st))
		submit(t, q, queue.Submission{Type: "z"})
		events, err := q.EventsAfter(t.Context(), 0, 0, queue.EventFilter{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i, ev := range events {
			if ev.ID != int64(i+1) {
				t.Errorf("event %d is %+v", i, ev)
			}
			got = append(got, ev.JobType+" "+ev.Type)
		}
		if diff := cmp.Diff([]string{"x queued", "y queued", "x log", "z queued"}, got); diff != "" {
			t.Error(diff)
		}
	})
}
