package proxy

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/patchbay-dev/patchbay/core/metric"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/keys"
)

// Metrics are the Prometheus metrics of the service. None has a label for a token.
type Metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	upstream *prometheus.HistogramVec
	plugin   *prometheus.HistogramVec
	credits  *prometheus.CounterVec
	refusals *prometheus.CounterVec

	mu sync.RWMutex
	// keyStates counts the upstream keys; nil until the service is there.
	keyStates func() map[keys.KeyState]int
	series    map[seriesKey]series
}

type seriesKey struct {
	operation string
	status    int
}

// series are the children of one operation and status, looked up once.
type series struct {
	requests, credits          prometheus.Counter
	duration, upstream, plugin prometheus.Observer
}

// NewMetrics makes the metrics and registers them; a nil registerer leaves them unregistered.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	buckets := []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300}
	histogram := func(name, help string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, []string{"operation"})
	}
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "patchbay_search_requests_total",
			Help: "Admitted requests by operation and status."}, []string{"operation", "status"}),
		duration: histogram("patchbay_search_request_duration_seconds", "Time from admission to the answer."),
		upstream: histogram("patchbay_search_upstream_duration_seconds", "Time that the upstream took for the attempt that answered."),
		plugin:   histogram("patchbay_search_plugin_duration_seconds", "Time that the call to the provider took beyond the upstream's."),
		credits: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "patchbay_search_credits_total", Help: "Credits charged."},
			[]string{"operation"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "patchbay_search_refusals_total",
			Help: "Requests that a limit turned away."}, []string{"scope", "window"}),
		series: map[seriesKey]series{},
	}
	if reg != nil {
		reg.MustRegister(m.requests, m.duration, m.upstream, m.plugin, m.credits, m.refusals,
			metric.NewCounts("patchbay_search_keys", "Upstream keys by state.", "state", m.countKeys))
	}
	return m
}

func (m *Metrics) findSeries(operation string, status int) series {
	k := seriesKey{operation, status}
	m.mu.RLock()
	s, ok := m.series[k]
	m.mu.RUnlock()
	if ok {
		return s
	}
	s = series{
		requests: m.requests.WithLabelValues(operation, strconv.Itoa(status)), credits: m.credits.WithLabelValues(operation),
		duration: m.duration.WithLabelValues(operation), upstream: m.upstream.WithLabelValues(operation),
		plugin: m.plugin.WithLabelValues(operation),
	}
	m.mu.Lock()
	m.series[k] = s
	m.mu.Unlock()
	return s
}

func (m *Metrics) observeRequest(operation string, status int, took, upstream, plugin time.Duration, credits int64) {
	s := m.findSeries(operation, status)
	s.requests.Inc()
	s.credits.Add(float64(credits))
	s.duration.Observe(took.Seconds())
	s.upstream.Observe(upstream.Seconds())
	s.plugin.Observe(plugin.Seconds())
}

func (m *Metrics) countRefusal(x *access.Exceeded) {
	m.refusals.WithLabelValues(x.Scope, x.Window).Inc()
}

// WatchKeys counts upstream keys by states from now on.
func (m *Metrics) WatchKeys(states func() map[keys.KeyState]int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keyStates = states
}

// countKeys is the metric.Counter of the upstream keys.
func (m *Metrics) countKeys(context.Context) (map[string]int64, error) {
	m.mu.RLock()
	states := m.keyStates
	m.mu.RUnlock()
	out := map[string]int64{}
	if states == nil {
		return out, nil
	}
	for state, n := range states() {
		out[string(state)] = int64(n)
	}
	return out, nil
}
