// Package metric holds the kinds of Prometheus metrics that the core and its services share.
package metric

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// countTimeout bounds the counting for one scrape.
const countTimeout = 5 * time.Second

// Counter returns how many there are of something, by the values of a label.
type Counter func(ctx context.Context) (map[string]int64, error)

// counts is the collector that NewCounts returns.
type counts struct {
	desc  *prometheus.Desc
	count Counter
}

// NewCounts returns the gauge of how many there are of something, which is counted at each scrape, within 5 s. What cannot be counted
// is left out of the scrape.
func NewCounts(name, help, label string, count Counter) prometheus.Collector {
	return &counts{prometheus.NewDesc(name, help, []string{label}, nil), count}
}

// Describe implements prometheus.Collector.
func (c *counts) Describe(out chan<- *prometheus.Desc) { out <- c.desc }

// Collect implements prometheus.Collector.
func (c *counts) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), countTimeout)
	defer cancel()
	found, err := c.count(ctx)
	if err != nil {
		return
	}
	for value, n := range found {
		out <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, float64(n), value)
	}
}
