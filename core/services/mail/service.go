// Package mail is the mail service: mail domains, mailboxes that an API call makes, and the messages that arrive in them.
package mail

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
	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/services/mail/address"
	"github.com/patchbay-dev/patchbay/core/services/mail/api"
	"github.com/patchbay-dev/patchbay/core/services/mail/authresult"
	"github.com/patchbay-dev/patchbay/core/services/mail/domain"
	"github.com/patchbay-dev/patchbay/core/services/mail/inbound"
	"github.com/patchbay-dev/patchbay/core/services/mail/mailbox"
	"github.com/patchbay-dev/patchbay/core/services/mail/message"
	"github.com/patchbay-dev/patchbay/core/store"
)

// ServiceName is what the core knows the service by.
const ServiceName = "mail"

//go:embed migrations
var migrations embed.FS

// Migrations are the schema of the service.
func Migrations() store.Migrations {
	return store.EmbeddedMigrations(ServiceName, migrations,
		store.StoredTime{Table: "mail_domains", Column: "retry_at", Longest: domain.MaxCooldown},
		store.StoredTime{Table: "mail_deliveries", Column: "received_at"})
}

// Config is what the service needs.
type Config struct {
	Store   *store.Store
	Keyring *secret.Keyring
	// Metrics may be nil.
	Metrics prometheus.Registerer
	Bus     *event.Bus
	// Cluster has the nodes that share the database; nil is this process alone.
	Cluster *cluster.Cluster
	// Alerts sends notifications of new mail; nil sends none.
	Alerts   Alerter
	Logger   hclog.Logger
	Settings Settings
	Users    *auth.Users
	// DNS is the instance that Settings.DNS names; nil without one.
	DNS client.DNS
	// Access says who is recognised, and under which address browsers see the core.
	Access auth.Access
	// DataDir is the absolute path of the data directory.
	DataDir string
	// Version is the core's own.
	Version string
	// ListenRetry is the pause between attempts to listen for mail (10 s).
	ListenRetry time.Duration
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Service is the mail service. What it may be asked is in its API.
type Service struct {
	*api.API
	cfg        Config
	log        hclog.Logger
	messages   *message.Store
	relay      *cluster.Relay
	ingester   *inbound.Ingester
	checker    *senderChecker
	domains    *domain.Domains
	mailboxes  *mailbox.Mailboxes
	recipients recipients
	state      atomic.Pointer[state]
	listeners  listeners
}

// state is what a reload replaces at once.
type state struct {
	settings Settings
	dns      client.DNS
	api      api.Settings
}

// senderTimeout bounds the check of one sender.
const senderTimeout = 10 * time.Second

// New makes the service and the domains that the settings name. The migrations have run.
func New(ctx context.Context, cfg Config) (*Service, error) {
	if cfg.Store == nil || cfg.Users == nil {
		return nil, errors.New("the mail service needs a database and users")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = hclog.NewNullLogger()
	}
	messages, err := message.NewStore(cfg.Store)
	if err != nil {
		return nil, err
	}
	s := &Service{cfg: cfg, log: cfg.Logger, messages: messages, relay: cfg.Cluster.Relay(ServiceName, cfg.Bus)}
	locks := cfg.Cluster.Locks()
	s.domains = domain.New(domain.Config{Store: cfg.Store, Mailboxes: mailbox.NewStore(cfg.Store), Locks: locks, Connect: s.connectDNS,
		Logger: cfg.Logger, Now: cfg.Now})
	boxes := mailbox.Config{
		Store: cfg.Store, Domains: s.domains, Router: s.domains, Messages: s.messages, Locks: locks, Logger: cfg.Logger, Now: cfg.Now,
		Limits: func() mailbox.Limits { return s.state.Load().settings.mailboxLimits() },
	}
	s.mailboxes, s.recipients = mailbox.New(boxes), recipients{mailbox.NewRecipients(boxes)}
	s.use(cfg.Settings, cfg.DNS, cfg.Access)
	if err := s.addDomains(ctx); err != nil {
		return nil, err
	}
	s.ingester = s.newIngester()
	s.API = s.newAPI()
	s.checker = newSenderChecker(messages, authresult.New(authresult.NewResolver(cfg.Settings.Resolver), senderTimeout), s.log, cfg.Now)
	s.registerStates(cfg.Metrics)
	return s, nil
}

// Prepare checks other settings and returns what puts them into use.
func (s *Service) Prepare(set Settings, provider client.DNS, access auth.Access) (commit func(), err error) {
	return func() {
		s.use(set, provider, access)
		s.tryAddDomains(context.Background())
	}, nil
}

// use puts settings into use.
func (s *Service) use(set Settings, provider client.DNS, access auth.Access) {
	s.state.Store(&state{settings: set, dns: provider, api: set.apiSettings(access)})
}

// newAPI makes the API of the service.
func (s *Service) newAPI() *api.API {
	return api.New(api.Config{
		Mailboxes: s.mailboxes, Recipients: s.recipients, Messages: s.messages, Domains: s.domains, Ingester: s.ingester,
		Users: s.cfg.Users, Settings: func() api.Settings { return s.state.Load().api }, Connect: s.connectDNS, Follow: s.subscribe,
		AddMissing: s.tryAddDomains, ParseBudget: s.cfg.Settings.Limits.ParseBudget, SpoolDir: s.spoolDir(), Version: s.cfg.Version,
		Now: s.cfg.Now,
	})
}

// tryAddDomains is addDomains where a failure is left to the clean-up.
func (s *Service) tryAddDomains(ctx context.Context) {
	if err := s.addDomains(ctx); err != nil {
		s.log.Error("cannot add domains from plugin.hcl, retrying", "error", err)
	}
}

// addDomains makes the domains that the settings name, and notes the plugin of those that are without one.
func (s *Service) addDomains(ctx context.Context) error {
	listed := s.state.Load().settings.Domains
	names := make([]string, len(listed))
	for i, name := range listed {
		var err error
		if names[i], err = address.ParseDomain(name); err != nil {
			return err
		}
	}
	if err := s.domains.AddFromSettings(ctx, names); err != nil {
		return fmt.Errorf("add the mail domains of the settings: %w", err)
	}
	return s.domains.NotePlugins(ctx)
}

// connectDNS returns the DNS provider in use.
func (s *Service) connectDNS() domain.Connection {
	st := s.state.Load()
	c := domain.Connection{Ref: st.settings.DNS, MXHost: st.settings.mxHost()}
	if st.dns != nil {
		c.DNS, c.Plugin = st.dns.Pin()
	}
	return c
}
