// Package module declares the search service to the core.
package module

import (
	"context"
	"fmt"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/module"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/services/search"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/pages"
	"github.com/patchbay-dev/patchbay/core/services/search/proxy"
)

func init() {
	module.Register(module.Definition{
		Name: "search", Order: 10, Settings: func() module.Settings { return &search.Settings{} }, Migrations: search.Migrations(),
		EndGrants: access.EndGrants, Open: openService, Commands: newCommands,
	})
}

// service is the running service with what it got from the core.
type service struct {
	*search.Service
	deps module.Deps
}

// openService makes the service.
func openService(ctx context.Context, deps module.Deps, c module.Configuration) (module.Service, error) {
	s := &service{deps: deps}
	set, backends, err := s.openBackends(c)
	if err != nil {
		return nil, err
	}
	s.Service, err = search.New(ctx, search.Config{
		Store: deps.Store, Cluster: deps.Cluster, Keyring: deps.Keyring, Logger: deps.Logger, Settings: set, Backends: backends,
		Metrics: proxy.NewMetrics(deps.Metrics), PublicURL: c.Front.PublicURL, Version: deps.Version, People: deps.Users, Sessions: deps.Users.Sessions,
	})
	return s, err
}

// openBackends returns the backends that the settings name. An instance that is not required and does not run is left out, as
// long as there is another one; the settings that are returned name those that are left.
func (s *service) openBackends(c module.Configuration) (search.Settings, []client.Search, error) {
	set := *c.Settings.(*search.Settings)
	refs, backends, missing := module.OpenInstances(set.Backend, c.Instances,
		func(h *catalog.Handle) client.Search {
			return client.NewSearchOf(h, c.Instances.Instance(h.Ref()), s.deps.Observe)
		},
		func(ref string, err error) {
			s.deps.Logger.Warn("search backend skipped", "backend", ref, "error", err)
		})
	if len(refs) == 0 {
		return set, nil, missing
	}
	set.Backend = refs
	return set, backends, nil
}

// Prepare implements module.Service.
func (s *service) Prepare(c module.Configuration) (commit func(), err error) {
	set, backends, err := s.openBackends(c)
	if err != nil {
		return nil, err
	}
	return s.Service.Prepare(set, backends...)
}

// Pages implements module.Service.
func (s *service) Pages(at module.Address) (ui.Section, error) {
	return pages.Section(s.Service, at.Path, at.URL)
}

// Start implements module.Starter: it watches for what alerts are about.
func (s *service) Start(ctx context.Context) error { return s.Alert(ctx, s.deps.Notify) }

// IsIndexed implements module.Indexer. While there is no access token, nobody has searched yet.
func (s *service) IsIndexed(ctx context.Context) bool {
	if has, err := s.HasTokens(ctx); err != nil || has {
		return true
	}
	for _, index := range s.Indexes(ctx) {
		for _, source := range index.Sources {
			if !source.Site && source.State == "running" {
				return false
			}
		}
	}
	return true
}

// FirstSteps implements module.Guide: it tells how to make the first access token and use it.
func (s *service) FirstSteps(ctx context.Context, run module.Invocation) (string, error) {
	if has, err := s.HasTokens(ctx); err != nil || has {
		return "", err
	}
	return fmt.Sprintf(`
Create an access token and search, in another terminal:

    TOKEN=$(%s token create -config %s -note first)
    curl -s %s/api/proxy/search -H "Authorization: Bearer $TOKEN" \
         -H 'Content-Type: application/json' -d '{"query":"how do plugins restart"}'

`, run.Program, run.Config, run.URL), nil
}
