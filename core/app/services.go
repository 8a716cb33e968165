package app

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/module"
	"github.com/patchbay-dev/patchbay/core/settings"
)

// runningService is a service that is switched on. Services run in the order of their definitions.
type runningService struct {
	module.Service
	name string
}

// openServices opens the services that are switched on, and registers the work of all of them, and of the core, with the
// queue.
func (a *App) openServices(ctx context.Context) error {
	if err := a.queue.Register(append(a.notify.Jobs(), a.users.Jobs()...), append(a.notify.Schedules(), a.users.Schedules()...)); err != nil {
		return err
	}
	if err := a.registerBackups(ctx); err != nil {
		return err
	}
	for _, s := range a.set.Services {
		running, err := a.openService(ctx, s)
		if err != nil {
			return fmt.Errorf("make the %s service: %w", s.Name, err)
		}
		a.services = append(a.services, runningService{running, s.Name})
		a.closers = append(a.closers, running.Close)
		if err := a.queue.Register(running.Jobs(), running.Schedules()); err != nil {
			return err
		}
	}
	return nil
}

// openService opens a service on the instances that run.
func (a *App) openService(ctx context.Context, s settings.Service) (module.Service, error) {
	c, err := newConfiguration(a.set, s.Name, a.catalog)
	if err != nil {
		return nil, err
	}
	return s.Open(ctx, module.Deps{
		Store: a.store, Keyring: a.keyring, Logger: a.log.ResetNamed(s.Name), Metrics: a.registry, Bus: a.bus, Queue: a.queue, Users: a.users,
		Notify: a.notify, Channels: a.channels, Cluster: a.cluster,
		Observe: a.metrics.observeCall, DataDir: a.set.DataDir, Version: a.cfg.Version,
	}, c)
}

// newConfiguration returns what the settings say for a service that is switched on, with the instances that it may use.
func newConfiguration(set *settings.Settings, name string, from module.Instances) (module.Configuration, error) {
	front, err := set.Front()
	return module.Configuration{Settings: set.Service(name).Block, Instances: from, Front: front}, err
}

// startServices begins what services do by themselves, now that the queue works.
func (a *App) startServices(ctx context.Context) error {
	for _, s := range a.services {
		if starter, ok := s.Service.(module.Starter); ok {
			if err := starter.Start(ctx); err != nil {
				return fmt.Errorf("start the %s service: %w", s.name, err)
			}
		}
	}
	return nil
}

// refreshServices has the services take in what others have written to the database.
func (a *App) refreshServices(ctx context.Context) error {
	for _, s := range a.services {
		if refresher, ok := s.Service.(module.Refresher); ok {
			if err := refresher.Refresh(ctx); err != nil {
				return fmt.Errorf("refresh the %s service: %w", s.name, err)
			}
		}
	}
	return nil
}

// prepareServices checks the settings of the services against the instances of a change, and returns what puts them into use.
func (a *App) prepareServices(set *settings.Settings, from module.Instances) (commit func(), err error) {
	var commits []func()
	for _, s := range a.services {
		c, err := newConfiguration(set, s.name, from)
		if err != nil {
			return nil, err
		}
		commit, err := s.Prepare(c)
		if err != nil {
			return nil, err
		}
		commits = append(commits, commit)
	}
	return func() {
		for _, commit := range commits {
			commit()
		}
	}, nil
}

// checkSwitches refuses to switch a service on or off while the core runs.
func (a *App) checkSwitches(next *settings.Settings) error {
	for _, d := range Modules() {
		if (next.Service(d.Name) == nil) != (a.set.Service(d.Name) == nil) {
			return fmt.Errorf("switching the service %q on or off needs a restart; nothing was changed", d.Name)
		}
	}
	return nil
}

// FirstSteps returns what the services have to say to a newcomer. program is how the core was started.
func (a *App) FirstSteps(ctx context.Context, program string) (texts []string) {
	for _, s := range a.services {
		guide, ok := s.Service.(module.Guide)
		if !ok {
			continue
		}
		text, err := guide.FirstSteps(ctx, module.Invocation{Program: program, Config: a.cfg.Path,
			URL: a.serviceURL(a.set.Service(s.name).BaseURL)})
		if err != nil {
			a.log.Warn("cannot read the first steps of a service", "service", s.name, "error", err)
			continue
		}
		if text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// indexPoll is how often WaitUntilIndexed asks.
const indexPoll = 50 * time.Millisecond

// WaitUntilIndexed waits until the services have indexed what a first start has to index, no longer than limit.
func (a *App) WaitUntilIndexed(ctx context.Context, limit time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for _, s := range a.services {
		indexer, ok := s.Service.(module.Indexer)
		for ok && !indexer.IsIndexed(ctx) {
			if event.Sleep(ctx, indexPoll) != nil {
				return
			}
		}
	}
}

// serviceURL returns where a person on this machine reaches a service, without a slash at its end.
func (a *App) serviceURL(baseURL string) string {
	baseURL = strings.TrimSuffix(baseURL, "/")
	if strings.HasPrefix(baseURL, "/") || baseURL == "" {
		return a.URL() + baseURL
	}
	return baseURL
}
