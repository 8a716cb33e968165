package alert

import (
	"context"
	"fmt"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/store"
)

const (
	// roleAlerts is that of the core which sends alerts where several share the database.
	roleAlerts = "search.alerts"
	// reportFor is how long the calls count that a core has reported last.
	reportFor = 6 * alertEvery
)

// reportCalls tells the core that sends alerts of the calls of this one, until ctx ends.
func (m *Monitor) reportCalls(ctx context.Context) {
	for event.Sleep(ctx, alertEvery) == nil {
		if err := m.ReportCalls(ctx); err != nil {
			m.logFailure(ctx, err)
		}
	}
}

// ReportCalls stores the calls of this core to each backend, within the window of alerts.
func (m *Monitor) ReportCalls(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, alertTimeout)
	defer cancel()
	set, _ := m.cfg.Settings()
	st, clock := m.cfg.Store, store.ClockSQL(m.cfg.Store)
	err := st.Tx(ctx, "report calls of backends", func(ctx context.Context) error {
		w := st.Writer(ctx)
		if err := w.Exec("DELETE FROM search_backend_calls WHERE node = ? OR at < "+clock+" - ?", m.cfg.Cluster.ID(),
			reportFor.Milliseconds()).Error; err != nil {
			return err
		}
		for _, b := range m.cfg.Backends.Chain() {
			calls, failed := m.cfg.Backends.SumCalls(b.Ref, m.cfg.Now(), set.ErrorWindow)
			if calls == 0 {
				continue
			}
			if err := w.Exec("INSERT INTO search_backend_calls (node, backend, calls, failed, at) VALUES (?, ?, ?, ?, "+clock+
				") ON CONFLICT (node, backend) DO UPDATE SET calls = excluded.calls, failed = excluded.failed, at = excluded.at",
				m.cfg.Cluster.ID(), b.Ref, calls, failed).Error; err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("report calls of backends: %w", err)
	}
	return nil
}

// sumCalls returns the calls to a backend within the window of alerts, by all cores, and how many of them failed.
func (m *Monitor) sumCalls(ctx context.Context, set Settings, ref string) (calls, failed int, err error) {
	calls, failed = m.cfg.Backends.SumCalls(ref, m.cfg.Now(), set.ErrorWindow)
	if !m.cfg.Cluster.Shared() {
		return calls, failed, nil
	}
	var others struct{ Calls, Failed int }
	err = m.cfg.Store.DB(ctx).Raw(`SELECT COALESCE(SUM(calls), 0)::bigint AS calls, COALESCE(SUM(failed), 0)::bigint AS failed
		FROM search_backend_calls WHERE backend = ? AND node <> ? AND at >= `+store.ClockSQL(m.cfg.Store)+` - ?`, ref, m.cfg.Cluster.ID(),
		reportFor.Milliseconds()).Scan(&others).Error
	if err != nil {
		return 0, 0, fmt.Errorf("read the calls of other cores: %w", err)
	}
	return calls + others.Calls, failed + others.Failed, nil
}
