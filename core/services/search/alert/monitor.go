// Package alert watches the keys and backends of the search service, and tells when something is wrong with them and when it is over.
package alert

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/services/search/proxy"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Settings is the alerts block.
type Settings struct {
	ErrorShare    float64       `patchbay:"error_share,default=0.5" doc:"Share of failed calls of a backend that raises an alert, above 0 to 1."`
	ErrorRequests int           `patchbay:"error_requests,default=20" doc:"Least calls for an alert."`
	ErrorWindow   time.Duration `patchbay:"error_window,default=5m" doc:"The window, 10s to 24h."`
	Repeat        time.Duration `patchbay:"repeat,default=1h" doc:"Time between two alerts about the same thing."`
}

// DefaultAlertSettings returns the settings without an alerts block.
func DefaultAlertSettings() Settings {
	return Settings{ErrorShare: 0.5, ErrorRequests: 20, ErrorWindow: 5 * time.Minute, Repeat: time.Hour}
}

// Check finds what the types of the settings cannot express.
func (a Settings) Check() (out schema.Diagnostics) {
	for _, c := range []struct {
		name, must string
		bad        bool
	}{
		{"error_share", "be above 0 and at most 1", a.ErrorShare <= 0 || a.ErrorShare > 1},
		{"error_requests", "be at least 1", a.ErrorRequests < 1},
		{"error_window", "be from 10s to 24h", a.ErrorWindow < 10*time.Second || a.ErrorWindow > 24*time.Hour},
		{"repeat", "be at least 1m", a.Repeat < time.Minute},
	} {
		if c.bad {
			out = append(out, schema.Errorf(schema.At("alerts").Attr(c.name), "must %s", c.must)...)
		}
	}
	return out
}

// Alerter is where the service's alerts go.
type Alerter interface {
	// Raise tells the channels of something that lasts, not again before repeat has passed.
	Raise(ctx context.Context, a notify.Alert, repeat time.Duration, channels []string) (told bool, err error)
	// Resolve tells them that it is over.
	Resolve(ctx context.Context, a notify.Alert, channels []string) (told bool, err error)
	// Active returns the dedup keys of what lasts.
	Active(ctx context.Context, service string) (keys []string, err error)
	// Locale returns the language of those who are told.
	Locale() string
}

const (
	service = "search"
	// alertEvery is the pause between two checks.
	alertEvery = 5 * time.Second
	// CalmFor is how long a pool must have had usable keys before the alert is over: keys come and go within minutes.
	CalmFor = 5 * time.Minute
	// alertTimeout bounds one check.
	alertTimeout = 30 * time.Second
)

// alertBackends tells about the backends of the service.
type alertBackends interface {
	// Chain returns the backends in use, in the order in which they are tried.
	Chain() []proxy.Backend
	// SumCalls returns the calls to a backend that ended within length before now, and how many of them failed.
	SumCalls(ref string, now time.Time, length time.Duration) (calls, failed int)
}

// alertPool tells about the upstream keys.
type alertPool interface {
	// HasUsable reports whether a backend has a usable key.
	HasUsable(group string) bool
}

// AlertConfig is what a monitor needs.
type AlertConfig struct {
	Store *store.Store
	// Cluster is this core among those of the database; nil for a core alone.
	Cluster  *cluster.Cluster
	Backends alertBackends
	Pool     alertPool
	// Settings returns the settings in use, and the channels that get the alerts.
	Settings func() (set Settings, channels []string)
	Logger   hclog.Logger
	Now      func() time.Time
}

// Monitor watches keys and backends, and tells when something is wrong with them and when it is over.
type Monitor struct {
	cfg AlertConfig
	// to is set once. It is not under mu: who has a transaction must not wait for a check, which waits for transactions.
	to atomic.Pointer[Alerter]

	mu sync.Mutex
	// told is when each alert that lasts was last told; calm is since when its cause is gone.
	told, calm map[string]time.Time
	stop       context.CancelFunc
	done       sync.WaitGroup
}

// NewMonitor makes a monitor that sends nothing before SendTo.
func NewMonitor(cfg AlertConfig) *Monitor {
	return &Monitor{cfg: cfg, told: map[string]time.Time{}, calm: map[string]time.Time{}}
}

// SendTo sends the alerts of the service from now on. It is called at most once, before Close.
func (m *Monitor) SendTo(ctx context.Context, to Alerter) error {
	if err := m.loadLasting(ctx, to); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.to.Store(&to)
	ctx, m.stop = context.WithCancel(context.Background())
	if !m.cfg.Cluster.Shared() {
		m.done.Go(func() { m.run(ctx) })
		return nil
	}
	m.done.Go(func() { m.reportCalls(ctx) })
	m.done.Go(func() {
		m.cfg.Cluster.Lead(ctx, roleAlerts, func(ctx context.Context) error {
			if err := m.loadLasting(ctx, to); err != nil {
				return err
			}
			m.run(ctx)
			return nil
		})
	})
	return nil
}

// loadLasting reads which alerts last.
func (m *Monitor) loadLasting(ctx context.Context, to Alerter) error {
	lasting, err := to.Active(ctx, service)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.told)
	clear(m.calm)
	for _, key := range lasting {
		if !strings.HasPrefix(key, keyInvalid.Name+"/") {
			// When it was told is known to the store: the first check asks it.
			m.told[key] = time.Time{}
		}
	}
	return nil
}

// loadAlerter returns where alerts go, or nil before Alert.
func (m *Monitor) loadAlerter() Alerter {
	if to := m.to.Load(); to != nil {
		return *to
	}
	return nil
}

// Close ends the checks.
func (m *Monitor) Close() {
	m.mu.Lock()
	stop := m.stop
	m.mu.Unlock()
	if stop != nil {
		stop()
	}
	m.done.Wait()
}

func (m *Monitor) run(ctx context.Context) {
	tick := time.NewTicker(alertEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			m.CheckAll(ctx)
		}
	}
}

// CheckAll tells what has begun and what is over.
func (m *Monitor) CheckAll(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, alertTimeout)
	defer cancel()
	to := m.loadAlerter()
	if to == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	set, channels := m.cfg.Settings()
	round := checkRound{alerter: to, settings: set, channels: channels, locale: to.Locale(), seen: map[string]bool{}}
	for _, b := range m.cfg.Backends.Chain() {
		if b.NeedsKey {
			m.reportFinding(ctx, &round, m.checkPool(b, round.locale))
		}
		calls, failed, err := m.sumCalls(ctx, set, b.Ref)
		if err != nil {
			m.logFailure(ctx, err)
			return
		}
		m.reportFinding(ctx, &round, checkErrors(set, b, calls, failed, round.locale))
	}
	for key := range m.told {
		if name, ref, _ := strings.Cut(key, "/"); !round.seen[key] {
			good := poolEmpty.NewAlert(round.locale, "backend_removed", "Backend", ref)
			good.Kind = name
			m.reportFinding(ctx, &round, finding{key: key, over: true, good: good})
		}
	}
}

// checkRound is one check of everything.
type checkRound struct {
	alerter  Alerter
	settings Settings
	channels []string
	locale   string
	// seen are the keys of the findings so far.
	seen map[string]bool
}

// finding is the state of one thing that alerts are about.
type finding struct {
	key string
	// bad reports whether it is as an alert wants it, over whether it is as it should be; neither leaves things as they are.
	bad, over bool
	// wait is how long it must be over.
	wait       time.Duration
	news, good notify.Alert
	about      map[string]any
}

// checkPool returns whether a backend has a usable key.
func (m *Monitor) checkPool(b proxy.Backend, locale string) finding {
	usable := m.cfg.Pool.HasUsable(b.KeyGroup)
	return finding{
		key: poolEmpty.Name + "/" + b.Ref, bad: !usable, over: usable, wait: CalmFor, about: map[string]any{"backend": b.Ref},
		news: poolEmpty.NewAlert(locale, poolEmpty.Name, "Backend", b.Ref), good: poolEmpty.NewAlert(locale, "pool_empty.over", "Backend", b.Ref),
	}
}

// checkErrors returns whether too many calls of a backend have failed.
func checkErrors(set Settings, b proxy.Backend, total, failed int, locale string) finding {
	much := total > 0 && float64(failed) >= set.ErrorShare*float64(total)
	args := []any{"Backend", b.Ref, "Calls", total, "Failed", failed, "Window", set.ErrorWindow}
	return finding{
		key: upstreamErrors.Name + "/" + b.Ref, bad: set.tooManyFailed(total, failed), over: total > 0 && !much,
		about: map[string]any{"backend": b.Ref, "calls": total, "failed": failed, "window_seconds": int64(set.ErrorWindow / time.Second)},
		news:  upstreamErrors.NewAlert(locale, upstreamErrors.Name, args...),
		good:  upstreamErrors.NewAlert(locale, "upstream_errors.over", args...),
	}
}

// reportFinding raises or resolves the alert of a finding. The caller holds the mutex.
func (m *Monitor) reportFinding(ctx context.Context, r *checkRound, f finding) {
	r.seen[f.key] = true
	now, repeat := m.cfg.Now(), r.settings.Repeat
	last, lasts := m.told[f.key]
	if !f.over {
		delete(m.calm, f.key)
	}
	switch {
	case f.bad && (!lasts || now.Sub(last) >= repeat):
		f.news.DedupKey, f.news.Time, f.news.Fields = f.key, now, f.about
		told, err := r.alerter.Raise(ctx, f.news, repeat, r.channels)
		if err != nil {
			m.logFailure(ctx, err)
			return
		}
		m.told[f.key] = now
		if told {
			m.cfg.Logger.Warn("alert", "kind", f.news.Kind, "about", f.news.Fields)
		}
	case f.over && lasts:
		since, known := m.calm[f.key]
		if !known {
			m.calm[f.key], since = now, now
		}
		if now.Sub(since) < f.wait {
			return
		}
		f.good.DedupKey, f.good.Time, f.good.Fields = f.key, now, f.about
		if _, err := r.alerter.Resolve(ctx, f.good, r.channels); err != nil {
			m.logFailure(ctx, err)
			return
		}
		delete(m.told, f.key)
		delete(m.calm, f.key)
		m.cfg.Logger.Info("alert resolved", "kind", f.good.Kind, "about", f.good.Fields)
	}
}

func (m *Monitor) logFailure(ctx context.Context, err error) {
	if ctx.Err() == nil {
		m.cfg.Logger.Error("cannot send an alert", "error", err)
	}
}

// ReportInvalidKey tells of a key that was found invalid, in the transaction of ctx.
func (m *Monitor) ReportInvalidKey(ctx context.Context, id, reason string) error {
	to := m.loadAlerter()
	if to == nil {
		return nil
	}
	set, channels := m.cfg.Settings()
	a := keyInvalid.NewAlert(to.Locale(), keyInvalid.Name, "Key", id)
	a.DedupKey, a.Time, a.Fields = a.Kind+"/"+id, m.cfg.Now(), map[string]any{"key_id": id, "reason": reason}
	_, err := to.Raise(ctx, a, set.Repeat, channels)
	return err
}
