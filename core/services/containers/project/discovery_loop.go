package project

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

const (
	// settlePause gathers the events of the engine: recreating a service gives many in a row.
	settlePause = 1500 * time.Millisecond
	// rejoinMin and rejoinMax bound the pause before the engine's events are asked for again.
	rejoinMin = time.Second
	rejoinMax = time.Minute
)

// DiscoverAlways discovers by the clock, and soon after the engine tells of a change, until ctx ends. It makes no jobs: the
// projects have the result. While the engine does not answer it says so once.
func (d *Discovery) DiscoverAlways(ctx context.Context) {
	failing := false
	for first := true; ; first = false {
		if !first && !d.waitForEngineChange(ctx) {
			return
		}
		_, err := d.DiscoverProjects(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !failing:
			d.cfg.Logger.Warn("discovery failed", "error", err)
		case err == nil && failing:
			d.cfg.Logger.Info("discovery recovered")
		}
		if err == nil {
			if err := d.cfg.Resume(ctx); err != nil && ctx.Err() == nil {
				d.cfg.Logger.Warn("changes still waiting for the engine", "error", err)
			}
		}
		failing = err != nil
	}
}

// waitForEngineChange waits for the next discovery; false when ctx ends.
func (d *Discovery) waitForEngineChange(ctx context.Context) bool {
	t := time.NewTimer(time.Duration(d.cfg.Settings().Discovery) * time.Second)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	case <-d.engineChanged:
	}
	if event.Sleep(ctx, settlePause) != nil {
		return false
	}
	select {
	case <-d.engineChanged:
	default:
	}
	return true
}

// WatchEngine follows the events of the engine, so that what a person does with containers is seen soon.
func (d *Discovery) WatchEngine(ctx context.Context) {
	pause := rejoinMin
	for ctx.Err() == nil {
		began := time.Now()
		_ = d.cfg.Host.Engine().Events(ctx, func(ev engine.Event) error {
			if ev.Type == engine.EventReady || changesServiceState(ev) {
				d.NoteEngineChange()
			}
			return ctx.Err()
		})
		if time.Since(began) > rejoinMax {
			pause = rejoinMin
		}
		if event.Sleep(ctx, pause) != nil {
			return
		}
		pause = min(2*pause, rejoinMax)
	}
}

// NoteEngineChange has the engine looked at soon.
func (d *Discovery) NoteEngineChange() {
	select {
	case d.engineChanged <- struct{}{}:
	default:
	}
}

// changesServiceState reports whether an event of the engine changes what is known of services. Health checks and execs do
// not.
func changesServiceState(ev engine.Event) bool {
	if ev.Type != "container" || ev.Labels[host.LabelProject] == "" {
		return false
	}
	switch ev.Action {
	case "create", "start", "die", "destroy", "stop", "pause", "unpause", "rename":
		return true
	}
	return false
}
