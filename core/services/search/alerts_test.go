package search

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/alert"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// alerts is an Alerter that keeps what it is told, as a sender would.
type alerts struct {
	now    func() time.Time
	mu     sync.Mutex
	news   []string
	all    []notify.Alert
	told   map[string]time.Time
	err    error
	active []string
	locale string
}

func (a *alerts) Raise(_ context.Context, n notify.Alert, repeat time.Duration, channels []string) (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := errors.Join(a.err, checkWords(n)); err != nil {
		return false, err
	}
	if last, ok := a.told[n.DedupKey]; ok && a.now().Sub(last) < repeat {
		return false, nil
	}
	a.told[n.DedupKey] = a.now()
	a.news = append(a.news, fmt.Sprintf("%s %s", n.DedupKey, strings.Join(channels, ",")))
	a.all = append(a.all, n)
	return true, nil
}

func (a *alerts) Resolve(_ context.Context, n notify.Alert, _ []string) (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := errors.Join(a.err, checkWords(n)); err != nil {
		return false, err
	}
	delete(a.told, n.DedupKey)
	a.news = append(a.news, "over "+n.DedupKey)
	a.all = append(a.all, n)
	return true, nil
}

// checkWords returns an error if the texts of an alert are not there or lack the value of a parameter.
func checkWords(n notify.Alert) error {
	if words := n.Title + n.Text; n.Title == "" || n.Text == "" || strings.ContainsAny(words, "⟦{") {
		return fmt.Errorf("an alert says %q", words)
	}
	return nil
}

func (a *alerts) Locale() string { return a.locale }

func (a *alerts) Active(context.Context, string) ([]string, error) { return a.active, nil }

// take returns what was told since the last time.
func (a *alerts) take() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := a.news
	a.news = nil
	return out
}

func (e *env) alerts(active ...string) *alerts {
	e.Helper()
	a := &alerts{now: e.clock.Now, told: map[string]time.Time{}, active: active}
	if err := e.svc.Alert(context.Background(), a); err != nil {
		e.Fatal(err)
	}
	return a
}

func (e *env) look(a *alerts, want ...string) {
	e.Helper()
	e.svc.Monitor.CheckAll(context.Background())
	if diff := cmp.Diff(want, a.take()); diff != "" {
		e.Errorf("at %s (-want +got):\n%s", e.clock.Now(), diff)
	}
}

func notifies(e *env) { e.set.Notify = []string{"notify.ops"} }

func TestAlertOfAnEmptyPool(t *testing.T) {
	e := newEnv(t, withKeys, notifies)
	a := e.alerts()
	e.look(a, "pool_empty/search.web notify.ops")
	e.look(a)
	e.clock.Advance(59 * time.Minute)
	e.look(a)
	e.clock.Advance(time.Minute)
	e.look(a, "pool_empty/search.web notify.ops")
	e.addKeys("one")
	e.look(a)
	e.clock.Advance(4 * time.Minute)
	e.look(a)
	// It is empty again before it was calm: nothing is over, and nothing new.
	e.backend.invoke = answering(432, `{}`)
	id := idOf(e.token(nil))
	_, _ = e.call(e.svc, id, sdk.OpSearch, `{"query":"q"}`)
	e.clock.Advance(4 * time.Minute)
	e.look(a)
	e.addKeys("two")
	e.look(a)
	e.clock.Advance(5 * time.Minute)
	e.look(a, "over pool_empty/search.web")
	e.look(a)
}

func TestAlertOfManyErrors(t *testing.T) {
	e := newEnv(t, twoBackends, notifies)
	a := e.alerts()
	id := idOf(e.token(&access.Limits{RequestsHour: 1e6, CreditsHour: 1e6, CreditsDay: 1e6, CreditsMonth: 1e6, RequestsMinute: 0}))
	calls := func(n int, status int) {
		t.Helper()
		e.backend.invoke = answering(status, `{}`)
		if status == 0 {
			e.backend.invoke = failsWith(errDown)
		}
		for range n {
			_, _ = e.call(e.svc, id, sdk.OpSearch, `{"query":"q"}`)
		}
	}
	calls(19, 500)
	e.look(a)
	calls(1, 429)
	e.look(a, "upstream_errors/search.main notify.ops")
	calls(18, 200)
	e.look(a)
	calls(1, 404)
	e.look(a, "over upstream_errors/search.main")
	e.clock.Advance(5 * time.Minute)
	// A backend that is down counts, although another one answers; what the client does wrong does not.
	calls(10, 200)
	calls(10, 0)
	e.backend.invoke = failsWith(errCaller)
	for range 20 {
		_, _ = e.call(e.svc, id, sdk.OpSearch, `{"query":"q"}`)
	}
	e.look(a, "upstream_errors/search.main notify.ops")
	// No calls tell nothing.
	e.clock.Advance(30 * time.Minute)
	e.look(a)
	calls(1, 200)
	e.look(a, "over upstream_errors/search.main")
	calls(20, 500)
	e.look(a, "upstream_errors/search.main notify.ops")
	set := e.set
	set.Backend = []string{"search.spare"}
	if err := e.svc.Reload(set, e.more[0]); err != nil {
		t.Fatal(err)
	}
	e.look(a, "over upstream_errors/search.main")
}

func TestAlertOfAnInvalidKey(t *testing.T) {
	e := newEnv(t, withKeys, notifies)
	a := e.alerts()
	ids := e.addKeys("key-with-a-secret", "second")
	e.backend.invoke = func(_ context.Context, req *sdk.Request) (*sdk.Reply, error) {
		r := reply(401, `{}`)
		r.Key = sdk.KeyVerdict{State: sdk.KeyInvalid, Reason: "no such key: " + req.Credential.Reveal()}
		return r, nil
	}
	_, _ = e.call(e.svc, idOf(e.token(nil)), sdk.OpSearch, `{"query":"q"}`)
	var got []string
	testkit.Eventually(t, 5*time.Second, func() bool { got = append(got, a.take()...); return len(got) == 2 }, "both keys are told")
	for _, id := range ids {
		if !strings.Contains(strings.Join(got, "\n"), "key_invalid/"+id+" notify.ops") {
			t.Errorf("%s is missing in %v", id, got)
		}
	}
	for _, n := range a.all {
		if text := fmt.Sprintf("%+v", n); strings.Contains(text, "with-a-secret") || n.Fields["reason"] == "" {
			t.Errorf("told %s", text)
		}
	}
	if strings.Contains(e.logs.String(), "with-a-secret") {
		t.Error("the log holds the key")
	}
}

func TestAlertsAfterARestart(t *testing.T) {
	e := newEnv(t, withKeys, notifies)
	a := e.alerts("pool_empty/search.web", "upstream_errors/search.gone", "key_invalid/abc123")
	a.told["pool_empty/search.web"] = e.clock.Now().Add(-10 * time.Minute)
	a.err = errors.New("the database is away")
	e.look(a)
	a.err = nil
	e.look(a, "over upstream_errors/search.gone")
	e.addKeys("one")
	e.look(a)
	e.clock.Advance(alert.CalmFor)
	e.look(a, "over pool_empty/search.web")
}

func TestAlertSettings(t *testing.T) {
	for name, s := range map[string]alert.Settings{
		"share":    {ErrorShare: 2, ErrorRequests: 1, ErrorWindow: time.Minute, Repeat: time.Hour},
		"requests": {ErrorShare: 0.5, ErrorRequests: 0, ErrorWindow: time.Minute, Repeat: time.Hour},
		"window":   {ErrorShare: 0.5, ErrorRequests: 1, ErrorWindow: time.Second, Repeat: time.Hour},
		"repeat":   {ErrorShare: 0.5, ErrorRequests: 1, ErrorWindow: time.Minute, Repeat: 0},
	} {
		if d := (Settings{Retention: time.Hour, Backend: []string{"search.web"}, Alerts: &s}).Check(); !d.HasErrors() {
			t.Errorf("%s: nothing is found", name)
		}
	}
}

// waiting is an Alerter whose alerts of the pool wait for an alert of a key, as they would for its transaction.
type waiting struct {
	*alerts
	began, key chan struct{}
}

func (w *waiting) Raise(ctx context.Context, n notify.Alert, repeat time.Duration, channels []string) (bool, error) {
	if n.Kind == "key_invalid" {
		close(w.key)
		return true, nil
	}
	close(w.began)
	select {
	case <-w.key:
		return true, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

func TestLookAndInvalidKeyDoNotWaitForEachOther(t *testing.T) {
	e := newEnv(t, withKeys)
	w := &waiting{alerts: &alerts{now: e.clock.Now}, began: make(chan struct{}), key: make(chan struct{})}
	if err := e.svc.Alert(context.Background(), w); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	go e.svc.Monitor.CheckAll(ctx)
	<-w.began
	if err := e.svc.Monitor.ReportInvalidKey(ctx, "abc123", "status 401"); err != nil {
		t.Fatal(err)
	}
	if ctx.Err() != nil {
		t.Error("they waited for each other")
	}
}

func TestAlertsAreInTheReadersLanguage(t *testing.T) {
	e := newEnv(t, withKeys, notifies)
	a := e.alerts()
	a.locale = "zh"
	e.look(a, "pool_empty/search.web notify.ops")
	if got := a.all[0]; got.Title != "没有可用的上游密钥" || !strings.Contains(got.Text, "search.web") {
		t.Errorf("%+v", got)
	}
}
