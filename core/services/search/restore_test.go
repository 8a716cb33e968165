package search

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/internal/searchtest"
	"github.com/patchbay-dev/patchbay/core/store"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// TestCountersSurviveARestart lets time pass over the edges of hours, days and months, between random requests, and
// compares the counters of a second service on the same database with those of the first: now, and as they age.
func TestCountersSurviveARestart(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		e := newEnvOn(t, testkit.OpenStore(t, cfg, Migrations()))
		e.backend.invoke = func(_ context.Context, req *sdk.Request) (*sdk.Reply, error) {
			if req.Operation == sdk.OpMap {
				return nil, fault.New(fault.UpstreamUnavailable, "No answer.")
			}
			r := reply(200, `{}`)
			r.Usage = &sdk.Usage{Credits: int64(len(req.Body)) % 4}
			return r, nil
		}
		bodies := map[string]string{sdk.OpSearch: `{"query":"a"}`, sdk.OpCrawl: `{"url":"http://a.b"}`, sdk.OpMap: `{"url":"c"}`}
		rapid.Check(t, func(r *rapid.T) {
			e.clock.Set(searchtest.DrawStart(r))
			limits := access.Limits{RequestsHour: 6, CreditsHour: 20, CreditsDay: 30, CreditsMonth: 60}
			id := idOf(e.token(&limits))
			for range rapid.IntRange(1, 15).Draw(r, "requests") {
				e.clock.Advance(searchtest.DrawStep(r))
				op := rapid.SampledFrom([]string{sdk.OpSearch, sdk.OpCrawl, sdk.OpMap}).Draw(r, "operation")
				_, _ = e.call(e.svc, id, op, bodies[op])
			}
			e.flush()
			second := e.start()
			for _, age := range []time.Duration{0, time.Minute, 20 * time.Minute, 40 * time.Minute, 23 * time.Hour, 9 * 24 * time.Hour} {
				e.clock.Advance(age)
				before, after := e.used(e.svc, id), e.used(second, id)
				// Seconds are not stored: nothing of the rolling minute is forgotten, and it may last longer.
				if after.MinuteRequests < before.MinuteRequests || after.MinuteRequests > before.HourlyRequests {
					r.Fatalf("%s later %d requests of the minute are left of %d", age, after.MinuteRequests, before.MinuteRequests)
				}
				before.MinuteRequests, before.MinuteRequestsResetAt = after.MinuteRequests, after.MinuteRequestsResetAt
				if diff := cmp.Diff(before, after); diff != "" {
					r.Fatalf("%s later the counters differ (-before +after the restart):\n%s", age, diff)
				}
			}
			second.Close()
		})
	})
}

// TestHourThatReachesIntoTheLastMonth: requests of the rolling hour before midnight count for the hour alone.
func TestHourThatReachesIntoTheLastMonth(t *testing.T) {
	e := newEnv(t)
	e.clock.Set(time.Date(2026, 1, 31, 23, 50, 0, 0, time.UTC))
	id := idOf(e.token(nil))
	for range 3 {
		if _, err := e.call(e.svc, id, sdk.OpSearch, `{"query":"x"}`); err != nil {
			t.Fatal(err)
		}
	}
	e.clock.Set(time.Date(2026, 2, 1, 0, 5, 0, 0, time.UTC))
	if _, err := e.call(e.svc, id, sdk.OpSearch, `{"query":"x"}`); err != nil {
		t.Fatal(err)
	}
	e.flush()
	u := e.used(e.start(), id)
	if u.HourlyRequests != 4 || u.HourlyCredits != 4 || u.DailyCredits != 1 || u.MonthlyCredits != 1 {
		t.Errorf("%+v", u)
	}
}

func TestUseOfDeletedTokensIsLeftOut(t *testing.T) {
	e := newEnv(t)
	id := idOf(e.token(nil))
	if _, err := e.call(e.svc, id, sdk.OpSearch, `{"query":"x"}`); err != nil {
		t.Fatal(err)
	}
	if err := e.svc.DeleteToken(context.Background(), id); err != nil {
		t.Fatal(err)
	}
	e.flush()
	if e.start().Table().Get(id) != nil {
		t.Error("a deleted token came back")
	}
}
