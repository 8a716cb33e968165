package search

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/queue"
)

const (
	jobPurge = "search.purge"
	// purgeSlice is how many rows one transaction deletes at most, so that requests wait little for it.
	purgeSlice = 2000
)

// Jobs are the handlers of the service's background work.
func (s *Service) Jobs() []queue.Handler {
	return []queue.Handler{
		{Type: jobPurge, Safe: true, Deletes: true, Timeout: time.Hour, Run: s.purgeOldRecords},
		{Type: jobSync, Safe: true, Limit: 1, Timeout: time.Hour, Run: s.syncDue},
	}
}

// Schedules say when that work is due.
func (s *Service) Schedules() []queue.Schedule {
	return []queue.Schedule{
		{Name: jobPurge, Cron: "17 * * * *", Type: jobPurge},
		{Name: jobSync, Cron: "*/15 * * * *", Type: jobSync},
	}
}

// Housekeeping are the types of jobs that clean up and keep figures.
func Housekeeping() []string { return []string{jobPurge, jobSync} }

// purgeOldRecords deletes audit rows, bodies, counters and research ids that are past their time, in slices.
func (s *Service) purgeOldRecords(ctx context.Context, _ *queue.Job, _ queue.Progress) (any, error) {
	now := s.cfg.Now()
	rows := now.Add(-s.state.Load().settings.Retention)
	// The counters of the running month are needed for as long as the month runs.
	usage := now.Add(-32 * 24 * time.Hour)
	for {
		more, err := s.repo.purgeBefore(ctx, cutoffs{rows: rows, usage: usage, research: now.Add(-researchFor)}, purgeSlice)
		if err != nil {
			return nil, err
		}
		if !more {
			return nil, s.purgeRollups(ctx)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// purgeRollups deletes the sums that no chart shows any more.
func (s *Service) purgeRollups(ctx context.Context) error {
	for _, w := range []struct {
		step int64
		keep time.Duration
	}{{stepFine, fineFor}, {stepHour, hoursFor}} {
		for more := true; more; {
			var err error
			if more, err = s.repo.purgeRollups(ctx, w.step, s.cfg.Now().Add(-w.keep), purgeSlice); err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	return nil
}
