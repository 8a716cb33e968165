package search

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
	"github.com/patchbay-dev/patchbay/core/services/search/internal/searchtest"
	"github.com/patchbay-dev/patchbay/core/store"
)

// TestPointsAreTheSumsOfTheRows compares the points of charts with the audit rows, part of which is in no stored roll-up yet.
func TestPointsAreTheSumsOfTheRows(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		e := newEnvOn(t, testkit.OpenStore(t, cfg, Migrations()), withKeys)
		e.addKeys("k1", "k2")
		e.traffic(12)
		e.flush()
		e.traffic(12)
		if err := e.svc.FlushRows(t.Context()); err != nil {
			t.Fatal(err)
		}
		from, before := searchtest.Noon.Add(30*time.Minute).Unix(), searchtest.Noon.Add(150*time.Minute).Unix()
		for _, shape := range []struct{ step, width int64 }{{audit.StepFine, audit.StepFine}, {audit.StepFine, 1800},
			{audit.StepFine, before - from}, {audit.StepHour, audit.StepHour}} {
			from, before := from-from%shape.step, before-before%shape.step
			want := map[string]audit.RequestSums{}
			for name, sum := range e.expected(shape.step) {
				var start int64
				var operation string
				if n, _ := fmt.Sscanf(name, "all/ %d %s", &start, &operation); n != 2 || start < from || start >= before {
					continue
				}
				addPoint(want, audit.RollupPoint{Start: start - (start-from)%shape.width, Operation: operation, RequestSums: sum})
			}
			points, err := e.svc.PointsOf(t.Context(), audit.ScopeAll, "", shape.step, shape.width, from, before)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]audit.RequestSums{}
			for _, p := range points {
				addPoint(got, p)
			}
			if diff := cmp.Diff(want, got); diff != "" || len(got) < 2 {
				t.Errorf("step %d, width %d: %d points (-rows +points):\n%s", shape.step, shape.width, len(got), diff)
			}
		}
	})
}

// addPoint adds a point to the sums by its time and operation. When its last request was is not compared.
func addPoint(sums map[string]audit.RequestSums, p audit.RollupPoint) {
	name := fmt.Sprintf("%d %s", p.Start, p.Operation)
	sum := sums[name]
	sum.AddScaled(&p.RequestSums, 1)
	sum.LastAt = 0
	sums[name] = sum
}

// TestTotals: the totals of a window are those of its chart.
func TestTotals(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		e := newEnvOn(t, testkit.OpenStore(t, cfg, Migrations()))
		if has, err := e.svc.HasTokens(t.Context()); err != nil || has {
			t.Fatalf("without a token: %v, %v", has, err)
		}
		e.traffic(22)
		e.flush()
		if has, err := e.svc.HasTokens(t.Context()); err != nil || !has {
			t.Fatalf("with tokens: %v, %v", has, err)
		}
		for window := range audit.ChartWindows() {
			chart, err := e.svc.Chart(t.Context(), window)
			if err != nil {
				t.Fatal(err)
			}
			totals, err := e.svc.Totals(t.Context(), window)
			if diff := cmp.Diff(chart.Total, totals); err != nil || diff != "" || totals.Requests == 0 || totals.P95MS == 0 {
				t.Errorf("%s: %v (-chart +totals):\n%s", window, err, diff)
			}
		}
		if _, err := e.svc.Totals(t.Context(), "1y"); fault.CodeOf(err) != fault.InvalidRequest {
			t.Errorf("a window that there is not: %v", err)
		}
	})
}
