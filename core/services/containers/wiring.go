package containers

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/services/containers/backup"
	"github.com/patchbay-dev/patchbay/core/services/containers/candidate"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/deploycheck"
	"github.com/patchbay-dev/patchbay/core/services/containers/drift"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/core/services/containers/lifecycle"
	"github.com/patchbay-dev/patchbay/core/services/containers/notice"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/usage"
	"github.com/patchbay-dev/patchbay/core/services/containers/webhook"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// New makes the service. The migrations have run. It works once Use has given it the queue and Start was called.
func New(cfg Config) (*Service, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = hclog.NewNullLogger()
	}
	if cfg.Store == nil || cfg.Keyring == nil || cfg.Sender == nil || cfg.Channels == nil {
		return nil, errors.New("the containers service needs a database, a keyring, a sender of notifications and the settings of channels")
	}
	s := &Service{cfg: cfg, log: cfg.Logger, queue: &work.Queue{}, repo: record.NewStore(cfg.Store), live: event.NewBus(),
		applying: work.NewKeyedMutex(cfg.Cluster.Locks())}
	s.places = newPlaces(s)
	s.Notices = notice.New(notice.Config{
		Service: ServiceName, Version: s.Version(), Store: s.repo, Sender: cfg.Sender, Channels: cfg.Channels, Events: noticeEvents{s},
		Services: noticeEvents{s},
		Settings: func() notice.Settings {
			set := s.settings()
			return notice.Settings{Locale: set.Locale, BaseURL: set.BaseURL}
		},
		PublicBaseURL: s.PublicBaseURL, Log: s.log, Now: cfg.Now,
	})
	s.Webhooks = webhook.New(webhook.Config{
		Store: s.repo, Keyring: cfg.Keyring, CodeHost: s.codeHost, PackageHosts: func() []string { return s.settings().PackageHosts },
		Jobs: s, Live: s.live, Relay: cfg.Cluster.Relay(ServiceName, s.live), Locks: s.applying, Now: cfg.Now,
	}, s.queue)
	s.Inbox = webhook.NewInbox(s.Webhooks)
	s.SetAccess(cfg.Access)
	s.Host = host.New(host.Config{
		Store: s.repo, Engine: s.engine, Settings: func() host.Settings { return s.settings().hostSettings() }, OutageWait: cfg.OutageWait,
	})
	s.drift = drift.New(s.Host)
	projects := project.Config{
		Store: s.repo, Host: s.Host, Jobs: s.queue, Logger: s.log, Now: cfg.Now,
		Settings: func() project.Settings { return s.settings().projectSettings() },
	}
	s.Projects = project.New(projects)
	s.Discovery = project.NewDiscovery(project.DiscoveryConfig{
		Config: projects, Projects: s.Projects, Locks: s.applying, ReadFile: cfg.ReadFile,
		Resume: func(ctx context.Context) error { return s.Changes.ResumeWaiting(ctx) },
	})
	s.Backups = backup.New(backup.Config{
		Store: s.repo, Host: s.Host, Projects: s.Projects, Jobs: s.queue, Locks: s.applying, Logger: s.log, Now: cfg.Now,
		Settings: func(ctx context.Context) (backup.BackupSettings, error) {
			set, err := s.systemSettings(ctx)
			return set.Backup, err
		},
	})
	changes := change.Config{
		Store: s.repo, Host: s.Host, Projects: s.Projects, Jobs: s.queue, Locks: s.applying, Logger: s.log, Now: cfg.Now,
		Settings: func() change.Settings { return s.settings().changeSettings() }, Drift: s.drift, Backups: s.Backups,
		NoteEngineChange: s.Discovery.NoteEngineChange,
	}
	s.Changes = change.New(changes)
	s.Lifecycle = lifecycle.New(lifecycle.Config{
		Store: s.repo, Host: s.Host, Projects: s.Projects, Jobs: s.queue, Locks: s.applying, Logger: s.log, ComposeBin: s.ComposeCommand,
	})
	s.Planner = s.Changes.Planner()
	s.Candidates = candidate.New(candidate.Config{
		Store: s.repo, Projects: s.Projects, Jobs: s.queue, Logger: s.log, Now: cfg.Now, Events: s.live, Engine: s.engine,
		Settings:   func() candidate.RegistrySettings { return s.settings().registrySettings() },
		Registries: func() []client.Registry { return s.state.Load().providers.Registries },
	})
	s.Projects.UseVersions(s.Candidates)
	s.Usage = usage.New(usage.Config{
		Store: s.repo, Containers: s, Engine: func() usage.Engine { return s.engine() }, Live: s.live, Log: s.log, Now: cfg.Now,
		Settings: func(ctx context.Context) (usage.MonitorSettings, error) {
			set, err := s.systemSettings(ctx)
			return set.Monitor, err
		},
	})
	s.Reports = deploycheck.New(deploycheck.Config{
		Store: s.repo, Jobs: s.queue, Engine: s.engine, Channels: cfg.Channels, Registries: s.Candidates, Webhooks: s.Webhooks, Now: cfg.Now,
		Settings: func() deploycheck.Settings {
			set := s.settings()
			return deploycheck.Settings{ComposeBin: set.ComposeBin, Timeout: time.Duration(set.DeployTimeout) * time.Second}
		},
		Access: s.reportAccess, PublicBaseURL: s.PublicBaseURL, ReadableRoots: s.ReadableRoots,
		Backups: func(ctx context.Context) (backup.BackupSettings, error) {
			set, err := s.systemSettings(ctx)
			return set.Backup, err
		},
	})
	if err := s.Reload(cfg.Settings, cfg.Providers); err != nil {
		return nil, err
	}
	return s, nil
}

// Start begins the work in the background: schedules that people have set, version inference and samples.
func (s *Service) Start(ctx context.Context) error {
	if err := s.pickCheckMinute(ctx); err != nil {
		return err
	}
	if err := s.applySchedules(ctx); err != nil {
		return fmt.Errorf("set the schedules: %w", err)
	}
	run, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	s.background.Go(func() { s.Candidates.FindVersions(run) })
	s.background.Go(func() { s.Usage.Run(run) })
	if s.cfg.Cluster.Shared() {
		s.background.Go(func() { s.places.watchEngine(run) })
	} else {
		s.background.Go(func() { s.followEngine(run) })
	}
	return nil
}

// followEngine discovers what runs at the engine and stores samples of it, until ctx ends: of the nodes that have the same engine one does.
func (s *Service) followEngine(ctx context.Context) {
	var all sync.WaitGroup
	all.Go(func() { s.DiscoverAlways(ctx) })
	all.Go(func() { s.WatchEngine(ctx) })
	all.Go(func() { s.Usage.StoreUntil(ctx) })
	all.Wait()
}
