package search

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
	"github.com/patchbay-dev/patchbay/core/services/search/internal/searchtest"
	"github.com/patchbay-dev/patchbay/core/store"
)

// fill makes 10,000 tokens, audit rows of that many requests, one a second, and half an hour of use.
func fill(t testing.TB, st *store.Store, requests int) {
	t.Helper()
	now := searchtest.Noon.UnixMilli()
	testkit.FillTable(t, st, "search_tokens",
		"id, hash, sealed, enabled, note, group_name, owner_id, expires_at, created_at, updated_at, deleted_at",
		fmt.Sprintf("'t' || i, 'h', 's', TRUE, '', '', '', 0, %d, %d, 0", now, now), 10_000)
	testkit.FillTable(t, st, "search_requests",
		"id,time,request_id,token_id,key_id,backend,operation,outcome,status,upstream_status,credits,duration_us,upstream_us,plugin_us,attempts,request_bytes,response_bytes,client,error_code",
		fmt.Sprintf("i, %d - (%d - i) * 1000, 'r' || i, 't' || (i %% 10000), 'k', 'search.web', 'search', 1, 200, 200, 1, 9, 9, 9, 1, 9, 9, '127.0.0.1', ''", now, requests), requests)
	testkit.FillTable(t, st, "quota_usage", "token_id, minute, requests, credits, successes, errors, refused",
		fmt.Sprintf("'t' || (i %% 10000), %d - i / 10000, 1, 1, 1, 0, 0", now/60000), 300_000)
	testkit.FillTable(t, st, "search_research", "resource_id, token_id, key_id, created_at", fmt.Sprintf("'x' || i, 't1', 'k', %d", now),
		10_000)
	testkit.Analyze(t, st)
	// The last process has ended well: there are no roll-ups to make anew.
	if err := audit.NewStore(st).SetMark(context.Background(), audit.MarkRollups, audit.CleanEnd); err != nil {
		t.Fatal(err)
	}
}

// checkScan fails the test if a statement of a query reads a table from end to end. An index that is read in its order is no scan: a
// partial one holds what is wanted, a page ends it soon.
func checkScan(t *testing.T, st *store.Store, name string, s testkit.Statement) {
	t.Helper()
	plan := testkit.Explain(t, st, s)
	scanned := testkit.ScannedTables(plan, true, "search_requests", "quota_usage", "search_research", "search_key_events", "search_rollups")
	// PostgreSQL reads a table of a few pages whole although it has an index: is there one that fits?
	small := testkit.Explain(t, st, s, "seqscan")
	scanned = append(scanned, testkit.ScannedTables(small, true, "search_tokens", "search_keys", "search_bodies")...)
	if len(scanned) > 0 {
		t.Errorf("%s: %s\nscans %v:\n%s\n%s", name, s.SQL, scanned, plan, small)
	}
}

// TestNoQueryScans: with 10,000 tokens and 100,000 audit rows every query of the service finds its rows by an index,
// and a request with a known token makes none.
func TestNoQueryScans(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		st := testkit.OpenStore(t, cfg, Migrations())
		fill(t, st, 100_000)
		fillAdmin(t, st)
		statements := testkit.WatchStatements(t, st)
		e := newEnvOn(t, st)
		ctx, r, toks := t.Context(), e.svc.Log.Store, e.svc.Access.Store
		minute := searchtest.Noon.Unix() / 60
		for name, query := range map[string]func() error{
			"unknown token":   func() error { _, _, _ = toks.FindToken(ctx, "nope"); return nil },
			"changed tokens":  func() error { _, err := toks.TokensSince(ctx, searchtest.Noon.UnixMilli()+1); return err },
			"research":        func() error { _, _, err := r.FindResearch(ctx, "x5", searchtest.Noon.Add(-time.Hour)); return err },
			"last request":    func() error { _, err := r.LastRequestID(ctx); return err },
			"open requests":   func() error { _, err := r.CloseInterrupted(ctx); return err },
			"use of the hour": func() error { _, err := toks.UsageSince(ctx, minute-2, nil); return err },
			"use of the day":  func() error { _, err := toks.UsageSums(ctx, minute-4, minute-2, nil); return err },
			"old rows": func() error {
				old := searchtest.Noon.Add(-300 * time.Hour)
				_, err := r.PurgeBefore(ctx, audit.Cutoffs{Rows: old, Usage: old, Research: old}, 100)
				return err
			},
		} {
			seen := statements.During(func() {
				if err := query(); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
			if len(seen) == 0 {
				t.Errorf("%s: no statement was seen", name)
			}
			for _, s := range seen {
				checkScan(t, st, name, s)
			}
		}
		e.adminScans(t, statements)
		e.requestMakesNoQuery(t, statements)
	})
}

func (e *env) requestMakesNoQuery(t *testing.T, statements *testkit.StatementLog) {
	t.Helper()
	token := e.token(nil)
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.POST("/search", e.svc.api.Proxy.HandlePost("search"))
	seen := statements.During(func() {
		for range 20 {
			req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/search", strings.NewReader(`{"query":"a"}`))
			req.Header.Set("Authorization", "Bearer "+token)
			w := httptest.NewRecorder()
			if engine.ServeHTTP(w, req); w.Code != http.StatusOK {
				t.Fatalf("answer %d %s", w.Code, w.Body)
			}
		}
	})
	if len(seen) > 0 {
		t.Errorf("a request with a known token made the query %s", seen[0].SQL)
	}
}
