// Package releases is the service of the release feed: the releases of the repositories that people have starred or follow, with
// notifications and daily briefs.
package releases

import (
	"context"
	"embed"
	"errors"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/auth/account"
	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/secret"
	own "github.com/patchbay-dev/patchbay/core/services/releases/account"
	"github.com/patchbay-dev/patchbay/core/services/releases/api"
	"github.com/patchbay-dev/patchbay/core/services/releases/brief"
	"github.com/patchbay-dev/patchbay/core/services/releases/feed"
	"github.com/patchbay-dev/patchbay/core/services/releases/follow"
	"github.com/patchbay-dev/patchbay/core/services/releases/link"
	"github.com/patchbay-dev/patchbay/core/services/releases/notice"
	"github.com/patchbay-dev/patchbay/core/services/releases/reader"
	"github.com/patchbay-dev/patchbay/core/services/releases/reading"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/services/releases/signin"
	"github.com/patchbay-dev/patchbay/core/services/releases/sync"
	"github.com/patchbay-dev/patchbay/core/services/releases/syndication"
	"github.com/patchbay-dev/patchbay/core/services/releases/task"
	"github.com/patchbay-dev/patchbay/core/services/releases/translate"
	"github.com/patchbay-dev/patchbay/core/services/releases/translation"
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
		store.StoredTime{Table: "release_model_budget", Column: "paused_until", Longest: day},
		store.StoredTime{Table: "release_model_reservations", Column: "until_at", Longest: day},
		store.StoredTime{Table: "release_sign_ins", Column: "expires_at", Longest: own.SignInFor},
		store.StoredTime{Table: "release_translations", Column: "run_at", Where: "state = 'queued'", Longest: day},
		store.StoredTime{Table: "release_translations", Column: "deadline", Where: "state = 'queued'", Longest: day})
}

// Config is what the service needs.
type Config struct {
	Store    *store.Store
	Keyring  *secret.Keyring
	Queue    task.Queue
	Logger   hclog.Logger
	Settings Settings
	Users    *auth.Users
	// Alerts sends notifications; nil sends none.
	Alerts notice.Alerter
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
	// Cluster has the nodes that share the database; nil is this process alone.
	Cluster *cluster.Cluster
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Service is the service of the release feed. What it may be asked is in its rooms.
type Service struct {
	*reader.Readers
	*follow.Following
	*link.Links
	*signin.SignIns
	*translation.Translator
	*reading.Reading
	*syndication.Feeds
	*task.Tasks
	*task.Rounds
	*notice.Announcer
	*api.API
	cfg          Config
	repos        *repo.Store
	accounts     *own.Store
	reads        *sync.State
	syncer       *sync.Syncer
	translations *translate.Translations
	state        atomic.Pointer[state]
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
	s := &Service{cfg: cfg}
	if err := s.makeRooms(); err != nil {
		return nil, err
	}
	s.use(cfg.Settings, cfg.Hosts, cfg.Translator, cfg.Access)
	return s, s.followShared(ctx, cfg.Settings)
}

// makeRooms makes the rooms of the service and tells each what it needs of the others.
func (s *Service) makeRooms() (err error) {
	cfg := s.cfg
	s.repos, s.accounts, s.reads = repo.NewStore(cfg.Store), own.NewStore(cfg.Store, cfg.Keyring), sync.NewState(cfg.Store)
	items, briefStore := feed.NewStore(cfg.Store, s.repos), brief.NewStore(cfg.Store)
	s.Readers = reader.New(reader.Config{Store: cfg.Store, Repos: s.repos, Accounts: s.accounts, Briefs: briefStore,
		Settings: s.readerSettings, Now: cfg.Now})
	hosts := func() []sync.Host { return s.state.Load().hosts }
	interval := func() time.Duration { return s.state.Load().settings.Interval }
	s.syncer = sync.New(sync.Config{
		Store: cfg.Store, Repos: s.repos, Feed: items, Accounts: s.accounts, State: s.reads, Logger: cfg.Logger, Now: cfg.Now, Hosts: hosts,
		Locks: cfg.Cluster.Locks(), Interval: interval, OAuth: func() codehost.OAuthClient { return s.Application() },
		Found: func(ctx context.Context, r repo.Repo, found []repo.Release) error {
			return s.Announcer.AnnounceReleases(ctx, r, found)
		},
	})
	s.translations = s.newTranslations(newMetrics(cfg.Metrics, s.countRepos))
	s.Translator = translation.New(translation.Config{Translations: s.translations, Repos: s.repos, Reads: s.reads, Readers: s.Readers,
		Logger: cfg.Logger, Settings: s.translatorSettings})
	briefs := brief.New(briefStore, items, s.BriefLanguage, s.SummariesFor, cfg.Now)
	publicPages := func() bool { return s.state.Load().settings.PublicPages }
	s.Following = follow.New(follow.Config{Store: cfg.Store, Repos: s.repos, Syncer: s.syncer, Hosts: hosts, PublicPages: publicPages,
		Now: cfg.Now})
	s.Links = link.New(link.Config{Store: cfg.Store, Accounts: s.accounts, Repos: s.repos, Feed: items, Reads: s.reads, Users: cfg.Users,
		Syncer: s.syncer, Now: cfg.Now})
	if s.SignIns, err = signin.New(signin.Config{Store: cfg.Store, Accounts: s.accounts, Users: cfg.Users, Links: s.Links,
		Now: cfg.Now, Current: func() signin.Current { return s.state.Load().currentSignIn() },
	}); err != nil {
		return err
	}
	if s.Reading, err = reading.New(reading.Config{Store: cfg.Store, Repos: s.repos, Feed: items, Reads: s.reads, Briefs: briefs,
		Users: cfg.Users, Syncer: s.syncer, Readers: s.Readers, Translator: s.Translator, Translations: s.translations, Logger: cfg.Logger,
		PublicPages: publicPages,
		Now:         cfg.Now}); err != nil {
		return err
	}
	s.Feeds = syndication.New(syndication.Config{Accounts: s.accounts, Users: cfg.Users, Feed: items, Readers: s.Readers,
		PublicBase: s.publicBase,
		Version:    cfg.Version, Now: cfg.Now})
	s.Announcer = notice.New(notice.Config{Alerts: cfg.Alerts, Accounts: s.accounts, Repos: s.repos, Users: cfg.Users, Readers: s.Readers,
		Translator: s.Translator, Channels: func() []string { return s.state.Load().settings.Notify }, PublicBase: s.publicBase,
		Logger: cfg.Logger, Now: cfg.Now})
	work := task.Config{Store: cfg.Store, Queue: cfg.Queue, Users: cfg.Users, Accounts: s.accounts, Repos: s.repos, Briefs: briefs,
		Syncer: s.syncer, Translations: s.translations, Readers: s.Readers, Translator: s.Translator, Announcer: s.Announcer, Hosts: hosts,
		Interval: interval, Logger: cfg.Logger, Now: cfg.Now}
	s.Tasks = task.New(work)
	s.Rounds = task.NewRounds(work, s.Tasks)
	s.API = api.New(api.Config{Readers: s.Readers, Reading: s.Reading, Following: s.Following, Links: s.Links, Feeds: s.Feeds,
		Translator: s.Translator, Translations: s.translations, Tasks: s.Tasks, Sets: func() *account.Sets { return s.state.Load().sets },
		Origin: func(baseURL string) string { return allowedOrigin(baseURL, s.state.Load().access.PublicURL) }, Version: cfg.Version})
	return nil
}

// readerSettings returns what readers get who have chosen nothing.
func (s *Service) readerSettings() reader.Settings {
	set := s.state.Load().settings
	return reader.Settings{Languages: set.Translation.Languages, TimeZone: set.TimeZone, BriefHour: int(set.BriefHour)}
}

// translatorSettings returns what translates.
func (s *Service) translatorSettings() translation.Settings {
	st := s.state.Load()
	set := st.settings.Translation
	return translation.Settings{Model: st.translator, Briefs: set.Briefs, DailyTokens: set.DailyTokens, DailyCost: set.DailyCost}
}

// Prepare checks other settings and returns what puts them into use.
func (s *Service) Prepare(set Settings, hosts []sync.Host, model translator.Translator, access auth.Access) (commit func(), err error) {
	return func() {
		s.use(set, hosts, model, access)
		if err := s.followShared(context.Background(), set); err != nil {
			s.cfg.Logger.Error("cannot add repositories from plugin.hcl; restart to retry", "error", err)
		}
	}, nil
}

// use puts settings into use.
func (s *Service) use(set Settings, hosts []sync.Host, model translator.Translator, access auth.Access) {
	sets := account.New(account.Config{Users: s.cfg.Users, Access: access, Version: s.cfg.Version})
	s.state.Store(&state{settings: set, hosts: hosts, translator: model, sets: sets, access: access})
}

// followShared has everybody see the repositories of the settings.
func (s *Service) followShared(ctx context.Context, set Settings) error {
	repos, err := set.sharedRepos()
	if err != nil {
		return err
	}
	return s.FollowConfigured(ctx, repos)
}

// Ready returns why the service cannot work, or nil.
func (s *Service) Ready() error { return nil }

// Close ends what New began.
func (s *Service) Close() { s.translations.Close() }
