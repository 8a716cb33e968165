package search

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
	"github.com/patchbay-dev/patchbay/core/services/search/internal/searchtest"
	"github.com/patchbay-dev/patchbay/core/store"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// expected adds up the audit rows by other means than the service does.
func (e *env) expected(step int64) map[string]audit.RequestSums {
	e.Helper()
	out := map[string]audit.RequestSums{}
	var rows []struct {
		Time                      int64
		TokenID, KeyID, Operation string
		Outcome                   int
		Credits                   int64
		DurationUS                int64 `gorm:"column:duration_us"`
	}
	if err := e.store.DB(context.Background()).Raw("SELECT * FROM search_requests").Scan(&rows).Error; err != nil {
		e.Fatal(err)
	}
	for _, r := range rows {
		start := int64(0)
		if step > 0 {
			start = r.Time / 1000 / step * step
		}
		for _, who := range []string{"all/", "token/" + r.TokenID, "key/" + r.KeyID} {
			if who == "key/" {
				continue
			}
			name := fmt.Sprintf("%s %d %s", who, start, r.Operation)
			s := out[name]
			s.Credits += r.Credits
			s.LastAt = max(s.LastAt, r.Time)
			switch audit.Outcome(r.Outcome) {
			case audit.Refused:
				s.Refused++
			case audit.Success:
				s.Requests, s.Successes = s.Requests+1, s.Successes+1
			default:
				s.Requests, s.Errors = s.Requests+1, s.Errors+1
			}
			if audit.Outcome(r.Outcome) != audit.Refused {
				s.DurationUS += r.DurationUS
				s.Hist[audit.BucketOf(time.Duration(r.DurationUS)*time.Microsecond)]++
			}
			out[name] = s
		}
	}
	return out
}

func (e *env) stored(step int64) map[string]audit.RequestSums {
	e.Helper()
	rows, err := e.svc.Log.Store.RollupRows(context.Background(), "step = ?", step)
	if err != nil {
		e.Fatal(err)
	}
	out := map[string]audit.RequestSums{}
	for _, r := range rows {
		out[fmt.Sprintf("%s/%s %d %s", r.Scope, r.Subject, r.Start, r.Operation)] = r.RequestSums
	}
	return out
}

// traffic makes requests of all outcomes over a few hours.
func (e *env) traffic(n int) {
	e.Helper()
	e.backend.invoke = func(_ context.Context, req *sdk.Request) (*sdk.Reply, error) {
		if req.Operation == sdk.OpMap {
			return nil, fault.New(fault.UpstreamUnavailable, "No answer.")
		}
		return reply(200, `{}`), nil
	}
	ids := []string{idOf(e.token(&access.Limits{RequestsHour: 4, CreditsHour: 100, CreditsDay: 100, CreditsMonth: 100})), idOf(e.token(nil))}
	for i := range n {
		e.clock.Advance(7 * time.Minute)
		_, _ = e.call(e.svc, ids[i%2], sdk.OpSearch, `{"query":"x"}`)
		_, _ = e.call(e.svc, ids[0], sdk.OpMap, `{"url":"x"}`)
	}
}

func (e *env) compareRollups(when string) {
	e.Helper()
	for _, step := range []int64{audit.StepFine, audit.StepHour, audit.StepEver} {
		if diff := cmp.Diff(e.expected(step), e.stored(step)); diff != "" {
			e.Fatalf("%s: step %d (-rows +roll-ups):\n%s", when, step, diff)
		}
	}
}

func TestRollupsAreTheSumsOfTheRows(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		e := newEnvOn(t, testkit.OpenStore(t, cfg, Migrations()), withKeys)
		e.addKeys("k1", "k2")
		e.traffic(20)
		e.flush()
		e.compareRollups("while it runs")
		if len(e.stored(audit.StepEver)) < 8 {
			t.Fatalf("too little was added up: %v", e.stored(audit.StepEver))
		}

		// A crash: what was added up since the last store is lost with the process.
		e.traffic(9)
		if err := e.svc.FlushRows(t.Context()); err != nil {
			t.Fatal(err)
		}
		e.svc.DropUnstored()
		e.svc = e.start()
		e.compareRollups("after a crash")

		e.svc.Close()
		if at, err := e.svc.Log.Store.ReadMark(t.Context(), audit.MarkRollups); err != nil || at != audit.CleanEnd {
			t.Fatalf("after an end in good order the mark is %d, %v", at, err)
		}
		e.svc = e.start()
		e.compareRollups("after an end in good order")
	})
}

// TestRollupsOfAnOlderDatabase: the first start after the table came adds up what is there.
func TestRollupsOfAnOlderDatabase(t *testing.T) {
	e := newEnv(t)
	e.traffic(5)
	e.flush()
	for _, sql := range []string{"DELETE FROM search_rollups", "DELETE FROM search_marks"} {
		if err := e.store.Tx(t.Context(), "empty", func(ctx context.Context) error { return e.store.Writer(ctx).Exec(sql).Error }); err != nil {
			t.Fatal(err)
		}
	}
	e.svc = e.start()
	e.compareRollups("after the first start")
}

func TestRollupsThatCannotBeStoredAreKept(t *testing.T) {
	e := newEnv(t)
	e.traffic(3)
	if err := e.svc.FlushRows(t.Context()); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.svc.Flush(ended); err == nil {
		t.Fatal("a store that is cancelled must fail")
	}
	e.traffic(2)
	e.flush()
	e.compareRollups("after a failure")
}

func TestFirstID(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		e := newEnvOn(t, testkit.OpenStore(t, cfg, Migrations()))
		ctx := t.Context()
		if id, err := e.svc.Log.Store.FirstID(ctx, searchtest.Noon.UnixMilli()); err != nil || id != 0 && id != 1 {
			t.Fatalf("without rows: %d, %v", id, err)
		}
		id := idOf(e.token(nil))
		for range 40 {
			e.clock.Advance(time.Minute)
			_, _ = e.call(e.svc, id, sdk.OpSearch, `{"query":"x"}`)
		}
		e.flush()
		// A gap in the ids, as the purge leaves none but a crash may.
		if err := e.store.Tx(ctx, "gap", func(ctx context.Context) error {
			return e.store.Writer(ctx).Exec("DELETE FROM search_requests WHERE id > 10 AND id < 20").Error
		}); err != nil {
			t.Fatal(err)
		}
		for minutes := -5; minutes < 50; minutes++ {
			at := searchtest.Noon.Add(time.Duration(minutes) * time.Minute).UnixMilli()
			first, err := e.svc.Log.Store.FirstID(ctx, at)
			if err != nil {
				t.Fatal(err)
			}
			var missed, extra int64
			e.store.DB(ctx).Raw("SELECT COUNT(*) FROM search_requests WHERE time >= ? AND id < ?", at, first).Scan(&missed)
			e.store.DB(ctx).Raw("SELECT COUNT(*) FROM search_requests WHERE time < ? AND id >= ?", at-audit.IdSlack.Milliseconds(),
				first).Scan(&extra)
			if missed != 0 || extra != 0 {
				t.Fatalf("from minute %d: id %d misses %d rows and takes %d too many", minutes, first, missed, extra)
			}
		}
	})
}
