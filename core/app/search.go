package app

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/services/search"
)

// openSearch makes the search service on the backend that the settings name.
func (a *App) openSearch(ctx context.Context) error {
	backend, err := a.searchBackend(a.set.search.Backend)
	if err != nil {
		return err
	}
	a.search, err = search.New(ctx, search.Config{
		Store: a.store, Keyring: a.keyring, Logger: a.log.Named("search"), Settings: *a.set.search, Search: backend,
		Metrics: search.NewMetrics(a.registry), PublicURL: a.set.core.PublicURL,
	})
	if err != nil {
		return err
	}
	a.closers = append(a.closers, a.search.Close)
	return nil
}

func (a *App) searchBackend(ref string) (client.Search, error) {
	h, err := a.catalog.Handle(ref)
	if err != nil {
		return nil, err
	}
	return client.NewSearch(h, a.metrics.observe), nil
}

// observe counts the calls to providers.
func (m *pluginMetrics) observe(ref, _ string, took, upstream time.Duration, err error) {
	s := m.of(ref)
	s.calls.Inc()
	s.hop.Observe(max(0, took-upstream).Seconds())
	if err != nil {
		s.failures.Inc()
	}
}

// callSeries are the metrics of one instance, looked up once.
type callSeries struct {
	calls, failures prometheus.Counter
	hop             prometheus.Observer
}
