// Package module declares the mail service to the core.
package module

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/module"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/services/mail"
	"github.com/patchbay-dev/patchbay/core/services/mail/pages"
)

func init() {
	module.Register(module.Definition{
		Name: mail.ServiceName, Order: 15, Settings: func() module.Settings { return &mail.Settings{} }, Migrations: mail.Migrations(),
		Open: openService, Commands: newCommands,
	})
}

// service is the running service with what it got from the core.
type service struct {
	*mail.Service
	deps module.Deps
}

// readSettings returns the settings as the type of the service.
func readSettings(c module.Configuration) mail.Settings { return *c.Settings.(*mail.Settings) }

// openService makes the service.
func openService(ctx context.Context, deps module.Deps, c module.Configuration) (module.Service, error) {
	provider, err := openDNS(deps, c)
	if err != nil {
		return nil, err
	}
	s, err := mail.New(ctx, mail.Config{
		Store: deps.Store, Keyring: deps.Keyring, Metrics: deps.Metrics, Bus: deps.Bus, Cluster: deps.Cluster, Alerts: deps.Notify, Logger: deps.Logger,
		Settings: readSettings(c), Users: deps.Users, DNS: provider, Access: c.Front.Access,
		DataDir: deps.DataDir, Version: deps.Version,
	})
	if err != nil {
		return nil, err
	}
	return &service{Service: s, deps: deps}, nil
}

// openDNS returns the DNS provider that the settings name, nil for none.
func openDNS(deps module.Deps, c module.Configuration) (client.DNS, error) {
	ref := readSettings(c).DNS
	if ref == "" {
		return nil, nil
	}
	h, err := c.Instances.Handle(ref)
	if err != nil {
		return nil, err
	}
	return client.NewDNS(h, deps.Observe), nil
}

// Prepare implements module.Service.
func (s *service) Prepare(c module.Configuration) (commit func(), err error) {
	provider, err := openDNS(s.deps, c)
	if err != nil {
		return nil, err
	}
	return s.Service.Prepare(readSettings(c), provider, c.Front.Access)
}

// Pages implements module.Service.
func (s *service) Pages(at module.Address) (ui.Section, error) {
	return pages.Section(s.Service, at.Path, at.URL)
}
