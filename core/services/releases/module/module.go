// Package module declares the service of the release feed to the core.
package module

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/module"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/services/releases"
	"github.com/patchbay-dev/patchbay/core/services/releases/account"
	"github.com/patchbay-dev/patchbay/core/services/releases/pages"
	"github.com/patchbay-dev/patchbay/core/services/releases/sync"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

func init() {
	module.Register(module.Definition{
		Name: releases.ServiceName, Order: 17, Settings: func() module.Settings { return &releases.Settings{} },
		Migrations: releases.Migrations(), EndGrants: account.EndGrants, Open: openService,
	})
}

// service is the running service with what it got from the core.
type service struct {
	*releases.Service
	deps module.Deps
}

// readSettings returns the settings as the type of the service.
func readSettings(c module.Configuration) releases.Settings { return *c.Settings.(*releases.Settings) }

// openService makes the service.
func openService(ctx context.Context, deps module.Deps, c module.Configuration) (module.Service, error) {
	s, err := releases.New(ctx, releases.Config{
		Store: deps.Store, Keyring: deps.Keyring, Queue: deps.Queue, Alerts: deps.Notify, Logger: deps.Logger, Settings: readSettings(c),
		Users: deps.Users, Hosts: openHosts(deps, c), Translator: openTranslator(deps, c), Access: c.Front.Access,
		Version: deps.Version, Metrics: deps.Metrics, Cluster: deps.Cluster,
	})
	if err != nil {
		return nil, err
	}
	return &service{Service: s, deps: deps}, nil
}

// openHosts returns the code hosts that the settings name. One that does not run is left out: what was read from it can be read
// here all the same.
func openHosts(deps module.Deps, c module.Configuration) []sync.Host {
	refs, clients, _ := module.OpenInstances(readSettings(c).CodeHosts, c.Instances,
		func(h *catalog.Handle) client.CodeHost { return client.NewCodeHost(h, deps.Observe) },
		func(ref string, err error) {
			deps.Logger.Warn("code host skipped", "codehost", ref, "error", err)
		})
	hosts := make([]sync.Host, len(refs))
	for i, ref := range refs {
		hosts[i] = sync.NewHost(ref, clients[i])
	}
	return hosts
}

// openTranslator returns the translator that the settings name, nil if there is none or if it does not run.
func openTranslator(deps module.Deps, c module.Configuration) translator.Translator {
	ref := readSettings(c).Translator
	if ref == "" {
		return nil
	}
	_, found, _ := module.OpenInstances([]string{ref}, c.Instances,
		func(h *catalog.Handle) client.Translator { return client.NewTranslator(h, deps.Observe) },
		func(ref string, err error) {
			deps.Logger.Warn("translator skipped", "translator", ref, "error", err)
		})
	if len(found) == 0 {
		return nil
	}
	return found[0]
}

// Prepare implements module.Service.
func (s *service) Prepare(c module.Configuration) (commit func(), err error) {
	return s.Service.Prepare(readSettings(c), openHosts(s.deps, c), openTranslator(s.deps, c), c.Front.Access)
}

// Pages implements module.Service.
func (s *service) Pages(at module.Address) (ui.Section, error) {
	return pages.Section(s.Service, at.Path)
}
