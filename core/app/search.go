package app

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/services/search"
)

// openSearch makes the search service on the backends that the settings name.
func (a *App) openSearch(ctx context.Context) error {
	set, backends, err := a.searchChain(*a.set.Search, a.catalog)
	if err != nil {
		return err
	}
	a.search, err = search.New(ctx, search.Config{
		Store: a.store, Keyring: a.keyring, Logger: a.log.Named("search"), Settings: set, Backends: backends,
		Metrics: search.NewMetrics(a.registry), PublicURL: a.set.Core.PublicURL, Version: a.cfg.Version, People: a.users, Sessions: a.users,
	})
	if err != nil {
		return err
	}
	a.closers = append(a.closers, a.search.Close)
	return nil
}

// instances finds instances by their reference: the catalog those that run, a change those of the next set.
type instances interface {
	Handle(ref string) (*catalog.Handle, error)
	Instance(ref string) *catalog.Instance
}

// searchChain finds the backends that the settings name. An instance that is not required and does not run is left out,
// as long as there is another one; the settings that are returned name those that are left.
func (a *App) searchChain(set search.Settings, from instances) (search.Settings, []client.Search, error) {
	var refs []string
	var backends []client.Search
	var missing error
	for _, ref := range set.Backend {
		h, err := from.Handle(ref)
		if err != nil {
			a.log.Warn("a search backend is left out of the chain", "backend", ref, "error", err)
			missing = errors.Join(missing, err)
			continue
		}
		refs, backends = append(refs, ref), append(backends, client.NewSearchOf(h, from.Instance(ref), a.metrics.observe))
	}
	if len(refs) == 0 {
		return set, nil, missing
	}
	set.Backend = refs
	return set, backends, nil
}

// observe counts the calls to providers.
func (m *pluginMetrics) observe(ref, operation string, took, upstream time.Duration, err error) {
	s := m.of(ref)
	s.calls.Inc()
	m.history.add(ref, took, err != nil)
	s.hop.Observe(max(0, took-upstream).Seconds())
	if err != nil {
		s.failures.Inc()
		if fault.CodeOf(err) == fault.AnswerTooLarge {
			m.log.Warn("the answer to a call is too large", "instance", ref, "operation", operation, "error", errors.Unwrap(err))
		}
	}
}

// callSeries are the metrics of one instance, looked up once.
type callSeries struct {
	calls, failures prometheus.Counter
	hop             prometheus.Observer
}
