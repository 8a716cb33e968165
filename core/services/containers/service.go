// Package containers looks after the compose projects of a host: it finds them, knows what runs, sees new images, and
// updates or rolls back one service, a stack or everything.
package containers

import (
	"context"
	"embed"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/notify/channels"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/secret"
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
	"github.com/patchbay-dev/patchbay/core/store"
)

// ServiceName is what the core knows the service by.
const ServiceName = "containers"

//go:embed migrations
var migrations embed.FS

// Migrations are the schema of the service.
func Migrations() store.Migrations {
	return store.EmbeddedMigrations("containers", migrations,
		store.StoredTime{Table: "containers_projects", Column: "last_scan_at"})
}

// Providers are the instances that the settings name.
type Providers struct {
	Engine client.Engine
	// Registries are asked in this order; the first that serves a host answers.
	Registries []client.Registry
	// CodeHost is nil where none is configured.
	CodeHost client.CodeHost
	// Notify are the channels of notifications, in the order of the settings.
	Notify []channels.Channel
}

// Config is what the service needs.
type Config struct {
	Store     *store.Store
	Keyring   *secret.Keyring
	Logger    hclog.Logger
	Settings  Settings
	Providers Providers
	// DataDir is where backups go unless the settings say otherwise.
	DataDir string
	// Version is the core's own.
	Version string
	// Sender sends notifications, to the channels that Channels keeps the settings of. The service serves its messages and
	// shows those settings.
	Sender   *notify.Sender
	Channels *channels.Manager
	// Cluster has the nodes that share the database; nil is this process alone.
	Cluster *cluster.Cluster
	// Access tells how people are let in, for the settings page and the deploy check.
	Access AccessInfo
	// ReadFile and Now replace the file system and the clock in tests; nil means the real ones.
	ReadFile func(string) ([]byte, error)
	Now      func() time.Time
	// OutageWait is for how long a step waits for an engine that went away; 0 means two minutes.
	OutageWait time.Duration
}

// Service is the containers service.
type Service struct {
	*host.Host
	*project.Projects
	*project.Discovery
	*candidate.Candidates
	*change.Changes
	*change.Planner
	*lifecycle.Lifecycle
	*backup.Backups
	*deploycheck.Reports
	cfg    Config
	log    hclog.Logger
	repo   *record.Store
	state  atomic.Pointer[state]
	access atomic.Pointer[AccessInfo]
	queue  *work.Queue
	// live carries news that the queue does not: deliveries, version inference, samples.
	live *event.Bus
	// Usage samples what the services use.
	Usage *usage.Usage
	// Webhooks are the code host's package webhooks.
	Webhooks *webhook.Webhooks
	// Inbox takes the deliveries of these webhooks.
	Inbox *webhook.Inbox
	// Notices tells people what jobs have found and done.
	Notices *notice.Notices
	// checkMinute is the minute of the day of the daily check.
	checkMinute atomic.Int64
	// places is where the jobs of the service begin.
	places *places
	// applying serialises what changes one compose project.
	applying *work.KeyedMutex
	// drift compares what runs with the files.
	drift *drift.Comparer

	stop       context.CancelFunc
	background sync.WaitGroup
}

// state is what a reload replaces at once.
type state struct {
	settings  Settings
	providers Providers
}

// Use gives the service the queue, which runs the handlers of Jobs.
func (s *Service) Use(q *queue.Queue) {
	s.queue.Queue = q
	s.Notices.Use(q)
}

// Reload puts new settings and providers into use. Jobs that are under way go on
// with the new ones: the former instances may be gone.
func (s *Service) Reload(set Settings, p Providers) error {
	commit, err := s.Prepare(set, p)
	if err != nil {
		return err
	}
	commit()
	return nil
}

// Prepare checks new settings and providers and returns what puts them into use.
func (s *Service) Prepare(set Settings, p Providers) (commit func(), err error) {
	if p.Engine == nil || len(p.Registries) == 0 {
		return nil, errors.New("the containers service needs an engine and a registry")
	}
	return func() {
		s.state.Store(&state{settings: set, providers: p})
		s.cfg.Channels.SetChannels(p.Notify, set.Notify)
		s.Candidates.ForgetSettings()
		s.places.askSoon()
	}, nil
}

// SetAccess tells how people are let in from now on.
func (s *Service) SetAccess(a AccessInfo) { s.access.Store(&a) }

// Close ends the work in the background. The queue has been stopped.
func (s *Service) Close() {
	if s.stop != nil {
		s.stop()
	}
	s.background.Wait()
	s.live.Close()
}

func (s *Service) settings() Settings { return s.state.Load().settings }

func (s *Service) engine() client.Engine { return s.state.Load().providers.Engine }

func (s *Service) codeHost() client.CodeHost { return s.state.Load().providers.CodeHost }

func (s *Service) now() int64 { return store.Millis(s.cfg.Now()) }
