package search

import (
	"context"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
	"github.com/patchbay-dev/patchbay/core/store"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

func TestPurge(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		e := newEnvOn(t, testkit.OpenStore(t, cfg, Migrations()), func(e *env) {
			e.set.Retention, e.set.LogBodies = 10*24*time.Hour, true
			e.backend.invoke = func(_ context.Context, req *sdk.Request) (*sdk.Reply, error) {
				r := reply(200, `{}`)
				if req.Operation == sdk.OpResearch {
					r.ResourceID = "r-" + e.clock.Now().Format("0102")
				}
				return r, nil
			}
		})
		id := idOf(e.token(&access.Limits{RequestsHour: 1e6, CreditsHour: 1e6, CreditsDay: 1e6, CreditsMonth: 1e6, RequestsMinute: 0}))
		const old = audit.PurgeSlice + 7
		for range old {
			if _, err := e.call(e.svc, id, sdk.OpSearch, `{"query":"a"}`); err != nil {
				t.Fatal(err)
			}
		}
		for _, days := range []time.Duration{0, 8, 8, 8} { // the rows are 24, 24, 16 and 8 days old, and new
			e.clock.Advance(days * 24 * time.Hour)
			if _, err := e.call(e.svc, id, sdk.OpResearch, `{"input":"a"}`); err != nil {
				t.Fatal(err)
			}
		}
		e.flush()
		count := func(table string) (n int64) {
			t.Helper()
			if err := e.store.DB(context.Background()).Table(table).Count(&n).Error; err != nil {
				t.Fatal(err)
			}
			return n
		}
		purge := func() [4]int64 {
			t.Helper()
			if _, err := e.svc.purgeOldRecords(context.Background(), nil, nil); err != nil {
				t.Fatal(err)
			}
			return [4]int64{count("search_requests"), count("search_bodies"), count("search_research"), count("quota_usage")}
		}
		if n := count("search_requests"); n != old+4 {
			t.Fatalf("%d rows", n)
		}
		if got, want := purge(), [4]int64{2, 2, 1, 4}; got != want {
			t.Errorf("requests, bodies, research, minutes: %v, want %v", got, want)
		}
		e.clock.Advance(31 * 24 * time.Hour)
		if got, want := purge(), [4]int64{0, 0, 0, 1}; got != want {
			t.Errorf("a month later: %v, want %v", got, want)
		}
	})
}

func TestSettingsAreChecked(t *testing.T) {
	one := []string{"search.web"}
	good := Settings{Retention: time.Hour, Backend: one}
	if d := good.Check(); d.HasErrors() {
		t.Errorf("%v", d)
	}
	for name, s := range map[string]Settings{
		"retention": {Retention: time.Minute, Backend: one}, "backend": {Retention: time.Hour},
		"limits": {Retention: time.Hour, Backend: one, Limits: &LimitSet{CreditsDay: -1}},
	} {
		if d := s.Check(); !d.HasErrors() {
			t.Errorf("%s: nothing is found", name)
		}
	}
}
