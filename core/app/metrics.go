package app

import (
	"errors"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/host"
)

// pluginMetrics are the metrics of the plugin host and of the calls to providers.
type pluginMetrics struct {
	calls    *prometheus.CounterVec
	failures *prometheus.CounterVec
	hop      *prometheus.HistogramVec
	state    *prometheus.Desc
	restarts *prometheus.Desc
	statuses func() []host.Status
	// instances tells which instances of the configuration serve, and outcome how the last reload ended.
	instances func() map[string]bool
	outcome   *reloadOutcome
	serving   *prometheus.Desc
	reloaded  *prometheus.Desc
	history   *callStats
	// failed receives when a call has failed; see askHealthSoon.
	failed chan struct{}

	mu     sync.RWMutex
	series map[string]callSeries
	log    hclog.Logger
}

// newPluginMetrics registers the metrics with reg.
func newPluginMetrics(reg prometheus.Registerer, log hclog.Logger) *pluginMetrics {
	m := &pluginMetrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "patchbay_plugin_calls_total", Help: "Calls to an instance."},
			[]string{"ref"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "patchbay_plugin_call_failures_total",
			Help: "Calls to an instance that gave no answer."}, []string{"ref"}),
		hop: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "patchbay_plugin_hop_seconds", Help: "Time of a call to an instance beyond its upstream's.",
			Buckets: prometheus.ExponentialBuckets(.00005, 2, 14),
		}, []string{"ref"}),
		state: prometheus.NewDesc("patchbay_plugin_state", "1 for the state that a plugin process is in.",
			[]string{"plugin", "process", "state"}, nil),
		restarts: prometheus.NewDesc("patchbay_plugin_restarts_total", "Starts of a plugin process after its first.",
			[]string{"plugin", "process"}, nil),
		serving: prometheus.NewDesc("patchbay_plugin_instance_serving", "1 if a configured instance works, by its last health check.",
			[]string{"ref"}, nil),
		reloaded: prometheus.NewDesc("patchbay_config_last_reload_successful", "0 if the last reload of the configuration was rejected.", nil,
			nil),
		series: map[string]callSeries{}, history: newCallStats(), failed: make(chan struct{}, 1), log: log,
	}
	reg.MustRegister(m.calls, m.failures, m.hop, m)
	return m
}

// findSeries returns the metrics of an instance, and makes them at its first call.
func (m *pluginMetrics) findSeries(ref string) callSeries {
	m.mu.RLock()
	s, ok := m.series[ref]
	m.mu.RUnlock()
	if ok {
		return s
	}
	s = callSeries{calls: m.calls.WithLabelValues(ref), failures: m.failures.WithLabelValues(ref), hop: m.hop.WithLabelValues(ref)}
	m.mu.Lock()
	m.series[ref] = s
	m.mu.Unlock()
	return s
}

// Describe implements prometheus.Collector.
func (m *pluginMetrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- m.state
	ch <- m.restarts
	ch <- m.serving
	ch <- m.reloaded
}

// boolGauge returns a gauge of 1 or 0.
func boolGauge(desc *prometheus.Desc, on bool, labels ...string) prometheus.Metric {
	v := 0.0
	if on {
		v = 1
	}
	return prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, v, labels...)
}

// Collect implements prometheus.Collector.
func (m *pluginMetrics) Collect(ch chan<- prometheus.Metric) {
	if m.statuses == nil {
		return
	}
	for _, st := range m.statuses() {
		for _, s := range []host.State{host.Starting, host.Configuring, host.Ready, host.Degraded, host.Backoff, host.Failed} {
			ch <- boolGauge(m.state, st.State == s, st.Name, st.Key, string(s))
		}
		ch <- prometheus.MustNewConstMetric(m.restarts, prometheus.CounterValue, float64(st.Restarts), st.Name, st.Key)
	}
	for ref, serving := range m.instances() {
		ch <- boolGauge(m.serving, serving, ref)
	}
	ch <- boolGauge(m.reloaded, m.outcome.rejected() == nil)
}

// observeCall counts a call to an instance. It is a client.Observer.
func (m *pluginMetrics) observeCall(ref, operation string, took, upstream time.Duration, err error) {
	s := m.findSeries(ref)
	s.calls.Inc()
	m.history.addCall(ref, took, err != nil)
	s.hop.Observe(max(0, took-upstream).Seconds())
	if err != nil {
		s.failures.Inc()
		m.askHealthSoon()
		if fault.CodeOf(err) == fault.AnswerTooLarge {
			m.log.Warn("plugin response too large", "instance", ref, "operation", operation, "error", errors.Unwrap(err))
		}
	}
}

// callSeries are the metrics of one instance, looked up once.
type callSeries struct {
	calls, failures prometheus.Counter
	hop             prometheus.Observer
}
