// Package releases is the service of the release feed: the releases of the repositories that people have starred or follow, with
// notifications and daily briefs.
package releases

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/auth/account"
	"github.com/patchbay-dev/patchbay/core/auth/limit"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/secret"
	own "github.com/patchbay-dev/patchbay/core/services/releases/account"
	"github.com/patchbay-dev/patchbay/core/services/releases/brief"
	"github.com/patchbay-dev/patchbay/core/services/releases/feed"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/services/releases/sync"
	"github.com/patchbay-dev/patchbay/core/services/releases/translate"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

// ServiceName is what the core knows the service by.
const ServiceName = "releases"

//go:embed migrations
var migrations embed.FS

// Migrations are the schema of the service.
func Migrations() store.Migrations {
	const day = 24 * time.Hour
	return store.EmbeddedMigrations(ServiceName, migrations,
		store.StoredTime{Table: "release_repos", Column: "due_at", Longest: 2 * day},
		store.StoredTime{Table: "release_repos", Column: "synced_at"},
		store.StoredTime{Table: "release_host_accounts", Column: "due_at", Longest: 2 * day},
		store.StoredTime{Table: "release_pauses", Column: "until", Longest: day},
		store.StoredTime{Table: "release_host_limits", Column: "reset_at", Longest: day},
		store.StoredTime{Table: "release_sign_ins", Column: "expires_at", Longest: own.SignInFor},
		store.StoredTime{Table: "release_translations", Column: "run_at", Where: "state = 'queued'", Longest: day},
		store.StoredTime{Table: "release_translations", Column: "deadline", Where: "state = 'queued'", Longest: day})
}

// TaskQueue runs tasks.
type TaskQueue interface {
	// Submit queues a job, or returns the unfinished one that is the same work.
	Submit(ctx context.Context, sub queue.Submission) (job queue.Job, reused bool, err error)
	// Get reads a job.
	Get(ctx context.Context, id string) (queue.Job, error)
	// List returns jobs, the latest first.
	List(ctx context.Context, f queue.Filter, cursor string, limit int) (jobs []queue.Job, next string, err error)
	// Follow sends the events of a job after a sequence number.
	Follow(ctx context.Context, jobID string, afterSeq int64) (<-chan queue.Event, error)
}

// Config is what the service needs.
type Config struct {
	Store    *store.Store
	Keyring  *secret.Keyring
	Queue    TaskQueue
	Logger   hclog.Logger
	Settings Settings
	Users    *auth.Users
	// Alerts sends notifications; nil sends none.
	Alerts Alerter
	// Hosts are the code hosts that the settings name.
	Hosts []sync.Host
	// Translator translates; nil without one.
	Translator translator.Translator
	// Access says who is recognised, and under which address browsers see the core.
	Access auth.Access
	// Version is the core's own.
	Version string
	// Metrics registers the metrics of the service; nil leaves them out.
	Metrics prometheus.Registerer
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Service is the service of the release feed.
type Service struct {
	cfg      Config
	log      hclog.Logger
	repos    *repo.Store
	feed     *feed.Store
	accounts *own.Store
	reads    *sync.State
	syncer   *sync.Syncer
	briefs   *brief.Briefs
	// translations translate releases and notifications.
	translations *translate.Translations
	metrics      *metrics
	state        atomic.Pointer[state]
	// signIns counts the sign-ins that begin at an address.
	signIns *limit.Limiter
	// publicReads counts what an address reads without an account.
	publicReads *limit.Limiter
}

// state is what a reload replaces at once.
type state struct {
	settings Settings
	hosts    []sync.Host
	// translator is nil if none is configured.
	translator translator.Translator
	sets       *account.Sets
	access     auth.Access
}

// New makes the service. The migrations have run.
func New(ctx context.Context, cfg Config) (*Service, error) {
	if cfg.Store == nil || cfg.Users == nil || cfg.Queue == nil {
		return nil, errors.New("the releases service needs a database, a queue and users")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = hclog.NewNullLogger()
	}
	repos := repo.NewStore(cfg.Store)
	s := &Service{
		cfg: cfg, log: cfg.Logger, repos: repos, feed: feed.NewStore(cfg.Store, repos), accounts: own.NewStore(cfg.Store, cfg.Keyring), reads: sync.NewState(cfg.Store),
	}
	s.briefs = brief.New(cfg.Store, s.feed, s.briefLanguage, s.summariesFor, cfg.Now)
	s.syncer = sync.New(sync.Config{
		Store: cfg.Store, Repos: s.repos, Feed: s.feed, Accounts: s.accounts, State: s.reads, Logger: cfg.Logger, Now: cfg.Now,
		Hosts:    func() []sync.Host { return s.state.Load().hosts },
		Interval: func() time.Duration { return s.state.Load().settings.Interval },
		OAuth:    func() codehost.OAuthClient { return s.state.Load().oauthClient() },
		Found:    s.announceReleases,
	})
	s.metrics = newMetrics(cfg.Metrics, s.countRepos)
	var err error
	if s.signIns, err = limit.New(limit.Config{Burst: 20, Every: 6 * time.Second, Now: cfg.Now}); err != nil {
		return nil, err
	}
	if s.publicReads, err = limit.New(limit.Config{Burst: publicBurst, Every: publicEvery, Now: cfg.Now}); err != nil {
		return nil, err
	}
	s.translations = s.newTranslations()
	s.use(cfg.Settings, cfg.Hosts, cfg.Translator, cfg.Access)
	return s, s.followConfigured(ctx, cfg.Settings)
}

// Prepare checks other settings and returns what puts them into use.
func (s *Service) Prepare(set Settings, hosts []sync.Host, model translator.Translator, access auth.Access) (commit func(), err error) {
	return func() {
		s.use(set, hosts, model, access)
		if err := s.followConfigured(context.Background(), set); err != nil {
			s.log.Error("the repositories of the new settings could not be added; a restart tries again", "error", err)
		}
	}, nil
}

// use puts settings into use.
func (s *Service) use(set Settings, hosts []sync.Host, model translator.Translator, access auth.Access) {
	sets := account.New(account.Config{Users: s.cfg.Users, Access: access, Version: s.cfg.Version})
	s.state.Store(&state{settings: set, hosts: hosts, translator: model, sets: sets, access: access})
}

// followConfigured has everybody see the repositories of the settings, and no others that only former settings had.
func (s *Service) followConfigured(ctx context.Context, set Settings) error {
	err := s.cfg.Store.Tx(ctx, "follow configured repositories", func(ctx context.Context) error {
		repos, ids := make([]*repo.Repo, len(set.Repos)), make([]int64, len(set.Repos))
		for i, text := range set.Repos {
			host, name := splitRepoSetting(text)
			if host == "" && len(set.CodeHosts) > 0 {
				host = set.CodeHosts[0]
			}
			name, err := repo.ParseName(name)
			if err != nil {
				return err
			}
			repos[i] = &repo.Repo{Host: host, FullName: name}
		}
		if err := s.repos.SaveAll(ctx, repos, s.cfg.Now()); err != nil {
			return err
		}
		for i, r := range repos {
			ids[i] = r.ID
		}
		return s.repos.ReplaceFollowed(ctx, repo.Everybody, ids)
	})
	if err != nil {
		return fmt.Errorf("follow the repositories of the settings: %w", err)
	}
	return nil
}

// addRepo returns the repository of a host with a name, held for the running transaction. One that is not known is added, and read at the
// next chance.
func (s *Service) addRepo(ctx context.Context, host, name string) (repo.Repo, error) {
	r := repo.Repo{Host: host, FullName: name}
	if err := s.repos.Save(ctx, &r, s.cfg.Now()); err != nil {
		return r, err
	}
	return s.repos.Hold(ctx, r.ID)
}

// Ready returns why the service cannot work, or nil.
func (s *Service) Ready() error { return nil }

// Close ends what New began.
func (s *Service) Close() { s.translations.Close() }
