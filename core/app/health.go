package app

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
)

const (
	// healthEvery is how often every instance is asked how it is.
	healthEvery = 30 * time.Second
	// healthAfterFailure is the least time between two checks that failed calls bring about.
	healthAfterFailure = 2 * time.Second
)

// watchHealth keeps the condition of every instance: it asks them all now and regularly, after a reload, and soon after a call has failed.
func (a *App) watchHealth() {
	a.runUntilClosed(func(ctx context.Context) {
		tick := time.NewTicker(healthEvery)
		defer tick.Stop()
		for {
			a.catalog.CheckAllHealth(ctx)
			began := time.Now()
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			case <-a.metrics.failed:
				if event.Sleep(ctx, healthAfterFailure-time.Since(began)) != nil {
					return
				}
			}
		}
	})
}

// askHealthSoon has the instances asked how they are, without waiting for it.
func (m *pluginMetrics) askHealthSoon() {
	select {
	case m.failed <- struct{}{}:
	default:
	}
}
