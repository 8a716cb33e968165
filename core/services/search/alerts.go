package search

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/patchbay-dev/patchbay/core/notify"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// AlertSettings is the alerts block.
type AlertSettings struct {
	ErrorShare    float64       `patchbay:"error_share,default=0.5" doc:"Share of a backend's calls, above 0 to 1, that must fail for an alert."`
	ErrorRequests int           `patchbay:"error_requests,default=20" doc:"How many calls there must be at least."`
	ErrorWindow   time.Duration `patchbay:"error_window,default=5m" doc:"The time that is looked at, 10s to 24h."`
	Repeat        time.Duration `patchbay:"repeat,default=1h" doc:"How long the same is not told again while it lasts."`
}

func (s Settings) alertSettings() AlertSettings {
	if s.Alerts == nil {
		return AlertSettings{ErrorShare: 0.5, ErrorRequests: 20, ErrorWindow: 5 * time.Minute, Repeat: time.Hour}
	}
	return *s.Alerts
}

func (a AlertSettings) check() (out schema.Diagnostics) {
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

// Kinds of alerts.
const (
	alertPoolEmpty      = "pool_empty"
	alertUpstreamErrors = "upstream_errors"
	alertKeyInvalid     = "key_invalid"
)

const (
	service = "search"
	// alertEvery is the pause between two checks.
	alertEvery = 5 * time.Second
	// calmFor is how long a pool must have had usable keys before the alert is over: keys come and go within minutes.
	calmFor = 5 * time.Minute
	// alertTimeout bounds one check.
	alertTimeout = 30 * time.Second
)

// monitor watches keys and backends, and tells when something is wrong with them and when it is over.
type monitor struct {
	service *Service
	calls   failures
	// to is set once. It is not under mu: who has a transaction must not wait for a check, which waits for transactions.
	to atomic.Pointer[Alerter]

	mu sync.Mutex
	// told is when each alert that lasts was last told; calm is since when its cause is gone.
	told, calm map[string]time.Time
	stop       context.CancelFunc
	done       sync.WaitGroup
}

func newMonitor(s *Service) *monitor {
	return &monitor{service: s, told: map[string]time.Time{}, calm: map[string]time.Time{}}
}

// Alert has the service send its alerts from now on. It is called at most once, before Close.
func (s *Service) Alert(ctx context.Context, to Alerter) error {
	lasting, err := to.Active(ctx, service)
	if err != nil {
		return err
	}
	m := s.monitor
	m.mu.Lock()
	defer m.mu.Unlock()
	m.to.Store(&to)
	for _, key := range lasting {
		if !strings.HasPrefix(key, alertKeyInvalid+"/") {
			// When it was told is known to the store: the first check asks it.
			m.told[key] = time.Time{}
		}
	}
	ctx, m.stop = context.WithCancel(context.Background())
	m.done.Go(func() { m.run(ctx) })
	return nil
}

// loadAlerter returns where alerts go, or nil before Alert.
func (m *monitor) loadAlerter() Alerter {
	if to := m.to.Load(); to != nil {
		return *to
	}
	return nil
}

func (m *monitor) close() {
	m.mu.Lock()
	stop := m.stop
	m.mu.Unlock()
	if stop != nil {
		stop()
	}
	m.done.Wait()
}

func (m *monitor) run(ctx context.Context) {
	tick := time.NewTicker(alertEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			m.checkAll(ctx)
		}
	}
}

// checkAll tells what has begun and what is over.
func (m *monitor) checkAll(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, alertTimeout)
	defer cancel()
	to := m.loadAlerter()
	if to == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	st, locale := m.service.state.Load(), to.Locale()
	seen := map[string]bool{}
	for _, l := range st.chain {
		if l.credential {
			m.reportFinding(ctx, to, st, m.checkPool(l, locale), seen)
		}
		m.reportFinding(ctx, to, st, m.checkErrors(st, l, locale), seen)
	}
	for key := range m.told {
		if kind, ref, _ := strings.Cut(key, "/"); !seen[key] {
			m.reportFinding(ctx, to, st, finding{key: key, over: true, good: writeAlert(locale, alertBackendRemoved, notify.Alert{Kind: kind}, ref)}, seen)
		}
	}
}

// finding is the state of one thing that alerts are about.
type finding struct {
	key string
	// bad reports whether it is as an alert wants it, over whether it is as it should be; neither leaves things as they are.
	bad, over bool
	// wait is how long it must be over.
	wait       time.Duration
	news, good notify.Alert
}

// checkPool returns whether a backend has a usable key.
func (m *monitor) checkPool(l *link, locale string) finding {
	usable := m.service.pool.hasUsable(l.keyGroup())
	about := map[string]any{"backend": l.ref}
	return finding{
		key: alertPoolEmpty + "/" + l.ref, bad: !usable, over: usable, wait: calmFor,
		news: writeAlert(locale, alertPoolEmpty, notify.Alert{Kind: alertPoolEmpty, Severity: sdk.Error, Fields: about}, l.ref),
		good: writeAlert(locale, alertPoolUsable, notify.Alert{Kind: alertPoolEmpty, Fields: about}, l.ref),
	}
}

// checkErrors returns whether too many calls of a backend have failed.
func (m *monitor) checkErrors(st *state, l *link, locale string) finding {
	set := st.settings.alertSettings()
	total, failed := m.calls.sumCalls(l.ref, m.service.cfg.Now(), set.ErrorWindow)
	much := total > 0 && float64(failed) >= set.ErrorShare*float64(total)
	about := map[string]any{"backend": l.ref, "calls": total, "failed": failed, "window_seconds": int64(set.ErrorWindow / time.Second)}
	return finding{
		key: alertUpstreamErrors + "/" + l.ref, bad: set.tooManyFailed(total, failed), over: total > 0 && !much,
		news: writeAlert(locale, alertUpstreamErrors, notify.Alert{Kind: alertUpstreamErrors, Severity: sdk.Error, Fields: about}, l.ref, total, failed, set.ErrorWindow),
		good: writeAlert(locale, alertUpstreamWorks, notify.Alert{Kind: alertUpstreamErrors, Fields: about}, l.ref, total, failed, set.ErrorWindow),
	}
}

// reportFinding raises or resolves the alert of a finding. The caller holds the mutex.
func (m *monitor) reportFinding(ctx context.Context, to Alerter, st *state, f finding, seen map[string]bool) {
	seen[f.key] = true
	now, repeat := m.service.cfg.Now(), st.settings.alertSettings().Repeat
	last, lasts := m.told[f.key]
	if !f.over {
		delete(m.calm, f.key)
	}
	switch {
	case f.bad && (!lasts || now.Sub(last) >= repeat):
		f.news.Service, f.news.DedupKey, f.news.Time = service, f.key, now
		told, err := to.Raise(ctx, f.news, repeat, st.settings.Notify)
		if err != nil {
			m.logFailure(ctx, err)
			return
		}
		m.told[f.key] = now
		if told {
			m.service.cfg.Logger.Warn("alert", "kind", f.news.Kind, "about", f.news.Fields)
		}
	case f.over && lasts:
		since, known := m.calm[f.key]
		if !known {
			m.calm[f.key], since = now, now
		}
		if now.Sub(since) < f.wait {
			return
		}
		f.good.Service, f.good.DedupKey, f.good.Time, f.good.Severity = service, f.key, now, sdk.Success
		if _, err := to.Resolve(ctx, f.good, st.settings.Notify); err != nil {
			m.logFailure(ctx, err)
			return
		}
		delete(m.told, f.key)
		delete(m.calm, f.key)
		m.service.cfg.Logger.Info("an alert is over", "kind", f.good.Kind, "about", f.good.Fields)
	}
}

func (m *monitor) logFailure(ctx context.Context, err error) {
	if ctx.Err() == nil {
		m.service.cfg.Logger.Error("an alert cannot be sent", "error", err)
	}
}

// reportInvalidKey tells of a key that was found invalid, in the transaction of ctx.
func (m *monitor) reportInvalidKey(ctx context.Context, id, reason string) error {
	to := m.loadAlerter()
	if to == nil {
		return nil
	}
	set := m.service.state.Load().settings
	_, err := to.Raise(ctx, writeAlert(to.Locale(), alertKeyInvalid, notify.Alert{
		Kind: alertKeyInvalid, Severity: sdk.Warning, Service: service, DedupKey: alertKeyInvalid + "/" + id, Time: m.service.cfg.Now(),
		Fields: map[string]any{"key_id": id, "reason": reason},
	}, id), set.alertSettings().Repeat, set.Notify)
	return err
}
