package search

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/api"
	"github.com/patchbay-dev/patchbay/core/services/search/internal/searchtest"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// backends are the whole chain.
func (e *env) backends() []client.Search {
	out := []client.Search{e.backend}
	for _, b := range e.more {
		out = append(out, b)
	}
	return out
}

// failsWith makes a backend answer with an error, and answering with a status and a body.
func failsWith(err error) func(context.Context, *sdk.Request) (*sdk.Reply, error) {
	return func(context.Context, *sdk.Request) (*sdk.Reply, error) { return nil, err }
}

func answering(status int, body string) func(context.Context, *sdk.Request) (*sdk.Reply, error) {
	return func(context.Context, *sdk.Request) (*sdk.Reply, error) { return reply(status, body), nil }
}

// served is what the newest row of the audit says of who answered.
type served struct {
	Backend, KeyID   string
	Status, Attempts int
}

func (e *env) lastServed() (out served) {
	e.Helper()
	if err := e.store.DB(context.Background()).Table("search_requests").Order("id DESC").Limit(1).Find(&out).Error; err != nil {
		e.Fatal(err)
	}
	return out
}

// twoBackends is a chain search.main, search.spare without keys; the second answers {"by":"spare"}.
func twoBackends(e *env) {
	e.set.Backend = []string{"search.main", "search.spare"}
	e.more = []*backend{{desc: sdk.Descriptor{Operations: searchtest.Operations()}, invoke: answering(200, `{"by":"spare"}`)}}
	e.backend.invoke = answering(200, `{"by":"main"}`)
}

var (
	errDown    = fault.New(fault.PluginUnavailable, "not there")
	errDied    = fault.FromPlugin("search.fake", errs.New(errs.Plugin, codes.Unavailable, "UNAVAILABLE", "EOF"))
	errConnect = fault.FromPlugin("search.fake", errs.Unavailable(errs.ReasonConnect, "no connection"))
	errEmpty   = fault.FromPlugin("search.fake", &errs.Error{Source: errs.Plugin, Code: codes.Unavailable, Reason: errs.ReasonNotReady,
		RetryAfter: 5 * time.Second})
	errTimeout = fault.FromPlugin("search.fake", errs.New(errs.Upstream, codes.DeadlineExceeded, errs.ReasonTimeout, "no answer"))
	errCaller  = fault.FromPlugin("search.fake", errs.BadInput("BAD", "no such depth"))
)

func TestNextBackendAnswersWhenOneIsDown(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		e := newEnvOn(t, testkit.OpenStore(t, cfg, Migrations()), twoBackends)
		token := e.token(&access.Limits{RequestsHour: 1000, CreditsHour: 1000, CreditsDay: 1000, CreditsMonth: 1000, RequestsMinute: 0})
		for _, tt := range []struct {
			name    string
			first   error
			op      string
			body    string
			backend string
			status  int
		}{
			{"up", nil, "search", `{"query":"q"}`, "search.main", 200},
			{"process is not there", errDown, "search", `{"query":"q"}`, "search.spare", 200},
			{"process died", errDied, "search", `{"query":"q"}`, "search.spare", 200},
			{"no connection", errConnect, "search", `{"query":"q"}`, "search.spare", 200},
			{"nothing is indexed yet", errEmpty, "search", `{"query":"q"}`, "search.spare", 200},
			{"research, nothing is indexed yet", errEmpty, "research", `{"input":"q"}`, "search.spare", 200},
			{"no answer in time", errTimeout, "map", `{"url":"u"}`, "search.spare", 200},
			{"our mistake", errors.New("odd"), "search", `{"query":"q"}`, "search.main", 500},
			{"the client's mistake", errCaller, "search", `{"query":"q"}`, "search.main", 400},
			{"research, process is not there", errDown, "research", `{"input":"q"}`, "search.spare", 200},
			{"research, no connection", errConnect, "research", `{"input":"q"}`, "search.spare", 200},
			{"research, perhaps accepted", errTimeout, "research", `{"input":"q"}`, "search.main", 502},
			{"research, died in the middle", errDied, "research", `{"input":"q"}`, "search.main", 502},
		} {
			e.backend.invoke = answering(200, `{"by":"main"}`)
			if tt.first != nil {
				e.backend.invoke = failsWith(tt.first)
			}
			g := e.post(tt.op, token, tt.body)
			e.flush()
			last := e.lastServed()
			if g.status != tt.status || last.Backend != tt.backend || last.Status != tt.status {
				t.Errorf("%s: status %d %s, row %+v", tt.name, g.status, g.body, last)
			}
			if by, _ := g.json["by"].(string); tt.status == 200 && "search."+by != tt.backend {
				t.Errorf("%s: answered by %s", tt.name, g.body)
			}
		}
	})
}

func TestErrorsOfTheUpstreamPassTheChain(t *testing.T) {
	e := newEnv(t, twoBackends)
	e.backend.invoke = answering(500, `{"detail":"x"}`)
	if g := e.post("search", e.token(nil), `{"query":"q"}`); g.status != 500 || len(e.more[0].seen()) != 0 {
		t.Errorf("status %d; the second backend was asked %d times", g.status, len(e.more[0].seen()))
	}
	e.backend.invoke, e.more[0].invoke = failsWith(errDown), failsWith(errConnect)
	if g := e.post("search", e.token(nil), `{"query":"q"}`); g.status != 502 || g.json["code"] != "upstream_unavailable" {
		t.Errorf("all down: %d %s", g.status, g.body)
	}
	e.backend.invoke, e.more[0].invoke = failsWith(errDown), failsWith(errEmpty)
	if g := e.post("search", e.token(nil), `{"query":"q"}`); g.status != 503 || g.json["code"] != "not_ready" ||
		g.header.Get("Retry-After") != "5" {
		t.Errorf("nothing is indexed yet: %d %v %s", g.status, g.header, g.body)
	}
}

func TestNextBackendAnswersWithoutKeys(t *testing.T) {
	e := newEnv(t, twoBackends, withKeys)
	token := e.token(nil)
	if g := e.post("search", token, `{"query":"q"}`); g.status != 200 || g.json["by"] != "spare" {
		t.Errorf("no key at all: %d %s", g.status, g.body)
	}
	e.addKeys("one")
	if g := e.post("search", token, `{"query":"q"}`); g.json["by"] != "main" {
		t.Errorf("with a key: %s", g.body)
	}
	e.backend.invoke = answering(432, `{}`)
	// The upstream refused: it has not taken the research.
	if g := e.post("research", token, `{"input":"q"}`); g.status != 200 || g.json["by"] != "spare" {
		t.Errorf("the key is exhausted: %d %s", g.status, g.body)
	}
	e.flush()
	if last := e.lastServed(); last.Attempts != 2 || last.KeyID != "" || last.Backend != "search.spare" {
		t.Errorf("row %+v", last)
	}
}

func TestOperationThatTheFirstLacks(t *testing.T) {
	e := newEnv(t, func(e *env) {
		twoBackends(e)
		e.backend.desc.Operations = []sdk.Operation{{Name: sdk.OpSearch, Required: []string{"query"}, Tool: "search", Title: "first"}}
		for i, op := range e.more[0].desc.Operations {
			e.more[0].desc.Operations[i].Tool = "spare_" + op.Name
		}
	})
	if g := e.post("extract", e.token(nil), `{"urls":["u"]}`); g.status != 200 || g.json["by"] != "spare" {
		t.Errorf("%d %s", g.status, g.body)
	}
	var names []string
	for _, tool := range api.ToolsOf(e.svc.State().Descriptors()) {
		names = append(names, tool.Name)
	}
	want := []string{"search", "spare_extract", "spare_crawl", "spare_map", "spare_research", "spare_research_result"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}

func TestPriceFollowsTheBackend(t *testing.T) {
	e := newEnv(t, func(e *env) {
		twoBackends(e)
		e.more[0].desc.Operations[0].Price = []sdk.PriceTerm{{Rate: 5}}
	})
	token := e.token(&access.Limits{RequestsHour: 1000, CreditsHour: 12, CreditsDay: 1000, CreditsMonth: 1000, RequestsMinute: 0})
	e.backend.invoke = failsWith(errDown)
	// 5 and 5 are 10 of 12: a third is too dear at the second, though the first would be within the limit.
	for i, want := range []int{200, 200, 429} {
		if g := e.post("search", token, `{"query":"q"}`); g.status != want {
			t.Errorf("call %d: %d %s", i, g.status, g.body)
		}
	}
	if u := e.used(e.svc, idOf(token)); u.HourlyCredits != 10 || u.Reserved != 0 || u.HourlyRequests != 3 {
		t.Errorf("used %+v", u)
	}
	e.backend.invoke = answering(200, `{}`)
	for i, want := range []int{200, 200, 429} {
		if g := e.post("search", token, `{"query":"q"}`); g.status != want {
			t.Errorf("call %d at the first: %d %s", i, g.status, g.body)
		}
	}
}

func TestLimitsHoldExactlyAlongTheChain(t *testing.T) {
	e := newEnv(t, func(e *env) {
		twoBackends(e)
		e.backend.invoke = failsWith(errDown)
		e.more[0].desc.Operations[0].Price = []sdk.PriceTerm{{Rate: 3}}
	})
	id := idOf(e.token(&access.Limits{RequestsHour: 10_000, CreditsHour: 100, CreditsDay: 10_000, CreditsMonth: 10_000, RequestsMinute: 0}))
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 20 {
				_, _ = e.call(e.svc, id, sdk.OpSearch, `{"query":"a"}`)
			}
		})
	}
	wg.Wait()
	if u := e.used(e.svc, id); u.HourlyCredits != 99 || u.Reserved != 0 {
		t.Errorf("used %+v", u)
	}
}

func TestResearchBelongsToTheBackendThatTookIt(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		st := testkit.OpenStore(t, cfg, Migrations())
		e := newEnvOn(t, st, twoBackends)
		token := e.token(nil)
		e.backend.invoke = failsWith(errDown)
		e.more[0].invoke = func(_ context.Context, req *sdk.Request) (*sdk.Reply, error) {
			r := reply(200, `{"by":"spare"}`)
			if req.Operation == sdk.OpResearch {
				r.ResourceID = "r-1"
			}
			return r, nil
		}
		if g := e.post("research", token, `{"input":"q"}`); g.status != 200 {
			t.Fatalf("research: %d %s", g.status, g.body)
		}
		e.backend.invoke = answering(404, `{}`)
		ask := func(e *env) got {
			return e.send(http.MethodGet, "/search/api/proxy/research/r-1", "", "Authorization", "Bearer "+token)
		}
		if g := ask(e); g.json["by"] != "spare" {
			t.Errorf("asked at the other: %d %s", g.status, g.body)
		}
		e.more[0].invoke = failsWith(errDown)
		if g := ask(e); g.status != 502 {
			t.Errorf("the backend is down: %d %s", g.status, g.body)
		}
		e.flush()
		// Another process reads it from the database.
		e.more[0].invoke = answering(200, `{"by":"spare"}`)
		again := *e
		again.base = ""
		again.svc = e.start()
		if g := ask(&again); g.json["by"] != "spare" {
			t.Errorf("after a restart: %d %s", g.status, g.body)
		}
		set := e.set
		set.Backend = []string{"search.main"}
		if err := again.svc.Reload(set, e.backend); err != nil {
			t.Fatal(err)
		}
		if g := ask(&again); g.status != 502 {
			t.Errorf("the backend is not in the chain: %d %s", g.status, g.body)
		}
	})
}

func TestKeysOfABackendAlone(t *testing.T) {
	e := newEnv(t, twoBackends, withKeys, func(e *env) { e.more[0].desc.Credential = true })
	id := idOf(e.token(&access.Limits{RequestsHour: 1000, CreditsHour: 1000, CreditsDay: 1000, CreditsMonth: 1000, RequestsMinute: 0}))
	add := func(group, key string) {
		t.Helper()
		if _, err := e.svc.AddKeys(context.Background(), group, []string{key}); err != nil {
			t.Fatal(err)
		}
	}
	shown := func(want ...string) {
		t.Helper()
		before := [2]int{len(e.backend.seen()), len(e.more[0].seen())}
		_, _ = e.call(e.svc, id, sdk.OpSearch, `{"query":"a"}`)
		var got []string
		for i, b := range []*backend{e.backend, e.more[0]} {
			for _, r := range b.seen()[before[i]:] {
				got = append(got, r.Credential.Reveal())
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("keys that were shown (-want +got):\n%s", diff)
		}
	}
	e.backend.invoke = failsWith(errConnect)
	add("", "shared")
	shown("shared", "shared")
	add("spare", "for-spare")
	shown("shared", "for-spare")
	add("main", "for-main")
	shown("for-main", "for-spare")
	e.clock.Advance(time.Minute)
	e.more[0].invoke = answering(432, `{}`)
	shown("for-main", "for-spare")
	// The spare's own key is exhausted: it borrows none.
	shown("for-main")
}

func TestReloadSwapsChainsUnderLoad(t *testing.T) {
	e := newEnv(t, twoBackends)
	e.backend.invoke = failsWith(errDown)
	id := idOf(e.token(&access.Limits{RequestsHour: 1e6, CreditsHour: 1e6, CreditsDay: 1e6, CreditsMonth: 1e6, RequestsMinute: 0}))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := e.call(e.svc, id, sdk.OpSearch, `{"query":"a"}`); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	last := e.more[0]
	for i := range 30 {
		set := e.set
		next := &backend{desc: e.backend.desc, invoke: answering(200, `{}`)}
		chain := []client.Search{next}
		set.Backend = []string{"search.new"}
		if i%2 == 0 {
			set.Backend, chain = []string{"search.main", "search.new"}, []client.Search{e.backend, next}
		}
		if err := e.svc.Reload(set, chain...); err != nil {
			t.Fatal(err)
		}
		last.retire()
		last = next
	}
	close(stop)
	wg.Wait()
	e.flush()
	if u := e.used(e.svc, id); u.Reserved != 0 {
		t.Errorf("reserved %d", u.Reserved)
	}
}
