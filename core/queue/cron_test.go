package queue_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
)

func TestValidCron(t *testing.T) {
	for _, ok := range []string{"*/30 * * * *", "15 */30 * * * *", "0 3 * * 1-5", "CRON_TZ=Europe/Berlin 0 3 * * *", "TZ=UTC 5 0 3 * * *",
		"@daily", "@every 90m", " 0 3 * * * "} {
		if err := queue.ValidCron(ok); err != nil {
			t.Errorf("%q: %v", ok, err)
		}
	}
	bad := []string{"", " ", "every day", "* * * *", "0 0 0 1 1 * 2026", "60 * * * *", "0 0 30 2 *", "*/0 * * * *", "TZ=UTC",
		"CRON_TZ=Europe/Berlin", "CRON_TZ= ",
		"CRON_TZ=Nowhere/None 0 3 * * *", "@every", "@reboot", "5-1 * * * *", "-1 * * * *", strings.Repeat("0,", 200) + "0 * * * *",
		"0 0 0\x00 * *", "%d * * * *"}
	for _, expr := range bad {
		var told *fault.Error
		if err := queue.ValidCron(expr); !errors.As(err, &told) || told.Code != fault.InvalidArgument {
			t.Errorf("%q: %v", expr, err)
		}
	}
}

func FuzzValidCron(f *testing.F) {
	f.Add("*/5 * * * *")
	f.Add("CRON_TZ=UTC")
	f.Fuzz(func(t *testing.T, expr string) { _ = queue.ValidCron(expr) })
}

// Schedules change while the queue runs: a new or changed one counts from now, an equal one is due when it was.
func TestSetSchedule(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		c := &clock{time.Date(2026, 1, 1, 0, 30, 0, 0, time.UTC)}
		cfg := config(st)
		cfg.Now = c.now
		q := build(t, cfg)
		hourly := queue.Schedule{Name: "check", Cron: "0 0 * * * *", Type: "x", Payload: 1}
		set := func(s queue.Schedule) {
			t.Helper()
			if err := q.SetSchedule(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		step := func(after time.Duration, want int64, what string) {
			t.Helper()
			c.at = c.at.Add(after)
			q.FireDue(t.Context())
			cancelAll(t, q)
			if n := count(t, st, "jobs"); n != want {
				t.Fatalf("%s: %d jobs, want %d", what, n, want)
			}
		}
		set(hourly)
		step(29*time.Minute, 0, "not due")
		step(time.Minute, 1, "due at 1:00")
		c.at = c.at.Add(90 * time.Minute)
		hourly.Payload = 2
		set(hourly)
		step(0, 2, "the run that was missed at 2:00, at 2:30")
		hourly.Cron = "0 45 * * * *"
		set(hourly)
		step(14*time.Minute, 2, "changed, not due")
		step(time.Minute, 3, "changed, due at 2:45")
		if err := q.RemoveSchedule(t.Context(), "check"); err != nil {
			t.Fatal(err)
		}
		step(2*time.Hour, 3, "removed")
		if err := q.RemoveSchedule(t.Context(), "check"); err != nil {
			t.Error(err)
		}
		undone := errors.New("undone")
		err := st.Tx(t.Context(), "settings", func(ctx context.Context) error {
			return errors.Join(q.SetSchedule(ctx, hourly), undone)
		})
		if !errors.Is(err, undone) || count(t, st, "job_schedules") != 0 {
			t.Errorf("%v", err)
		}
		step(2*time.Hour, 3, "the transaction was undone")
		for field, s := range map[string]queue.Schedule{"name": {Cron: "@daily", Type: "x"}, "type": {Name: "a", Cron: "@daily"},
			"cron": {Name: "a", Type: "x", Cron: "0"}} {
			var told *fault.Error
			if err := q.SetSchedule(t.Context(), s); !errors.As(err, &told) || told.Code != fault.InvalidArgument || told.Ext["field"] != field {
				t.Errorf("%s: %v", field, err)
			}
		}
	})
}

// Fields without a time zone are in UTC, or in that of the server.
func TestLocalSchedule(t *testing.T) {
	zone := time.FixedZone("here", 5*3600+1800)
	before := time.Local
	time.Local = zone
	t.Cleanup(func() { time.Local = before })
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		c := &clock{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
		cfg := config(st)
		cfg.Now = c.now
		q := build(t, cfg)
		for _, s := range []queue.Schedule{{Name: "a", Cron: "0 8 * * *", Type: "x", Local: true}, {Name: "b", Cron: "0 8 * * *", Type: "x"},
			{Name: "c", Cron: "CRON_TZ=Asia/Tokyo 0 18 * * *", Type: "x", Local: true}} {
			if err := q.SetSchedule(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		for _, step := range []struct {
			at   time.Duration
			want int64
		}{{2*time.Hour + 29*time.Minute, 0}, {2*time.Hour + 30*time.Minute, 1}, {8 * time.Hour, 2}, {9 * time.Hour, 3}} {
			c.at = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(step.at)
			q.FireDue(t.Context())
			if n := count(t, st, "jobs"); n != step.want {
				t.Errorf("after %s: %d jobs, want %d", step.at, n, step.want)
			}
		}
	})
}
