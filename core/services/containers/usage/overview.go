// Package usage samples what the services use of the host, and tells it.
package usage

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/store"
)

// ResourceOverview is the newest sample of each service.
type ResourceOverview struct {
	Enabled           bool            `json:"enabled"`
	Window            string          `json:"window" enum:"3m"`
	GeneratedAt       api.Time        `json:"generatedAt"`
	StaleAfterSeconds int             `json:"staleAfterSeconds"`
	Services          []ResourceUsage `json:"services"`
}

// ResourceUsage is what a service uses.
type ResourceUsage struct {
	ServiceID     string   `json:"serviceId"`
	SampledAt     api.Time `json:"sampledAt"`
	CPUPercent    float64  `json:"cpuPercent"`
	MemUsedBytes  int64    `json:"memUsedBytes"`
	MemLimitBytes int64    `json:"memLimitBytes"`
	NetRxRate     float64  `json:"netRxRateBps" doc:"Bytes per second."`
	NetTxRate     float64  `json:"netTxRateBps" doc:"Bytes per second."`
	Stale         bool     `json:"stale"`
	SampleCount   int      `json:"sampleCount"`
}

const overviewSpan = 3 * time.Minute

// Overview reads what all services use.
func (u *Usage) Overview(ctx context.Context) (ResourceOverview, error) {
	set, err := u.cfg.Settings(ctx)
	out := ResourceOverview{
		Enabled: set.Enabled, Window: "3m", GeneratedAt: api.TimeOf(u.cfg.Now()), StaleAfterSeconds: max(30, 3*set.SampleInterval),
		Services: []ResourceUsage{},
	}
	if err != nil || !out.Enabled {
		return out, err
	}
	rows, err := u.store.recentSamples(ctx, u.cfg.Now().Add(-overviewSpan).UnixMilli())
	if err != nil {
		return out, fmt.Errorf("read the samples: %w", err)
	}
	slices.SortStableFunc(rows, func(a, b sampleRecord) int { return cmp.Compare(a.ServiceID, b.ServiceID) })
	for from := 0; from < len(rows); {
		to := from
		for to < len(rows) && rows[to].ServiceID == rows[from].ServiceID {
			to++
		}
		out.Services = append(out.Services, sumUsage(rows[from:to], store.Millis(u.cfg.Now()), out.StaleAfterSeconds))
		from = to
	}
	return out, nil
}

// sumUsage returns the usage of one service, from its samples.
func sumUsage(rows []sampleRecord, now int64, stale int) ResourceUsage {
	first, last := rows[0], rows[len(rows)-1]
	out := ResourceUsage{
		ServiceID: last.ServiceID, SampledAt: api.TimeOfMillis(last.At), CPUPercent: last.CPU, MemUsedBytes: last.MemUsed,
		MemLimitBytes: last.MemLimit,
		Stale:         now-last.At > int64(stale)*1000, SampleCount: len(rows),
	}
	if span := float64(last.At-first.At) / 1000; span > 0 {
		// A container that was replaced counts from zero again.
		out.NetRxRate, out.NetTxRate = max(0, float64(last.NetRx-first.NetRx)/span), max(0, float64(last.NetTx-first.NetTx)/span)
	}
	return out
}

// windows are the windows of the history, with the width of a point.
var windows = map[string]struct{ span, step time.Duration }{
	"3m": {3 * time.Minute, 0}, "1h": {time.Hour, 30 * time.Second}, "24h": {24 * time.Hour, 10 * time.Minute},
	"7d": {7 * 24 * time.Hour, time.Hour},
}

// ResourceHistory is the use of resources by a service in a window.
type ResourceHistory struct {
	ServiceID string   `json:"serviceId"`
	Window    string   `json:"window" enum:"3m,1h,24h,7d"`
	Samples   []Sample `json:"samples"`
}

// History reads the samples of a window. Long windows are thinned out: one sample stands for each step, with the
// mean of processor and memory.
func (u *Usage) History(ctx context.Context, id, window string) (ResourceHistory, error) {
	window = cmp.Or(window, "1h")
	out := ResourceHistory{ServiceID: id, Window: window, Samples: []Sample{}}
	w, ok := windows[window]
	if !ok {
		return out, fault.New(fault.InvalidArgument, "The window must be 3m, 1h, 24h or 7d.").With("field", "window")
	}
	if _, err := u.store.FindService(ctx, id); err != nil {
		return out, err
	}
	if err := u.requireMonitoring(ctx); err != nil {
		return out, err
	}
	rows, err := u.store.listSamples(ctx, id, u.cfg.Now().Add(-w.span).UnixMilli(), w.step.Milliseconds())
	if err != nil {
		return out, fmt.Errorf("read the samples: %w", err)
	}
	for i := range rows {
		out.Samples = append(out.Samples, rows[i].toSample())
	}
	return out, nil
}

// requireMonitoring returns a conflict if monitoring is off.
func (u *Usage) requireMonitoring(ctx context.Context) error {
	set, err := u.cfg.Settings(ctx)
	if err == nil && !set.Enabled {
		return fault.New(fault.Conflict, "Resource sampling is switched off in the settings.").With("reason", "resource_monitor_disabled")
	}
	return err
}

// deleteSlice is how many samples one transaction deletes at most.
const deleteSlice = 10_000

// DeleteOld deletes samples that are older than RetentionDays, up to a bound. It does not compact the database.
func (u *Usage) DeleteOld(ctx context.Context) error {
	before := u.cfg.Now().Add(-RetentionDays * 24 * time.Hour).UnixMilli()
	for range 10 {
		n, err := u.store.deleteSamples(ctx, before, deleteSlice)
		if err != nil {
			return fmt.Errorf("delete old samples: %w", err)
		}
		if n < deleteSlice || ctx.Err() != nil {
			return nil
		}
	}
	return nil
}
