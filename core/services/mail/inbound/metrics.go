package inbound

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the Prometheus metrics of arriving mail. None has a label for an address.
type Metrics struct {
	accepted *prometheus.CounterVec
	refused  *prometheus.CounterVec
	bytes    *prometheus.CounterVec
	durable  prometheus.Histogram
	open     prometheus.Gauge
}

// NewMetrics makes the metrics and registers them; a nil registerer leaves them unregistered.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		accepted: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "patchbay_mail_accepted_total",
			Help: "Messages stored, one for each recipient, by how they arrived."}, []string{"via"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "patchbay_mail_refused_total",
			Help: "Recipients, messages and connections turned away, by the reason."}, []string{"reason"}),
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "patchbay_mail_received_bytes_total",
			Help: "Raw bytes of stored messages, by how they arrived."}, []string{"via"}),
		durable: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "patchbay_mail_durable_seconds",
			Help:    "Time from the end of a message to its being durable.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}}),
		open: prometheus.NewGauge(prometheus.GaugeOpts{Name: "patchbay_mail_smtp_connections", Help: "SMTP connections that are open."}),
	}
	if reg != nil {
		reg.MustRegister(m.accepted, m.refused, m.bytes, m.durable, m.open)
	}
	return m
}

// observeStored counts a message that was stored for n recipients.
func (m *Metrics) observeStored(via string, n int, size int64, took time.Duration) {
	m.accepted.WithLabelValues(via).Add(float64(n))
	m.bytes.WithLabelValues(via).Add(float64(size))
	m.durable.Observe(took.Seconds())
}

// The reasons of refusals.
const (
	refusedUnknown     = "unknown_recipient"
	refusedSize        = "too_large"
	refusedLineEnds    = "bare_line_ends"
	refusedLineLength  = "line_length"
	refusedRate        = "rate"
	refusedConnections = "connections"
	refusedSignature   = "signature"
	refusedIdle        = "idle_commands"
	refusedTemporary   = "temporary"
	refusedIncomplete  = "incomplete"
)

// countRefusal counts what was turned away.
func (m *Metrics) countRefusal(reason string) { m.refused.WithLabelValues(reason).Inc() }
