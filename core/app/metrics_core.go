package app

import (
	"context"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

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
}

// newCoreMetrics registers the metrics with reg.
func newCoreMetrics(reg prometheus.Registerer) *coreMetrics {
	m := &coreMetrics{
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "patchbay_http_request_duration_seconds", Help: "Time of requests by service and class of the status, such as 2xx. Streams of events are left out.",
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
	reg.MustRegister(m.requests, m.jobs, m.notifications)
	return m
}

// watchQueue registers how many jobs of a queue have not ended.
func watchQueue(reg prometheus.Registerer, q *queue.Queue) {
	reg.MustRegister(metric.NewCounts("patchbay_jobs", "Jobs that have not ended, by state.", "state", func(ctx context.Context) (map[string]int64, error) {
		running, queued, err := q.CountOpen(ctx)
		return map[string]int64{string(queue.Running): running, string(queue.Queued): queued}, err
	}))
}

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
