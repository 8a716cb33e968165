// Package search is the token-gated search proxy: it checks the client's token and quota, chooses an upstream key,
// calls the search backend that the operator configured, and keeps an audit of all of it.
package search

import (
	"context"
	"embed"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/alert"
	"github.com/patchbay-dev/patchbay/core/services/search/api"
	"github.com/patchbay-dev/patchbay/core/services/search/api/mcp"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
	"github.com/patchbay-dev/patchbay/core/services/search/keys"
	"github.com/patchbay-dev/patchbay/core/services/search/proxy"
	"github.com/patchbay-dev/patchbay/core/store"
)

//go:embed migrations
var migrations embed.FS

// Config is what the service needs.
type Config struct {
	Store *store.Store
	// Cluster is this core among those of the database; nil for a core alone.
	Cluster  *cluster.Cluster
	Keyring  *secret.Keyring
	Logger   hclog.Logger
	Settings Settings
	// Backends are those that Settings.Backend names, in that order.
	Backends []client.Search
	Metrics  *proxy.Metrics
	// People tells about users, whom tokens may belong to; nil where there are none.
	People access.People
	// Sessions ends sign-ins; nil where there are none.
	Sessions api.Sessions
	// Version is the core's own, for the API document.
	Version string
	// PublicURL is the absolute URL under which browsers see the core; empty if that is not known.
	PublicURL string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Service is the search service. What it may be asked is in its rooms.
type Service struct {
	*access.Access
	*keys.Keys
	*audit.Log
	*proxy.Proxy
	*alert.Monitor
	cfg      Config
	api      *api.API
	settings atomic.Pointer[Settings]
	// seen is up to when tokens and keys were read, in Unix milliseconds.
	seen atomic.Int64
	// stopFollowing ends following, which takes in what other cores write.
	stopFollowing context.CancelFunc
	following     sync.WaitGroup
}

// New loads tokens, keys and counters, and ends what a crash left open. The migrations have run.
func New(ctx context.Context, cfg Config) (*Service, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = hclog.NewNullLogger()
	}
	if cfg.Metrics == nil {
		cfg.Metrics = proxy.NewMetrics(nil)
	}
	s := &Service{cfg: cfg, stopFollowing: func() {}}
	if err := s.makeRooms(); err != nil {
		return nil, err
	}
	if err := s.Reload(cfg.Settings, cfg.Backends...); err != nil {
		return nil, err
	}
	if err := s.restoreState(ctx); err != nil {
		return nil, err
	}
	s.followChanges()
	cfg.Metrics.WatchKeys(s.Pool().CountStates)
	return s, nil
}

// makeRooms makes the rooms of the service and tells each what it needs of the others.
func (s *Service) makeRooms() (err error) {
	cfg := s.cfg
	s.Log = audit.New(audit.Config{Store: cfg.Store, Cluster: cfg.Cluster, Logger: cfg.Logger, Now: cfg.Now, Disabled: cfg.Settings.NoAudit})
	s.Access = access.New(access.Config{
		Store: cfg.Store, Keyring: cfg.Keyring, Logger: cfg.Logger, Now: cfg.Now, Defaults: cfg.Settings.defaultLimits(), Requests: s.Log,
		People: cfg.People, Cluster: cfg.Cluster,
	})
	s.Keys = keys.New(keys.Config{
		Store: cfg.Store, Keyring: cfg.Keyring, Logger: cfg.Logger, Now: cfg.Now, Backend: s.keyUpstream, Requests: s.Log, Reporter: s,
		Refresh: s.Refresh, Cluster: cfg.Cluster,
	})
	s.Proxy = proxy.New(proxy.Config{
		Tokens: s.Table(), Keys: s.Keys, Audit: s.Writer(), Research: s.Log.Store, Metrics: cfg.Metrics, Logger: cfg.Logger, Now: cfg.Now,
	})
	s.Monitor = alert.NewMonitor(alert.AlertConfig{Store: cfg.Store, Cluster: cfg.Cluster, Backends: s.Proxy, Pool: s.Pool(),
		Settings: s.alertSettings, Logger: cfg.Logger,
		Now: cfg.Now})
	s.api, err = api.New(api.Config{
		Store: cfg.Store, Cluster: cfg.Cluster, Keyring: cfg.Keyring,
		Access: s.Access, Keys: s.Keys, Log: s.Log, Proxy: s.Proxy, Catalog: s.LogCatalog, Sessions: cfg.Sessions, Version: cfg.Version,
		PublicURL: cfg.PublicURL, Now: cfg.Now,
	})
	return err
}

// keyUpstream returns the backend that keys of a group are for; nil if no backend needs keys.
func (s *Service) keyUpstream(group string) keys.Upstream {
	if b := s.BackendOfGroup(group); b != nil {
		return b
	}
	return nil
}

// alertSettings returns when alerts are sent, and to which channels.
func (s *Service) alertSettings() (alert.Settings, []string) {
	set := s.settings.Load()
	return set.alertSettings(), set.Notify
}

// Migrations are the schema of the service.
func Migrations() store.Migrations {
	return store.EmbeddedMigrations("search", migrations,
		store.StoredTime{Table: "search_keys", Column: "until", Where: "deleted_at = 0", Longest: keys.LongestRest},
		store.StoredTime{Table: "search_keys", Column: "quota_synced_at", Where: "deleted_at = 0"},
		store.StoredTime{Table: "search_mcp_ended", Column: "until_at", Longest: mcp.SessionLifetime},
		store.StoredTime{Table: "search_writers", Column: "rolled_at", Where: "NOT ended"})
}

// Reload puts new settings and the backends that they name, in that order, into use. Requests that are under way keep the
// old ones.
func (s *Service) Reload(set Settings, backends ...client.Search) error {
	commit, err := s.Prepare(set, backends...)
	if err != nil {
		return err
	}
	commit()
	return nil
}

// Prepare checks new settings and the backends that they name, in that order, and returns what puts them into use.
func (s *Service) Prepare(set Settings, backends ...client.Search) (commit func(), err error) {
	next, err := proxy.NewState(set.proxySettings(), set.Backend, backends)
	if err != nil {
		return nil, err
	}
	useAPI, err := s.api.Prepare(api.Settings{BaseURL: set.BaseURL, DevOpenAdmin: set.DevOpenAdmin}, next)
	if err != nil {
		return nil, err
	}
	return func() {
		s.Table().SetDefaults(set.defaultLimits())
		// The tools of MCP come after the operations that they call.
		s.Use(next)
		useAPI()
		s.settings.Store(&set)
		if set.DevOpenAdmin {
			s.cfg.Logger.Warn("dev_open_admin is on: calls need no token; never use it in production")
		}
	}, nil
}

// restoreState reads what an earlier process left.
func (s *Service) restoreState(ctx context.Context) error {
	if err := s.Log.CloseInterrupted(ctx); err != nil {
		return err
	}
	if err := s.LoadFirstClient(ctx); err != nil {
		return err
	}
	if err := s.refreshState(ctx, 0); err != nil {
		return err
	}
	if err := s.RestoreCounters(ctx); err != nil {
		return fmt.Errorf("rebuild the counters: %w", err)
	}
	return s.StartWriting(ctx)
}

// Refresh takes in what other processes have written to tokens and keys.
func (s *Service) Refresh(ctx context.Context) error { return s.refreshState(ctx, s.seen.Load()) }

const (
	// refreshSlack covers transactions that wait for the writer and commit after later ones, sharedSlack clocks that differ as well.
	refreshSlack = time.Minute
	sharedSlack  = 10 * time.Minute
)

func (s *Service) refreshState(ctx context.Context, since int64) error {
	now := s.cfg.Now()
	if err := s.RefreshTokens(ctx, since); err != nil {
		return err
	}
	if err := s.RefreshKeys(ctx, since); err != nil {
		return err
	}
	slack := refreshSlack
	if s.cfg.Cluster.Shared() {
		slack = sharedSlack
	}
	s.seen.Store(now.Add(-slack).UnixMilli())
	return nil
}

// Ready returns an error while the service cannot do its work.
func (s *Service) Ready() error { return s.CheckWriter() }

// BaseURL returns where the service is mounted.
func (s *Service) BaseURL() string { return s.settings.Load().BaseURL }

// Mount returns the service below its base URL.
func (s *Service) Mount() (httpd.Mount, error) { return s.MountAt(s.BaseURL()) }

// MountAt is Mount for another base URL than the one in use.
func (s *Service) MountAt(base string) (httpd.Mount, error) { return s.api.Mount(base), nil }

// Backends returns how many backends the service may ask.
func (s *Service) Backends() int { return len(s.Chain()) }

// LogCatalog returns what requests can be filtered by at present.
func (s *Service) LogCatalog() audit.LogCatalog {
	out := audit.LogCatalog{RetentionDays: int(s.settings.Load().Retention / (24 * time.Hour)), Operations: s.OperationNames(),
		Backends: []string{}}
	for _, b := range s.Chain() {
		out.Backends = append(out.Backends, b.Ref)
	}
	out.Results = []string{audit.Success.String(), audit.Failure.String(), audit.Refused.String(), audit.Interrupted.String(),
		audit.Open.String()}
	return out
}

// Alert has the service send its alerts from now on. It is called at most once, before Close.
func (s *Service) Alert(ctx context.Context, to alert.Alerter) error {
	return s.Monitor.SendTo(ctx, to)
}

// Close writes the rest of the audit. No request may be under way.
func (s *Service) Close() {
	s.stopFollowing()
	s.following.Wait()
	s.Monitor.Close()
	s.Keys.Wait()
	s.CloseLeases()
	s.Log.Close()
}
