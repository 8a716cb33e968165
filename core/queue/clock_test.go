package queue_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/queue"
)

// TestDelaysOfWrongClocks: nodes whose clocks are wrong neither delay nor hurry jobs: not what they submit for later, and not what they try
// again.
func TestDelaysOfWrongClocks(t *testing.T) {
	const delay = 700 * time.Millisecond
	url := testkit.Postgres(t)
	for name, wrong := range map[string]time.Duration{"ahead": time.Minute, "behind": -time.Minute} {
		t.Run(name, func(t *testing.T) {
			st := testkit.SharedStore(t, url, queue.Migrations())
			now := func() time.Time { return time.Now().Add(wrong) }
			cfg := config(st)
			cfg.Cluster, cfg.Now = testkit.OpenCluster(t, st, name, true), now
			cfg.Handlers = []queue.Handler{{Type: name, Safe: true, MaxAttempts: 2, Backoff: func(int) time.Duration { return delay },
				Run: func(_ context.Context, job *queue.Job, _ queue.Progress) (any, error) {
					if job.Attempt == 1 {
						return nil, queue.Temporary(errors.New("the first attempt"))
					}
					return nil, nil
				}}}
			q := run(t, build(t, cfg))
			id := submit(t, q, queue.Submission{Type: name, RunAt: now().Add(delay)}).ID
			job := awaitEnd(t, q, id)
			// The clock of the database may go on by some milliseconds while a node hears of it.
			if early := delay - 100*time.Millisecond; job.StartedAt.Sub(job.CreatedAt) < early || job.FinishedAt.Sub(job.StartedAt) < early {
				t.Errorf("it began before its time: %s after its submission, and again %s later", job.StartedAt.Sub(job.CreatedAt),
					job.FinishedAt.Sub(job.StartedAt))
			}
			if off := time.Since(job.CreatedAt); off < 0 || off > 30*time.Second {
				t.Errorf("its times are those of the wrong clock: created %s ago", off)
			}
		})
	}
}

// TestDeletionsOfWrongClocks: a node whose clock is far ahead deletes nothing by age, and says why; other jobs run there.
func TestDeletionsOfWrongClocks(t *testing.T) {
	url := testkit.Postgres(t)
	for name, tt := range map[string]struct {
		wrong time.Duration
		want  queue.State
	}{
		"ahead by a minute": {time.Minute, queue.Success},
		"ahead by a month":  {31 * 24 * time.Hour, queue.Failed},
		"behind by a month": {-31 * 24 * time.Hour, queue.Success},
	} {
		t.Run(name, func(t *testing.T) {
			st := testkit.SharedStore(t, url, queue.Migrations())
			cfg := config(st)
			cfg.Cluster, cfg.Now = testkit.OpenCluster(t, st, name[:5], true), func() time.Time { return time.Now().Add(tt.wrong) }
			nothing := func(context.Context, *queue.Job, queue.Progress) (any, error) { return nil, nil }
			cfg.Handlers = []queue.Handler{{Type: "purge " + name, Deletes: true, Run: nothing}, {Type: "other " + name, Run: nothing}}
			q := run(t, build(t, cfg))
			purge := awaitEnd(t, q, submit(t, q, queue.Submission{Type: "purge " + name}).ID)
			if purge.State != tt.want || tt.want == queue.Failed && !strings.Contains(purge.Failure.Message, "744h0m0s ahead of the database's") {
				t.Errorf("%s: %s %q", name, purge.State, purge.Failure)
			}
			if other := awaitEnd(t, q, submit(t, q, queue.Submission{Type: "other " + name}).ID); other.State != queue.Success {
				t.Errorf("%s: a job that deletes nothing is %s", name, other.State)
			}
		})
	}
}
