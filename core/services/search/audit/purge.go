package audit

import (
	"context"
	"time"
)

// PurgeOldRecords deletes audit rows, bodies, counters and research ids that are past their time, in slices. retention is how long rows
// are kept.
func (l *Log) PurgeOldRecords(ctx context.Context, retention time.Duration) error {
	now := l.now()
	rows := now.Add(-retention)
	// The counters of the running month are needed for as long as the month runs.
	usage := now.Add(-32 * 24 * time.Hour)
	for {
		more, err := l.Store.PurgeBefore(ctx, Cutoffs{Rows: rows, Usage: usage, Research: now.Add(-ResearchFor)}, PurgeSlice)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if l.Store.isPostgres() {
		if err := l.Store.purgeWriters(ctx, rows); err != nil {
			return err
		}
	}
	return l.purgeRollups(ctx)
}

// purgeRollups deletes the sums that no chart shows any more.
func (l *Log) purgeRollups(ctx context.Context) error {
	for _, w := range []struct {
		step int64
		keep time.Duration
	}{{StepFine, fineFor}, {StepHour, hoursFor}} {
		for more := true; more; {
			var err error
			if more, err = l.Store.PurgeRollups(ctx, w.step, l.now().Add(-w.keep), PurgeSlice); err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// ResearchFor is how long a research id is remembered.
const ResearchFor = 7 * 24 * time.Hour

// PurgeSlice is how many rows one transaction deletes at most, so that requests wait little for it.
const PurgeSlice = 2000
