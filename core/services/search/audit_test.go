package search

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
	"github.com/patchbay-dev/patchbay/core/store"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// row is what tests look at of an audit row.
type row struct {
	Operation, RequestID, TokenID, KeyID, Backend, ErrorCode, Client string
	Outcome                                                          audit.Outcome
	Status, UpstreamStatus, Attempts                                 int
	Credits                                                          int64
}

func (e *env) rows() (out []row) {
	e.Helper()
	if err := e.store.DB(context.Background()).Table("search_requests").Order("id").Find(&out).Error; err != nil {
		e.Fatal(err)
	}
	return out
}

func TestBooksBalanceUnderConcurrency(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		e := newEnvOn(t, testkit.OpenStore(t, cfg, Migrations()), func(e *env) {
			var n sync.Map
			e.backend.invoke = func(_ context.Context, req *sdk.Request) (*sdk.Reply, error) {
				_, odd := n.LoadOrStore(req.RequestID+string(req.Body), true)
				if odd {
					return nil, fault.New(fault.UpstreamUnavailable, "No answer.")
				}
				r := reply(200, `{}`)
				r.Usage = &sdk.Usage{Credits: 3}
				return r, nil
			}
		})
		limits := access.Limits{RequestsHour: 300, CreditsHour: 500, CreditsDay: 1e6, CreditsMonth: 1e6}
		ids := []string{idOf(e.token(&limits)), idOf(e.token(&limits))}
		var wg sync.WaitGroup
		for w := range 8 {
			wg.Go(func() {
				for i := range 100 {
					_, _ = e.call(e.svc, ids[w%2], sdk.OpSearch, fmt.Sprintf(`{"query":"%d"}`, w*50+i))
				}
			})
		}
		wg.Wait()
		e.flush()
		for _, id := range ids {
			u, s := e.used(e.svc, id), e.sums(id)
			if u.Reserved != 0 || s.AuditCredits == 0 || s != (sums{u.HourlyRequests, u.MonthlyCredits, u.HourlyRequests, u.MonthlyCredits}) {
				t.Errorf("in memory %+v, stored %+v", u, s)
			}
		}
		for _, r := range e.rows() {
			if r.Outcome == audit.Open {
				t.Errorf("a row is open: %+v", r)
			}
		}
	})
}

func TestRowOfARequest(t *testing.T) {
	e := newEnv(t, withKeys)
	keys := e.addKeys("upstream-key")
	id := idOf(e.token(nil))
	if _, err := e.call(e.svc, id, sdk.OpCrawl, `{"url":"http://a.b"}`); err != nil {
		t.Fatal(err)
	}
	e.flush()
	want := []row{{
		Operation: "crawl", RequestID: "req_test", TokenID: id, KeyID: keys[0], Backend: "search.web", Client: "192.0.2.1",
		Outcome: audit.Success,
		Status:  200, UpstreamStatus: 200, Attempts: 1, Credits: 3,
	}}
	if diff := cmp.Diff(want, e.rows()); diff != "" {
		t.Error(diff)
	}
}

// TestBeginAndEndAreWrittenApart: a request that lasts longer than a write has a row from its beginning.
func TestBeginAndEndAreWrittenApart(t *testing.T) {
	answer := make(chan struct{})
	e := newEnv(t, func(e *env) {
		e.backend.invoke = func(context.Context, *sdk.Request) (*sdk.Reply, error) { <-answer; return reply(200, `{}`), nil }
	})
	id := idOf(e.token(nil))
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = e.call(e.svc, id, sdk.OpSearch, `{"query":"a"}`) })
	testkit.Eventually(t, 5*time.Second, func() bool { r := e.rows(); return len(r) == 1 && r[0].Outcome == audit.Open }, "an open row")
	// The row holds what is reserved; the quota counts it with the end.
	if s := e.sums(id); s != (sums{1, 1, 1, 0}) {
		t.Errorf("while it runs: %+v", s)
	}
	close(answer)
	wg.Wait()
	e.flush()
	if s := e.sums(id); s != (sums{1, 1, 1, 1}) || e.rows()[0].Outcome != audit.Success {
		t.Errorf("afterwards: %+v", s)
	}
}

// fail makes writes to a table fail until the result is called.
func (e *env) fail(table string) (heal func()) {
	e.Helper()
	exec := func(sql string) {
		e.Helper()
		err := e.store.Tx(context.Background(), "test", func(ctx context.Context) error { return e.store.Writer(ctx).Exec(sql).Error })
		if err != nil {
			e.Fatal(err)
		}
	}
	exec("CREATE TRIGGER broken BEFORE INSERT ON " + table + " BEGIN SELECT RAISE(ABORT, 'disk trouble'); END")
	return func() { exec("DROP TRIGGER broken") }
}

func TestFailedWritesAreRetried(t *testing.T) {
	e := newEnv(t)
	id := idOf(e.token(nil))
	heal := e.fail("quota_usage")
	for range 50 {
		if _, err := e.call(e.svc, id, sdk.OpSearch, `{"query":"a"}`); err != nil {
			t.Fatal(err)
		}
	}
	testkit.Eventually(t, 5*time.Second, func() bool { return e.svc.Ready() != nil }, "the service says that it cannot write")
	if n := len(e.rows()); n != 0 {
		t.Fatalf("%d rows without their counters", n)
	}
	heal()
	e.flush()
	if s := e.sums(id); s != (sums{50, 50, 50, 50}) {
		t.Errorf("%+v", s)
	}
	if err := e.svc.Ready(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(e.logs.String(), "cannot write audit rows") {
		t.Error("the log says nothing")
	}
}

func TestCloseEndsThoughNothingCanBeWritten(t *testing.T) {
	e := newEnv(t)
	id := idOf(e.token(nil))
	heal := e.fail("quota_usage")
	defer heal()
	if _, err := e.call(e.svc, id, sdk.OpSearch, `{"query":"a"}`); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, 5*time.Second, func() bool { return e.svc.Ready() != nil }, "a failed write")
	done := make(chan struct{})
	go func() { e.svc.Close(); e.svc.Close(); close(done) }()
	select {
	case <-done:
	case <-time.After(15 * time.Second):
		t.Fatal("close hangs")
	}
}

func TestCloseWritesTheRest(t *testing.T) {
	e := newEnv(t)
	id := idOf(e.token(&access.Limits{RequestsHour: 1000, CreditsHour: 1000, CreditsDay: 1000, CreditsMonth: 1000, RequestsMinute: 0}))
	for range 500 {
		if _, err := e.call(e.svc, id, sdk.OpMap, `{"url":"a"}`); err != nil {
			t.Fatal(err)
		}
	}
	e.svc.Close()
	if s := e.sums(id); s.AuditRows != 500 || s.Requests != 500 {
		t.Errorf("%+v", s)
	}
}

func TestBodiesAreKeptIfTheOperatorWants(t *testing.T) {
	for _, want := range []bool{false, true} {
		e := newEnv(t, withKeys, func(e *env) {
			e.set.LogBodies = want
			e.backend.invoke = func(_ context.Context, req *sdk.Request) (*sdk.Reply, error) {
				return reply(200, `{"echo":"`+req.Credential.Reveal()+`"}`), nil
			}
		})
		e.addKeys("upstream-key-in-clear")
		token := e.token(nil)
		if g := e.send("POST", "/search/api/proxy/search", `{"api_key":"`+token+`","query":"a"}`); g.status != 200 {
			t.Fatal(g.body)
		}
		e.flush()
		var got []audit.BodyRecord
		if err := e.store.DB(context.Background()).Find(&got).Error; err != nil {
			t.Fatal(err)
		}
		switch {
		case !want && len(got) > 0:
			t.Errorf("bodies are kept though nobody asked: %+v", got)
		case want && (len(got) != 1 || string(got[0].Request) != `{"query":"a"}` || string(got[0].Response) != `{"echo":"[redacted]"}`):
			t.Errorf("%+v", got)
		}
	}
}
