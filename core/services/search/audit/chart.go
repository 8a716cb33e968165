package audit

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
)

// chartWindow is how a stretch of time is drawn: from which roll-ups, and in points of which width.
type chartWindow struct {
	length time.Duration
	step   int64
	width  int64
}

// ChartWindows returns the stretches that charts may show.
func ChartWindows() map[string]chartWindow {
	return map[string]chartWindow{
		"1h":  {time.Hour, StepFine, StepFine},
		"24h": {24 * time.Hour, StepFine, 1800},
		"30d": {30 * 24 * time.Hour, StepHour, 6 * StepHour},
	}
}

// Chart is what happened over a stretch of time, in points of equal width.
type Chart struct {
	Window      string           `json:"window" enum:"1h,24h,30d"`
	From        api.Time         `json:"from"`
	To          api.Time         `json:"to"`
	StepSeconds int64            `json:"step_seconds"`
	Total       ChartSums        `json:"total"`
	Points      []ChartPoint     `json:"points" doc:"The oldest first; quiet stretches are points of zeros."`
	Operations  []OperationShare `json:"operations" doc:"The same by operation, the most frequent first."`
}

// ChartSums add up requests.
type ChartSums struct {
	Requests  int64   `json:"requests" doc:"Requests that were let through."`
	Successes int64   `json:"successes"`
	Errors    int64   `json:"errors"`
	Refused   int64   `json:"refused" doc:"Requests that a limit has turned away."`
	Credits   int64   `json:"credits"`
	MeanMS    float64 `json:"mean_ms"`
	P50MS     float64 `json:"p50_ms"`
	P95MS     float64 `json:"p95_ms"`
	P99MS     float64 `json:"p99_ms"`
}

// ChartPoint is one point of a chart.
type ChartPoint struct {
	Time api.Time `json:"time" doc:"The beginning of the point." example:"2026-01-31T12:00:00.000Z"`
	ChartSums
}

// OperationShare is what one operation has in a chart.
type OperationShare struct {
	Operation string `json:"operation" example:"search"`
	ChartSums
}

func (t *RequestSums) chartSums() ChartSums {
	out := ChartSums{Requests: t.Requests, Successes: t.Successes, Errors: t.Errors, Refused: t.Refused, Credits: t.Credits}
	out.P50MS, out.P95MS, out.P99MS = roundToThousandths(t.quantile(0.5)), roundToThousandths(t.quantile(0.95)),
		roundToThousandths(t.quantile(0.99))
	if t.Requests > 0 {
		out.MeanMS = roundToThousandths(float64(t.DurationUS) / 1000 / float64(t.Requests))
	}
	return out
}

// roundToThousandths rounds to three digits after the point.
func roundToThousandths(x float64) float64 { return math.Round(x*1000) / 1000 }

// Chart draws all requests. The window must be 1h, 24h or 30d.
func (l *Log) Chart(ctx context.Context, window string) (*Chart, error) {
	return l.ReadChart(ctx, ScopeAll, "", window)
}

// TokenChart draws the requests of a token.
func (l *Log) TokenChart(ctx context.Context, id, window string) (*Chart, error) {
	return l.ReadChart(ctx, ScopeToken, id, window)
}

// KeyChart draws the requests with an upstream key.
func (l *Log) KeyChart(ctx context.Context, id, window string) (*Chart, error) {
	return l.ReadChart(ctx, ScopeKey, id, window)
}

// Totals returns the sums of all requests over the window of a chart, which is 1h, 24h or 30d.
func (l *Log) Totals(ctx context.Context, window string) (ChartSums, error) {
	w, from, before, err := l.chartRange(window)
	if err != nil {
		return ChartSums{}, err
	}
	rows, err := l.PointsOf(ctx, ScopeAll, "", w.step, before-from, from, before)
	if err != nil {
		return ChartSums{}, err
	}
	var total RequestSums
	for i := range rows {
		total.AddScaled(&rows[i].RequestSums, 1)
	}
	return total.chartSums(), nil
}

// chartRange returns how a window is drawn now, and the first moment of the chart and that after the last, in Unix seconds.
func (l *Log) chartRange(window string) (w chartWindow, from, before int64, err error) {
	w, ok := ChartWindows()[window]
	if !ok {
		return w, 0, 0, fault.InvalidField("window", "The window must be 1h, 24h or 30d.")
	}
	before = lastStart(l.now(), w.width) + w.width
	return w, before - int64(w.length/time.Second), before, nil
}

// ReadChart returns the chart of a subject's requests.
func (l *Log) ReadChart(ctx context.Context, scope, subject, window string) (*Chart, error) {
	w, from, before, err := l.chartRange(window)
	if err != nil {
		return nil, err
	}
	rows, err := l.PointsOf(ctx, scope, subject, w.step, w.width, from, before)
	if err != nil {
		return nil, err
	}
	points := make([]RequestSums, (before-from)/w.width)
	operations := map[string]*RequestSums{}
	var total RequestSums
	for i := range rows {
		r := &rows[i]
		points[(r.Start-from)/w.width].AddScaled(&r.RequestSums, 1)
		total.AddScaled(&r.RequestSums, 1)
		if operations[r.Operation] == nil {
			operations[r.Operation] = &RequestSums{}
		}
		operations[r.Operation].AddScaled(&r.RequestSums, 1)
	}
	out := &Chart{
		Window: window, From: unixTime(from), To: unixTime(before), StepSeconds: w.width, Total: total.chartSums(),
		Points: make([]ChartPoint, len(points)), Operations: []OperationShare{},
	}
	for i := range points {
		out.Points[i] = ChartPoint{unixTime(from + int64(i)*w.width), points[i].chartSums()}
	}
	for name, t := range operations {
		out.Operations = append(out.Operations, OperationShare{name, t.chartSums()})
	}
	slices.SortFunc(out.Operations, func(a, b OperationShare) int {
		return cmp.Or(cmp.Compare(b.Requests+b.Refused, a.Requests+a.Refused), cmp.Compare(a.Operation, b.Operation))
	})
	return out, nil
}

// PointsOf returns the roll-ups of a subject in points of width seconds, of which the first begins at from. An operation may have two for
// the same time: one of the rows that are stored, and one of those that are not yet.
func (l *Log) PointsOf(ctx context.Context, scope, subject string, step, width, from, before int64) ([]RollupPoint, error) {
	l.rollups.storing.Lock()
	defer l.rollups.storing.Unlock()
	points, err := l.Store.rollupPoints(ctx, scope, subject, step, width, from, before)
	if err != nil {
		return nil, err
	}
	l.rollups.forEachUnstored(func(k rollupKey) bool {
		return k.Scope == scope && k.Subject == subject && k.Step == step && k.Start >= from && k.Start < before
	}, func(k rollupKey, t *RequestSums) {
		points = append(points, RollupPoint{k.Start - (k.Start-from)%width, k.Operation, *t})
	})
	return points, nil
}

func unixTime(sec int64) api.Time { return api.TimeOf(time.Unix(sec, 0)) }
