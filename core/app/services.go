package app

import (
	"context"
	"fmt"

	"github.com/patchbay-dev/patchbay/core/queue"
)

// newServices makes the services that are switched on, and gathers their work in the background, with that of the core.
func (a *App) newServices(ctx context.Context) (handlers []queue.Handler, schedules []queue.Schedule, err error) {
	handlers, schedules = append(a.notify.Jobs(), a.users.Jobs()...), append(a.notify.Schedules(), a.users.Schedules()...)
	if a.set.Search != nil {
		if err := a.openSearch(ctx); err != nil {
			return nil, nil, fmt.Errorf("make the search service: %w", err)
		}
		handlers, schedules = append(handlers, a.search.Jobs()...), append(schedules, a.search.Schedules()...)
	}
	if a.set.Containers != nil {
		if err := a.openContainers(); err != nil {
			return nil, nil, fmt.Errorf("make the containers service: %w", err)
		}
		handlers, schedules = append(handlers, a.containers.Jobs()...), append(schedules, a.containers.Schedules()...)
	}
	return handlers, schedules, nil
}

// startServices begins what services do by themselves, now that the queue works.
func (a *App) startServices(ctx context.Context) error {
	if a.search != nil {
		if err := a.search.Alert(ctx, a.notify); err != nil {
			return fmt.Errorf("watch over the search service: %w", err)
		}
	}
	if a.containers != nil {
		if err := a.containers.Start(ctx); err != nil {
			return fmt.Errorf("start the containers service: %w", err)
		}
	}
	return nil
}
