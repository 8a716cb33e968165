package search

import (
	"context"
	"time"
)

// purgeOldRecords deletes audit rows, bodies, counters and research ids that are past their time, in slices. retention is how long rows are kept.
func (l *auditLog) purgeOldRecords(ctx context.Context, retention time.Duration) error {
	now := l.now()
	rows := now.Add(-retention)
	// The counters of the running month are needed for as long as the month runs.
	usage := now.Add(-32 * 24 * time.Hour)
	for {
		more, err := l.store.purgeBefore(ctx, cutoffs{rows: rows, usage: usage, research: now.Add(-researchFor)}, purgeSlice)
		if err != nil {
			return err
		}
		if !more {
			return l.purgeRollups(ctx)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// purgeRollups deletes the sums that no chart shows any more.
func (l *auditLog) purgeRollups(ctx context.Context) error {
	for _, w := range []struct {
		step int64
		keep time.Duration
	}{{stepFine, fineFor}, {stepHour, hoursFor}} {
		for more := true; more; {
			var err error
			if more, err = l.store.purgeRollups(ctx, w.step, l.now().Add(-w.keep), purgeSlice); err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// researchFor is how long a research id is remembered.
const researchFor = 7 * 24 * time.Hour

// purgeSlice is how many rows one transaction deletes at most, so that requests wait little for it.
const purgeSlice = 2000
