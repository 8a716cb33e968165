package releases

import (
	"time"

	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/patchbay-dev/patchbay/core/metric"
	"github.com/patchbay-dev/patchbay/core/services/releases/translate"
)

// metrics are the Prometheus metrics of the service. None has a label for a user.
type metrics struct {
	calls, tokens *prometheus.CounterVec
}

// newMetrics makes the metrics and registers them; a nil registerer leaves them unregistered.
func newMetrics(reg prometheus.Registerer, countRepos metric.Counter) *metrics {
	m := &metrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "patchbay_releases_model_calls_total",
			Help: "Calls of language models by model and outcome."}, []string{"model", "outcome"}),
		tokens: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "patchbay_releases_model_tokens_total",
			Help: "Tokens that language models have read (input) and written (output)."}, []string{"model", "direction"}),
	}
	if reg != nil {
		reg.MustRegister(m.calls, m.tokens,
			metric.NewCounts("patchbay_releases_repositories",
				"Repositories in somebody's feed: all, due for a read, and failed at the last read.", "state",
				countRepos))
	}
	return m
}

func (m *metrics) observeCall(c translate.Call) {
	m.calls.WithLabelValues(c.Model, string(c.Outcome)).Inc()
	m.tokens.WithLabelValues(c.Model, "input").Add(float64(c.InputTokens))
	m.tokens.WithLabelValues(c.Model, "output").Add(float64(c.OutputTokens))
}

// countRepos is the metric.Counter of the repositories.
func (s *Service) countRepos(ctx context.Context) (map[string]int64, error) {
	n, err := s.repos.CountAll(ctx, s.cfg.Now())
	return map[string]int64{"all": n.Total, "due": n.Due, "failing": n.Failing}, err
}

// newTranslations makes what translates and counts its calls.
func (s *Service) newTranslations(counts *metrics) *translate.Translations {
	return translate.New(translate.Config{
		Store: s.cfg.Store, Queue: s.cfg.Queue, Logger: s.cfg.Logger, Compare: s.syncer.CompareDigest,
		// Jobs run by the clock of the queue.
		Now: time.Now, Cluster: s.cfg.Cluster, Noted: counts.observeCall,
		Settings: func() translate.Settings {
			st := s.state.Load()
			set := st.settings.Translation
			return translate.Settings{Translator: st.translator, DailyTokens: set.DailyTokens, DailyCostMicros: int64(set.DailyCost * 1e6),
				BatchTokens: set.BatchTokens}
		},
	})
}
