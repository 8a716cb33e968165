package pages

import (
	"math"
	"time"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
)

// requestChart shows how many requests succeeded, failed and were rate limited.
func requestChart(v *ui.View, c *audit.Chart) *ui.Chart {
	out := newChart(c, func(s audit.ChartSums) []float64 {
		return []float64{float64(s.Successes), float64(s.Errors), float64(s.Refused)}
	})
	out.Title, out.Unit, out.Format, out.Stacked = v.T("search.requests.title"), v.T("search.chart.unit"), ui.ChartCount, true
	out.Sentence = v.T("search.chart.requests", "Requests", v.Num(c.Total.Requests), "Errors", v.Num(c.Total.Errors), "Refused",
		v.Num(c.Total.Refused))
	out.Series = []ui.ChartSeries{{Label: v.T("search.successes"), Tone: "accent"}, {Label: v.T("search.errors"), Tone: "bad"},
		{Label: v.T("search.refused"), Tone: "warn"}}
	return out
}

// latencyChart shows how long requests took; quiet stretches have no value.
func latencyChart(v *ui.View, c *audit.Chart) *ui.Chart {
	out := newChart(c, func(s audit.ChartSums) []float64 {
		if s.Requests == 0 {
			return []float64{math.NaN(), math.NaN(), math.NaN()}
		}
		return []float64{s.P50MS, s.P95MS, s.P99MS}
	})
	out.Title, out.Unit, out.Format = v.T("search.latency"), "ms", ui.ChartMillis
	out.Sentence = v.T("search.chart.latency", "P50", millisText(v, c.Total.P50MS), "P95", millisText(v, c.Total.P95MS), "P99",
		millisText(v, c.Total.P99MS))
	out.Series = []ui.ChartSeries{{Label: "p50", Tone: "accent"}, {Label: "p95", Tone: "info"}, {Label: "p99", Tone: "warn"}}
	return out
}

func newChart(c *audit.Chart, values func(audit.ChartSums) []float64) *ui.Chart {
	out := &ui.Chart{Interval: time.Duration(c.StepSeconds) * time.Second, Points: make([]ui.ChartPoint, len(c.Points))}
	for i, p := range c.Points {
		out.Points[i] = ui.ChartPoint{At: p.Time.OrZero(), Values: values(p.ChartSums)}
	}
	return out
}
