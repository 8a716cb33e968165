package search

import (
	"context"
	"testing"

	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/internal/searchtest"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// answeringAt answers with a status for which the upstream says what it charged.
func answeringAt(status int, body string, credits int64) func(context.Context, *sdk.Request) (*sdk.Reply, error) {
	return func(context.Context, *sdk.Request) (*sdk.Reply, error) {
		r := reply(status, body)
		r.Usage = &sdk.Usage{Credits: credits}
		return r, nil
	}
}

func TestNextBackendAnswersWhenTheUpstreamFails(t *testing.T) {
	e := newEnv(t, twoBackends, func(e *env) { e.set.NextOn5xx = true })
	token := e.token(&access.Limits{RequestsHour: 1000, CreditsHour: 1000, CreditsDay: 1000, CreditsMonth: 1000, RequestsMinute: 0})
	main, spare := e.backend, e.more[0]
	for _, tt := range []struct {
		name        string
		main, spare func(context.Context, *sdk.Request) (*sdk.Reply, error)
		op, body    string
		status      int
		backend     string
		credits     int64
	}{
		{"the next one answers", answering(503, `{}`), answeringAt(200, `{}`, 3), "crawl", `{"url":"u"}`, 200, "search.spare", 3},
		{"what the failure cost is charged", answeringAt(500, `{}`, 2), answeringAt(200, `{}`, 3), "crawl", `{"url":"u"}`, 200, "search.spare",
			5},
		{"all fail", answeringAt(500, `{"by":"main"}`, 2), answeringAt(502, `{"by":"spare"}`, 1), "crawl", `{"url":"u"}`, 502, "search.spare", 3},
		{"the next one is down", answeringAt(500, `{"by":"main"}`, 2), failsWith(errDown), "crawl", `{"url":"u"}`, 500, "search.main", 2},
		{"the next one ends unseen", answeringAt(500, `{"by":"main"}`, 2), failsWith(errTimeout), "crawl", `{"url":"u"}`, 500, "search.main", 5},
		{"the client's mistake", answering(404, `{}`), answering(200, `{}`), "crawl", `{"url":"u"}`, 404, "search.main", 0},
		{"a research may have begun", answering(500, `{}`), answering(200, `{}`), "research", `{"input":"q"}`, 500, "search.main", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			main.invoke, spare.invoke = tt.main, tt.spare
			before := e.svc.Table().Get(idOf(token)).Snapshot(searchtest.Noon).HourlyCredits
			g := e.post(tt.op, token, tt.body)
			e.flush()
			last, used := e.lastServed(), e.svc.Table().Get(idOf(token)).Snapshot(searchtest.Noon)
			if g.status != tt.status || last.Backend != tt.backend || last.Status != tt.status || used.HourlyCredits-before != tt.credits ||
				used.Reserved != 0 {
				t.Errorf("status %d, %+v, %d credits, %d reserved", g.status, last, used.HourlyCredits-before, used.Reserved)
			}
		})
	}
}

// TestFailedAnswerStandsWhereTheNextBackendCostsTooMuch: the limit holds for what both cost together.
func TestFailedAnswerStandsWhereTheNextBackendCostsTooMuch(t *testing.T) {
	e := newEnv(t, twoBackends, func(e *env) { e.set.NextOn5xx = true })
	e.backend.invoke = answeringAt(500, `{}`, 2)
	token := e.token(&access.Limits{RequestsHour: 1000, CreditsHour: 4, CreditsDay: 1000, CreditsMonth: 1000, RequestsMinute: 0})
	if g := e.post("crawl", token, `{"url":"u"}`); g.status != 500 || len(e.more[0].seen()) != 0 {
		t.Errorf("status %d, the second was asked %d times", g.status, len(e.more[0].seen()))
	}
	if u := e.svc.Table().Get(idOf(token)).Snapshot(searchtest.Noon); u.HourlyCredits != 2 || u.Reserved != 0 {
		t.Errorf("%+v", u)
	}
}
