package search

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/proxy"
	"github.com/patchbay-dev/patchbay/core/store"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// counting makes the backend number its answers.
func counting(e *env) {
	n := 0
	e.backend.invoke = func(context.Context, *sdk.Request) (*sdk.Reply, error) {
		n++
		return reply(200, fmt.Sprintf(`{"n":%d}`, n)), nil
	}
}

// tokenWith makes a token with a cache policy.
func (e *env) tokenWith(ttl int64, l *access.Limits) string {
	e.Helper()
	text, err := e.svc.CreateToken(context.Background(), access.NewToken{Limits: l, CacheTTL: &ttl})
	if err != nil {
		e.Fatal(err)
	}
	return text
}

func TestKeptAnswers(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		e := newEnvOn(t, testkit.OpenStore(t, cfg, Migrations()), counting)
		limits := &access.Limits{RequestsHour: 100, CreditsHour: 4, CreditsDay: 100, CreditsMonth: 100, RequestsMinute: 0}
		token, other, none := e.tokenWith(60, limits), e.tokenWith(10, limits), e.token(limits)
		for i, tt := range []struct {
			token, op, body string
			after           time.Duration
			cache, answer   string
		}{
			{token, "search", `{"query":"a","max_results":5}`, 0, "MISS", `{"n":1}`},
			{token, "search", ` {"max_results": 5, "query":"\u0061"}`, 0, "HIT", `{"n":1}`},
			{other, "search", `{"query":"a","max_results":5,"api_key":"x"}`, 0, "HIT", `{"n":1}`},
			{none, "search", `{"query":"a","max_results":5}`, 0, "", `{"n":2}`},
			{token, "search", `{"query":"A","max_results":5}`, 0, "MISS", `{"n":3}`},
			{token, "map", `{"url":"u"}`, 0, "MISS", `{"n":4}`},
			{other, "search", `{"query":"a","max_results":5}`, 11 * time.Second, "MISS", `{"n":5}`},
			{token, "search", `{"query":"a","max_results":5}`, 60 * time.Second, "HIT", `{"n":5}`},
		} {
			e.clock.Advance(tt.after)
			g := e.post(tt.op, tt.token, tt.body)
			if g.status != 200 || g.body != tt.answer || g.header.Get("X-Cache") != tt.cache {
				t.Errorf("call %d: %d %s, X-Cache %q", i, g.status, g.body, g.header.Get("X-Cache"))
			}
		}
		// The hour has no credit left for a call, but an answer that was kept costs none.
		if g := e.post("search", token, `{"query":"b"}`); g.status != 429 {
			t.Errorf("without credits: %d", g.status)
		}
		if g := e.post("search", token, `{"query":"a","max_results":5}`); g.status != 200 || g.header.Get("X-Cache") != "HIT" {
			t.Errorf("without credits, kept: %d %s", g.status, g.body)
		}
		if u := e.used(e.svc, idOf(token)); u.HourlyCredits != 4 || u.HourlyRequests != 6 || u.Reserved != 0 || u.DailySuccess != 6 {
			t.Errorf("used %+v", u)
		}
		e.flush()
		var rows []struct {
			Credits, Attempts, UpstreamStatus int64
			ErrorCode, Backend                string
		}
		if err := e.store.DB(context.Background()).Table("search_requests").Where("cached = ?", true).Find(&rows).Error; err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if r.Credits != 0 || r.Attempts != 0 || r.UpstreamStatus != 0 || r.ErrorCode != "" || r.Backend != "search.web" {
				t.Errorf("row %+v", r)
			}
		}
		if len(rows) != 4 {
			t.Errorf("%d rows are marked", len(rows))
		}
	})
}

func TestWhatIsNotKept(t *testing.T) {
	e := newEnv(t, func(e *env) { e.set.CacheTTL = time.Hour })
	token := e.token(&access.Limits{RequestsHour: 1000, CreditsHour: 1000, CreditsDay: 1000, CreditsMonth: 1000, RequestsMinute: 0})
	twice := func(op, body string) int {
		t.Helper()
		before := len(e.backend.seen())
		e.post(op, token, body)
		e.post(op, token, body)
		return len(e.backend.seen()) - before
	}
	if n := twice("search", `{"query":"a"}`); n != 1 {
		t.Errorf("the default policy is not used: %d calls", n)
	}
	if n := twice("research", `{"input":"a"}`); n != 2 {
		t.Errorf("a research is kept")
	}
	for name, body := range map[string]string{"a member twice": `{"query":"a","query":"b"}`, "half a pair": `{"query":"\ud800"}`,
		"a member twice below": `{"query":"c","x":{"y":1,"y":2}}`} {
		if n := twice("search", body); n != 2 {
			t.Errorf("%s: it is kept", name)
		}
	}
	e.backend.invoke = answering(404, `{}`)
	if n := twice("search", `{"query":"error"}`); n != 2 {
		t.Error("an error is kept")
	}
	e.backend.invoke = answering(200, `"`+strings.Repeat("x", proxy.MaxCacheEntry)+`"`)
	if n := twice("search", `{"query":"large"}`); n != 2 {
		t.Error("a large answer is kept")
	}
	zero := e.tokenWith(0, nil)
	if g := e.post("search", zero, `{"query":"a"}`); g.header.Get("X-Cache") != "" {
		t.Error("a token's own 0 does not switch the default off")
	}
	if err := e.svc.Reload(e.set, e.backend); err != nil {
		t.Fatal(err)
	}
	if g := e.post("search", token, `{"query":"a"}`); g.header.Get("X-Cache") != "MISS" {
		t.Errorf("after a reload: %v", g.header)
	}
}

func TestKeptAnswersAlongTheChain(t *testing.T) {
	e := newEnv(t, twoBackends, func(e *env) { e.set.CacheTTL = time.Hour })
	token := e.token(nil)
	e.backend.invoke = failsWith(errDown)
	for i, want := range []string{"MISS", "HIT"} {
		if g := e.post("search", token, `{"query":"a"}`); g.json["by"] != "spare" || g.header.Get("X-Cache") != want {
			t.Errorf("call %d: %s %v", i, g.body, g.header)
		}
	}
	// The answer of the second stands in for the first only while that is down.
	e.backend.invoke = answering(200, `{"by":"main"}`)
	if g := e.post("search", token, `{"query":"a"}`); g.json["by"] != "main" || g.header.Get("X-Cache") != "MISS" {
		t.Errorf("the first is back: %s %v", g.body, g.header)
	}
	if u := e.used(e.svc, idOf(token)); u.HourlyCredits != 2 || u.Reserved != 0 {
		t.Errorf("used %+v", u)
	}
}
