package app

import (
	"context"
	"time"
)

// repairTimesEvery is how often times that a wrong clock has left in the database are looked for.
const repairTimesEvery = 5 * time.Minute

// watchTimes sets stored times back that lie further ahead than they can, now and while the core runs.
func (a *App) watchTimes(ctx context.Context) error {
	if _, err := a.store.RepairTimes(ctx, time.Now()); err != nil {
		return err
	}
	a.runUntilClosed(func(ctx context.Context) {
		tick := time.NewTicker(repairTimesEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if _, err := a.store.RepairTimes(ctx, time.Now()); err != nil && ctx.Err() == nil {
				a.log.Warn("cannot check for times from a wrong clock", "error", err)
			}
		}
	})
	return nil
}
