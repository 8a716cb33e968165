package search

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/api"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
	"github.com/patchbay-dev/patchbay/core/services/search/internal/searchtest"
	"github.com/patchbay-dev/patchbay/core/services/search/proxy"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

const url = "/search/api/proxy/"

func TestWhoIsLetIn(t *testing.T) {
	e := newEnv(t)
	good, other := e.token(nil), e.token(nil)
	unknown := good[:8] + strings.Repeat("x", 24)
	body := func(token string) string { return `{"query":"a","api_key":"` + token + `"}` }
	tests := []struct {
		name, body string
		header     []string
		status     int
	}{
		{"header", `{"query":"a"}`, []string{"Authorization", "Bearer " + good}, 200},
		{"header in another case", `{"query":"a"}`, []string{"Authorization", "bearer  " + good}, 200},
		{"body", body(good), nil, 200},
		{"both", body(other), []string{"Authorization", "Bearer " + good}, 200},
		{"header wins over a bad body token", body(unknown), []string{"Authorization", "Bearer " + good}, 200},
		{"bad header beside a good body token", body(good), []string{"Authorization", "Bearer " + unknown}, 401},
		{"empty header beside a good body token", body(good), []string{"Authorization", "Bearer "}, 401},
		{"other scheme", `{"query":"a"}`, []string{"Authorization", "Basic " + good}, 401},
		{"other scheme beside a body token", body(good), []string{"Authorization", "Basic abc"}, 200},
		{"two headers", `{"query":"a"}`, []string{"Authorization", "Bearer " + good, "Authorization", "Bearer " + good}, 401},
		{"none", `{"query":"a"}`, nil, 401},
		{"unknown", `{"query":"a"}`, []string{"Authorization", "Bearer " + searchtest.SomeToken}, 401},
		{"wrong secret", `{"query":"a"}`, []string{"Authorization", "Bearer " + unknown}, 401},
		{"short", `{"query":"a"}`, []string{"Authorization", "Bearer th-1"}, 401},
		{"query parameter", `{"query":"a"}`, []string{"X-Api-Key", good}, 401},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := len(e.backend.seen())
			g := e.send(http.MethodPost, url+"search", tt.body, tt.header...)
			if g.status != tt.status {
				t.Fatalf("%d %s", g.status, g.body)
			}
			calls := e.backend.seen()[before:]
			if tt.status == 200 {
				if len(calls) != 1 || string(calls[0].Body) != `{"query":"a"}` {
					t.Errorf("went up: %+v", calls)
				}
				return
			}
			detail, _ := g.json["detail"].(map[string]any)
			if g.json["code"] != "unauthorized" || g.json["error"] != "unauthorized" || detail["error"] != g.json["message"] || len(calls) != 0 ||
				strings.Contains(g.body, "th-") {
				t.Errorf("%s", g.body)
			}
		})
	}
	if g := e.send(http.MethodGet, url+"usage", body(good)); g.status != 401 {
		t.Errorf("GET takes no token from a body: %d", g.status)
	}
}

func TestRefusals(t *testing.T) {
	tests := []struct {
		scope, window string
		limits        access.Limits
		op, body      string
		admitted      int
		limit, used   int
		reset         time.Time
		needed        int
	}{
		{"requests", "hour", access.Limits{RequestsHour: 2, CreditsHour: 100, CreditsDay: 100, CreditsMonth: 100, RequestsMinute: 0}, "search",
			`{"query":"a"}`, 2, 2, 2, searchtest.Noon.Truncate(time.Minute).Add(time.Hour), 0},
		{"credits", "hour", access.Limits{RequestsHour: 100, CreditsHour: 7, CreditsDay: 100, CreditsMonth: 100, RequestsMinute: 0}, "crawl",
			`{"url":"a"}`, 2, 7, 6, searchtest.Noon.Truncate(time.Minute).Add(time.Hour), 3},
		{"credits", "day", access.Limits{RequestsHour: 100, CreditsHour: 100, CreditsDay: 5, CreditsMonth: 100, RequestsMinute: 0}, "map",
			`{"url":"a"}`, 2, 5, 4, time.Date(2026, 3, 16, 0, 0, 0, 0, time.UTC), 2},
		{"credits", "month", access.Limits{RequestsHour: 100, CreditsHour: 100, CreditsDay: 100, CreditsMonth: 4, RequestsMinute: 0}, "map",
			`{"url":"a"}`, 2, 4, 4, time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC), 0},
		{"requests", "minute", access.Limits{RequestsHour: 100, CreditsHour: 100, CreditsDay: 100, CreditsMonth: 100, RequestsMinute: 3},
			"search", `{"query":"a"}`, 3, 3, 3, searchtest.Noon.Add(time.Minute), 0},
		{"requests", "hour", access.Limits{RequestsHour: 0, CreditsHour: 1, CreditsDay: 1, CreditsMonth: 1, RequestsMinute: 0}, "search",
			`{"query":"a"}`, 0, 0, 0, searchtest.Noon.Truncate(time.Minute).Add(time.Minute), 0},
	}
	for _, tt := range tests {
		t.Run(tt.scope+" "+tt.window+" "+strconv.Itoa(tt.limit), func(t *testing.T) {
			e := newEnv(t)
			token := e.token(&tt.limits)
			for range tt.admitted {
				if g := e.post(tt.op, token, tt.body); g.status != 200 {
					t.Fatal(g.body)
				}
			}
			g := e.post(tt.op, token, tt.body)
			want := map[string]any{
				"code": "quota_exhausted", "error": "quota_exhausted", "scope": tt.scope, "window": tt.window, "limit": float64(tt.limit),
				"used":     float64(tt.used),
				"reset_at": tt.reset.Format("2006-01-02T15:04:05.000Z"), "retry_after": tt.reset.Sub(searchtest.Noon).Seconds(),
				"request_id": g.header.Get("X-Request-Id"),
			}
			if tt.needed > 0 {
				want["needed"] = float64(tt.needed)
			}
			opt := cmpopts.IgnoreMapEntries(func(k string, _ any) bool { return k == "message" || k == "detail" })
			if diff := cmp.Diff(want, g.json, opt); g.status != 429 || diff != "" {
				t.Errorf("%d %s", g.status, diff)
			}
			if g.header.Get("Retry-After") != strconv.Itoa(int(tt.reset.Sub(searchtest.Noon).Seconds())) {
				t.Errorf("Retry-After %q", g.header.Get("Retry-After"))
			}
			if len(e.backend.seen()) != tt.admitted {
				t.Error("a refused request went up")
			}
			e.flush()
			rows := e.rows()
			if last := rows[len(rows)-1]; last.Outcome != audit.Refused || last.Status != 429 || last.ErrorCode != "quota_exhausted" {
				t.Errorf("%+v", last)
			}
			if u := e.used(e.svc, idOf(token)); u.MonthlyRefused != 1 {
				t.Errorf("%+v", u)
			}
			if tt.limit == 0 {
				return
			}
			e.clock.Set(tt.reset)
			if g := e.post(tt.op, token, tt.body); g.status != 200 {
				t.Errorf("after the reset: %d %s", g.status, g.body)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	e := newEnv(t)
	token := e.token(&access.Limits{RequestsHour: 500, CreditsHour: 4, CreditsDay: 500, CreditsMonth: 5000, RequestsMinute: 7})
	for range 2 {
		e.post("crawl", token, `{"url":"a"}`)
	}
	g := e.send(http.MethodGet, url+"usage", "", "Authorization", "Bearer "+token)
	want := map[string]any{
		"tokenId": idOf(token), "dailySuccess": 1., "dailyError": 0., "monthlySuccess": 1., "monthlyQuotaExhausted": 1.,
		"minuteRequests": 1., "minuteRequestsLimit": 7., "minuteRequestsResetAt": "2026-03-15T12:01:30.000Z",
		"hourlyRequests": 1., "hourlyRequestsLimit": 500., "hourlyRequestsResetAt": "2026-03-15T13:00:00.000Z",
		"hourlyCredits": 3., "hourlyCreditsLimit": 4., "hourlyCreditsResetAt": "2026-03-15T13:00:00.000Z",
		"dailyCredits": 3., "dailyCreditsLimit": 500., "dailyCreditsResetAt": "2026-03-16T00:00:00.000Z",
		"monthlyCredits": 3., "monthlyCreditsLimit": 5000., "monthlyCreditsResetAt": "2026-04-01T00:00:00.000Z",
	}
	if diff := cmp.Diff(want, g.json); diff != "" || g.status != 200 || g.header.Get("Cache-Control") != "no-store" {
		t.Error(g.status, diff)
	}
}

func TestOtherWays(t *testing.T) {
	e := newEnv(t)
	token := e.token(nil)
	tests := []struct {
		method, path, body string
		status             int
		code               string
	}{
		{"GET", "/search/health", "", 200, ""},
		{"GET", url + "search", "", 405, "method_not_allowed"},
		{"OPTIONS", url + "search", "", 405, "method_not_allowed"},
		{"DELETE", url + "usage", "", 405, "method_not_allowed"},
		{"POST", url + "nothing", "{}", 404, "not_found"},
		{"GET", url + "research/", "", 404, "not_found"},
		{"GET", "/search/", "", 404, "not_found"},
		{"GET", url + "research/" + strings.Repeat("x", proxy.MaxResourceID+1), "", 400, "invalid_request"},
		{"POST", url + "search", `{"query":"` + strings.Repeat("a", api.BodyLimit) + `"}`, 413, "payload_too_large"},
		{"POST", url + "research", `{"input":"` + strings.Repeat("a", 2*api.BodyLimit) + `"}`, 200, ""},
		{"POST", url + "search", `{"query":`, 400, "invalid_request"},
		{"POST", url + "search", ``, 400, "invalid_request"},
	}
	for _, tt := range tests {
		g := e.send(tt.method, tt.path, tt.body, "Authorization", "Bearer "+token)
		if g.status != tt.status || tt.code != "" && g.json["code"] != tt.code || g.header.Get("X-Request-Id") == "" {
			t.Errorf("%s %.60s: %d %.200s", tt.method, tt.path, g.status, g.body)
		}
		if tt.code != "" && g.json["error"] != tt.code {
			t.Errorf("%s %.60s: the body has no error member: %s", tt.method, tt.path, g.body)
		}
		if tt.status == 405 && g.header.Get("Allow") == "" {
			t.Errorf("%s %s: 405 without Allow", tt.method, tt.path)
		}
	}
}

func TestUpstreamsPagesAreData(t *testing.T) {
	e := newEnv(t, func(e *env) {
		e.backend.invoke = func(context.Context, *sdk.Request) (*sdk.Reply, error) {
			r := reply(200, "<html></html>")
			r.ContentType, r.RetryAfter = "Text/HTML", "7"
			return r, nil
		}
	})
	g := e.post("search", e.token(nil), `{"query":"a"}`)
	if g.body != "<html></html>" || g.header.Get("Content-Security-Policy") == "" || g.header.Get("Retry-After") != "7" ||
		g.header.Get("Content-Type") != "Text/HTML" {
		t.Errorf("%v %s", g.header, g.body)
	}
}

func TestMetricsNameNoToken(t *testing.T) {
	reg := prometheus.NewRegistry()
	e := newEnv(t, withKeys)
	svc, err := New(context.Background(), Config{Store: e.store, Keyring: e.ring, Settings: e.set, Backends: e.backends(), Now: e.clock.Now,
		Metrics: proxy.NewMetrics(reg)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(svc.Close)
	e.svc = svc
	e.addKeys("upstream-key")
	token := e.token(&access.Limits{RequestsHour: 1, CreditsHour: 10, CreditsDay: 10, CreditsMonth: 10, RequestsMinute: 0})
	for range 2 {
		e.post("search", token, `{"query":"a"}`)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range families {
		names = append(names, f.GetName())
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "token" || strings.Contains(l.GetValue(), idOf(token)) {
					t.Errorf("%s has the label %s=%q", f.GetName(), l.GetName(), l.GetValue())
				}
			}
		}
	}
	want := []string{
		"patchbay_search_credits_total", "patchbay_search_keys", "patchbay_search_plugin_duration_seconds", "patchbay_search_refusals_total",
		"patchbay_search_request_duration_seconds", "patchbay_search_requests_total", "patchbay_search_upstream_duration_seconds",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}

// TestReloadUnderLoad: calls to a backend that is taken away follow to the new one, and none is lost.
func TestReloadUnderLoad(t *testing.T) {
	e := newEnv(t)
	token := idOf(e.token(&access.Limits{RequestsHour: 1e6, CreditsHour: 1e6, CreditsDay: 1e6, CreditsMonth: 1e6, RequestsMinute: 0}))
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := e.call(e.svc, token, sdk.OpSearch, `{"query":"a"}`); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	old := e.backend
	for range 20 {
		next := &backend{desc: e.backend.desc, invoke: e.backend.invoke}
		if err := e.svc.Reload(e.set, next); err != nil {
			t.Fatal(err)
		}
		old.retire()
		old = next
	}
	close(stop)
	wg.Wait()
	e.flush()
}

// retire has the backend answer as one that a reload took away.
func (b *backend) retire() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.retired = catalog.ErrRetired
}
