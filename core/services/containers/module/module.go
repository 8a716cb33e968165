// Package module declares the containers service to the core.
package module

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/metric"
	"github.com/patchbay-dev/patchbay/core/module"
	"github.com/patchbay-dev/patchbay/core/notify/channels"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/services/containers"
	"github.com/patchbay-dev/patchbay/core/services/containers/api"
	"github.com/patchbay-dev/patchbay/core/services/containers/pages"
)

func init() {
	module.Register(module.Definition{
		Name: containers.ServiceName, Order: 20, Settings: func() module.Settings { return &containers.Settings{} },
		Migrations: containers.Migrations(), Open: openService,
	})
}

// service is the running service with what it got from the core.
type service struct {
	*containers.Service
	deps module.Deps
}

// openService makes the service.
func openService(_ context.Context, deps module.Deps, c module.Configuration) (module.Service, error) {
	s := &service{deps: deps}
	providers, err := s.openProviders(c)
	if err != nil {
		return nil, err
	}
	s.Service, err = containers.New(containers.Config{
		Store: deps.Store, Keyring: deps.Keyring, Logger: deps.Logger, Settings: readSettings(c), Providers: providers, DataDir: deps.DataDir,
		Version: deps.Version,
		Access:  accessInfo(c.Front), Sender: deps.Notify, Channels: deps.Channels, Cluster: deps.Cluster,
	})
	if err != nil {
		return nil, err
	}
	s.Use(deps.Queue)
	deps.Metrics.MustRegister(metric.NewCounts("patchbay_containers_services",
		"Services of active stacks: all, running, and with an update available.", "state", s.CountServices))
	return s, nil
}

// readSettings returns the settings as the type of the service.
func readSettings(c module.Configuration) containers.Settings {
	return *c.Settings.(*containers.Settings)
}

// accessInfo tells the service how people are let in.
func accessInfo(f module.Front) containers.AccessInfo {
	who := f.Access.Forward
	return containers.AccessInfo{
		OpenLoopback: f.Access.TrustsOpenLoopback(f.HTTPAddr), UserHeader: who.UserHeader, GroupHeader: who.GroupHeader,
		AllowedUser: who.AllowedUser, AllowedGroup: who.AllowedGroup, AnonymousInDev: f.Access.Anonymous, TrustedProxies: f.TrustedProxies,
	}
}

// openProviders returns the instances that the settings name. A registry that is not required and does not run is left out, as
// long as there is another one, and so is a channel of notifications.
func (s *service) openProviders(c module.Configuration) (p containers.Providers, err error) {
	set, observe := readSettings(c), s.deps.Observe
	h, err := c.Instances.Handle(set.Engine)
	if err != nil {
		return p, err
	}
	p.Engine = client.NewEngine(h, observe)
	_, registries, missing := module.OpenInstances(set.Registries, c.Instances,
		func(h *catalog.Handle) client.Registry { return client.NewRegistry(h, observe) },
		func(ref string, err error) {
			s.deps.Logger.Warn("registry skipped", "registry", ref, "error", err)
		})
	if len(registries) == 0 {
		return p, missing
	}
	p.Registries = registries
	_, p.Notify, _ = module.OpenInstances(set.Notify, c.Instances,
		func(h *catalog.Handle) channels.Channel {
			return channels.Channel{Ref: h.Ref(), Notifier: client.NewNotifier(h, observe)}
		},
		func(ref string, err error) {
			s.deps.Logger.Warn("notification channel skipped", "channel", ref, "error", err)
		})
	if ref := set.CodeHostRef(); ref != "" {
		if h, err = c.Instances.Handle(ref); err != nil {
			return p, err
		}
		p.CodeHost = client.NewCodeHost(h, observe)
	}
	return p, nil
}

// Prepare implements module.Service.
func (s *service) Prepare(c module.Configuration) (commit func(), err error) {
	providers, err := s.openProviders(c)
	if err != nil {
		return nil, err
	}
	use, err := s.Service.Prepare(readSettings(c), providers)
	if err != nil {
		return nil, err
	}
	return func() {
		use()
		s.SetAccess(accessInfo(c.Front))
	}, nil
}

// MountAt implements module.Service.
func (s *service) MountAt(base string) (httpd.Mount, error) {
	return api.Mount(s.Service, base), nil
}

// Pages implements module.Service.
func (s *service) Pages(at module.Address) (ui.Section, error) {
	return pages.Section(pages.Config{Service: s.Service, Inbox: s.Inbox, Notices: s.Notices, Usage: s.Usage, Hooks: s.Webhooks,
		Bus: s.deps.Bus, Base: at.Path})
}
