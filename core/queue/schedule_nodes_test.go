package queue_test

import (
	"context"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
)

// joinTicking starts a core with a job type "tick" that tells of its payloads. Its own clock is wrong by a duration.
func joinTicking(t *testing.T, url, id string, wrong time.Duration) (q *queue.Queue, st *store.Store, ticks <-chan string) {
	t.Helper()
	st = testkit.SharedStore(t, url, queue.Migrations())
	told := make(chan string, 100)
	cfg := config(st)
	cfg.Cluster = testkit.OpenCluster(t, st, id, true)
	cfg.Now = func() time.Time { return time.Now().Add(wrong) }
	cfg.Handlers = []queue.Handler{{Type: "tick", Safe: true, Run: func(_ context.Context, job *queue.Job, _ queue.Progress) (any, error) {
		told <- string(job.Payload)
		return nil, nil
	}}}
	return build(t, cfg), st, told
}

// awaitTick waits for a job "tick" with a payload, and returns how many others came before.
func awaitTick(t *testing.T, ticks <-chan string, payload string) (others int) {
	t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case got := <-ticks:
			if got == payload {
				return others
			}
			others++
		case <-timeout:
			t.Fatalf("no job with the payload %s", payload)
		}
	}
}

// TestScheduleOfStoppedNode: a schedule that was set at one node runs on at the others, as it was last set, and until it is removed at one.
func TestScheduleOfStoppedNode(t *testing.T) {
	url := testkit.Postgres(t)
	a, _, _ := joinTicking(t, url, "a", 0)
	b, st, ticks := joinTicking(t, url, "b", 0)
	run(t, b)
	testkit.Must(t, a.SetSchedule(t.Context(), queue.Schedule{Name: "often", Cron: "@every 1s", Type: "tick", Payload: "first", Locks: []string{"r"}}))
	awaitTick(t, ticks, `"first"`)
	testkit.Must(t, a.SetSchedule(t.Context(), queue.Schedule{Name: "often", Cron: "@every 1s", Type: "tick", Payload: "second"}))
	awaitTick(t, ticks, `"second"`)
	c, _, _ := joinTicking(t, url, "c", 0)
	testkit.Must(t, c.RemoveSchedule(t.Context(), "often"))
	testkit.Eventually(t, patience, func() bool { return !b.HasSchedule("often") }, "the schedule is removed at the other node")
	if n := count(t, st, "job_schedules"); n != 0 {
		t.Errorf("%d schedules", n)
	}
}

// TestScheduleByTheDatabasesClock: nodes whose own clocks differ fire a schedule once, and none sets it back.
func TestScheduleByTheDatabasesClock(t *testing.T) {
	url := testkit.Postgres(t)
	ahead, st, _ := joinTicking(t, url, "ahead", 2*time.Hour)
	behind, _, _ := joinTicking(t, url, "behind", -2*time.Hour)
	for _, q := range []*queue.Queue{ahead, behind} {
		testkit.Must(t, q.SetSchedule(t.Context(), queue.Schedule{Name: "hourly", Cron: "@every 1h", Type: "tick"}))
	}
	due := func() (in time.Duration) {
		var ms int64
		testkit.Must(t, st.DB(t.Context()).Raw("SELECT next_at - "+store.ClockSQL(st)+" FROM job_schedules").Scan(&ms).Error)
		return time.Duration(ms) * time.Millisecond
	}
	for _, q := range []*queue.Queue{ahead, behind, ahead} {
		q.FireDue(t.Context())
	}
	if in := due(); count(t, st, "jobs") != 0 || in < 59*time.Minute || in > time.Hour {
		t.Errorf("%d jobs, due in %s", count(t, st, "jobs"), in)
	}
	testkit.Execute(t, st, "UPDATE job_schedules SET next_at = "+store.ClockSQL(st)+" - 1000")
	for _, q := range []*queue.Queue{ahead, behind, ahead} {
		testkit.Must(t, q.InitSchedules(t.Context()))
		q.FireDue(t.Context())
	}
	if in := due(); count(t, st, "jobs") != 1 || in < 59*time.Minute || in > time.Hour {
		t.Errorf("%d jobs, due in %s", count(t, st, "jobs"), in)
	}
}
