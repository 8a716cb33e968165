package app

import (
	"context"
	"fmt"
	"time"

	"github.com/patchbay-dev/patchbay/core/store"
)

const (
	// repairTimesEvery is how often times that a wrong clock has left in the database are looked for.
	repairTimesEvery = 5 * time.Minute
	// maxClockDifference is how far a core's clock may be from that of the database, if several cores share it.
	maxClockDifference = 5 * time.Minute
)

// checkClock returns an error if a core's clock is far from that of the database which it shares with others: such a core would delete
// records too early, and end valid sessions.
func checkClock(own, database time.Time) error {
	switch ahead := own.Sub(database).Round(time.Second); {
	case ahead > maxClockDifference:
		return fmt.Errorf("the clock of this machine is %s ahead of the database's: set it, for example with NTP", ahead)
	case -ahead > maxClockDifference:
		return fmt.Errorf("the clock of this machine is %s behind the database's: set it, for example with NTP", -ahead)
	}
	return nil
}

// repairTimes sets stored times back that lie further ahead than they can. Where cores share the database, its clock says so.
func repairTimes(ctx context.Context, st *store.Store) error {
	now := time.Now()
	if st.Shared() {
		var err error
		if now, err = store.ReadClock(ctx, st); err != nil {
			return err
		}
	}
	_, err := st.RepairTimes(ctx, now)
	return err
}

// watchTimes sets stored times back that lie further ahead than they can, now and while the core runs.
func (a *App) watchTimes(ctx context.Context) error {
	if err := repairTimes(ctx, a.store); err != nil {
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
			if err := repairTimes(ctx, a.store); err != nil && ctx.Err() == nil {
				a.log.Warn("cannot check for times from a wrong clock", "error", err)
			}
		}
	})
	return nil
}
