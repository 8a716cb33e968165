package app

import (
	"context"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/metric"
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/queue"
)

// coreMetrics are the metrics of what all services share: requests, jobs and notifications. None has a label for a person, an
// address or a path.
type coreMetrics struct {
	requests      *prometheus.HistogramVec
	jobs          *prometheus.HistogramVec
	notifications *prometheus.CounterVec
	refusals      *prometheus.CounterVec
}

// newCoreMetrics registers the metrics with reg.
func newCoreMetrics(reg prometheus.Registerer) *coreMetrics {
	m := &coreMetrics{
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "patchbay_http_request_duration_seconds",
			Help:    "Time of requests by service and class of the status, such as 2xx. Streams of events are left out.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}, []string{"service", "status"}),
		jobs: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "patchbay_job_duration_seconds", Help: "Time of jobs that have ended, from their start, by type and final state.",
			Buckets: []float64{.01, .1, 1, 10, 60, 600, 3600},
		}, []string{"type", "state"}),
		notifications: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "patchbay_notifications_total", Help: "Deliveries of notifications that have ended, by channel and outcome.",
		}, []string{"channel", "outcome"}),
	}
	m.refusals = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "patchbay_http_refused_total", Help: "Requests and connections refused before authentication, and idle connections closed to make room, by reason.",
	}, []string{"reason"})
	for _, reason := range httpd.RefusalReasons() {
		m.refusals.WithLabelValues(reason)
	}
	reg.MustRegister(m.requests, m.jobs, m.notifications, m.refusals)
	return m
}

// watchQueue registers how many jobs of a queue have not ended, and how its tickets are doing.
func watchQueue(reg prometheus.Registerer, q *queue.Queue) {
	reg.MustRegister(metric.NewCounts("patchbay_jobs", "Jobs that have not ended, by state.", "state",
		func(ctx context.Context) (map[string]int64, error) {
			running, queued, err := q.CountOpen(ctx)
			return map[string]int64{string(queue.Running): running, string(queue.Queued): queued}, err
		}))
	reg.MustRegister(metric.NewCounts("patchbay_job_tickets",
		"Tickets of jobs that are due and wait for a core, by whether their type has a limit. Always 0 with SQLite.", "limited",
		func(ctx context.Context) (map[string]int64, error) {
			open, limited, err := queue.CountTickets(ctx, q)
			return map[string]int64{"no": open, "yes": limited}, err
		}), prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "patchbay_job_tickets_void_total",
		Help: "Tickets that this core took and whose jobs had begun by another one, or that it took after others had taken over from it.",
	}, func() float64 { return float64(queue.VoidTickets(q)) }))
}

// watchBodies registers how much the bodies of callers who are not known take.
func watchBodies(reg prometheus.Registerer, bodies *httpd.BodyBudget) {
	reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "patchbay_http_unauthenticated_body_bytes", Help: "Memory of request bodies whose caller is not known yet.",
	}, func() float64 { return float64(bodies.Used()) }))
}

func (m *coreMetrics) countRefusal(reason string) { m.refusals.WithLabelValues(reason).Inc() }

func (m *coreMetrics) observeRequest(service string, status int, took time.Duration) {
	m.requests.WithLabelValues(service, strconv.Itoa(status/100)+"xx").Observe(took.Seconds())
}

func (m *coreMetrics) observeJob(j queue.Job) {
	took := 0.0
	if !j.StartedAt.IsZero() {
		took = j.FinishedAt.Sub(j.StartedAt).Seconds()
	}
	m.jobs.WithLabelValues(j.Type, string(j.State)).Observe(took)
}

func (m *coreMetrics) observeDelivery(channel string, state notify.State) {
	m.notifications.WithLabelValues(channel, string(state)).Inc()
}
