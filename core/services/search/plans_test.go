package search

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

// spy keeps the statements that go through gorm.
type spy struct {
	mu   sync.Mutex
	on   bool
	seen []statement
}

type statement struct {
	sql  string
	vars []any
}

// watch registers the spy on a handle and all that share its configuration.
func (s *spy) watch(t *testing.T, db *gorm.DB) {
	t.Helper()
	note := func(db *gorm.DB) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if text := db.Statement.SQL.String(); s.on && text != "" {
			s.seen = append(s.seen, statement{text, db.Statement.Vars})
		}
	}
	for _, err := range []error{
		db.Callback().Query().After("*").Register("spy", note), db.Callback().Row().After("*").Register("spy", note),
		db.Callback().Raw().After("*").Register("spy", note), db.Callback().Update().After("*").Register("spy", note),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func (s *spy) during(f func()) []statement {
	s.mu.Lock()
	s.on, s.seen = true, nil
	s.mu.Unlock()
	f()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.on = false
	return s.seen
}

// fill makes 10,000 tokens, audit rows of that many requests, one a second, and half an hour of use.
func fill(t testing.TB, st *store.Store, requests int) {
	t.Helper()
	series := "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < ?) "
	from := "FROM n"
	if st.Dialect() == store.Postgres {
		series, from = "", "FROM generate_series(1, CAST(? AS BIGINT)) AS n(i)"
	}
	now := noon.UnixMilli()
	for _, q := range []struct {
		insert, values string
		rows           int
	}{
		{"search_tokens (id, hash, sealed, enabled, note, group_name, owner_id, expires_at, created_at, updated_at, deleted_at)",
			"'t' || i, 'h', 's', TRUE, '', '', '', 0, CAST(? AS BIGINT), CAST(? AS BIGINT), 0", 10_000},
		{"search_requests (id,time,request_id,token_id,key_id,backend,operation,outcome,status,upstream_status,credits,duration_us,upstream_us,plugin_us,attempts,request_bytes,response_bytes,client,error_code)",
			fmt.Sprintf("i, CAST(? AS BIGINT) - (%d - i) * 1000 + 0 * CAST(? AS BIGINT), 'r' || i, 't' || (i %% 10000), 'k', 'search.web', 'search', 1, 200, 200, 1, 9, 9, 9, 1, 9, 9, '127.0.0.1', ''", requests), requests},
		{"quota_usage (token_id, minute, requests, credits, successes, errors, refused)",
			"'t' || (i % 10000), CAST(? AS BIGINT) / 60000 - i / 10000 + 0 * CAST(? AS BIGINT), 1, 1, 1, 0, 0", 300_000},
		{"search_research (resource_id, token_id, key_id, created_at)", "'x' || i, 't1', 'k', CAST(? AS BIGINT) + 0 * CAST(? AS BIGINT)", 10_000},
	} {
		err := st.Tx(context.Background(), "fill", func(ctx context.Context) error {
			sql := "INSERT INTO " + q.insert + " " + series + "SELECT " + q.values + " " + from
			args := []any{q.rows, now, now}
			if st.Dialect() == store.Postgres {
				args = []any{now, now, q.rows}
			}
			return st.Writer(ctx).Exec(sql, args...).Error
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	// The last process has ended well: there are no roll-ups to make anew.
	if err := (&repository{st}).setMark(context.Background(), markRollups, cleanEnd); err != nil {
		t.Fatal(err)
	}
	if err := st.Tx(context.Background(), "analyze", func(ctx context.Context) error { return st.Writer(ctx).Exec("ANALYZE").Error }); err != nil {
		t.Fatal(err)
	}
}

// plan is what the database says it will do; scans are the tables that it reads from end to end.
func plan(t *testing.T, st *store.Store, s statement) (text string, scans bool) {
	t.Helper()
	text, table := explain(t, st, s, false)
	switch table {
	case "search_tokens", "search_keys", "search_bodies":
		// PostgreSQL reads a table of a few pages whole although it has an index: is there one that fits?
		if st.Dialect() == store.Postgres {
			_, table = explain(t, st, s, true)
		}
	}
	return text, table != ""
}

// explain names the table that is read from end to end. avoid has PostgreSQL do so only where nothing else is left.
func explain(t *testing.T, st *store.Store, s statement, avoid bool) (text, scanned string) {
	t.Helper()
	err := st.Tx(t.Context(), "explain", func(ctx context.Context) error {
		if st.Dialect() == store.Postgres {
			var lines []string
			if avoid {
				if err := st.Writer(ctx).Exec("SET LOCAL enable_seqscan = off").Error; err != nil {
					return err
				}
			}
			rows, err := st.Writer(ctx).Statement.ConnPool.QueryContext(ctx, "EXPLAIN "+s.sql, s.vars...)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				var line string
				if err := rows.Scan(&line); err != nil {
					return err
				}
				lines = append(lines, line)
			}
			text = strings.Join(lines, "\n")
			return rows.Err()
		}
		rows, err := st.Writer(ctx).Statement.ConnPool.QueryContext(ctx, "EXPLAIN QUERY PLAN "+s.sql, s.vars...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				return err
			}
			text += detail + "\n"
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatalf("explain %s: %v", s.sql, err)
	}
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		for _, table := range []string{"search_tokens", "search_requests", "quota_usage", "search_research", "search_bodies", "search_keys", "search_key_events", "search_rollups"} {
			// An index that is read in its order is no scan of the table: a partial one holds what is wanted, a page ends it soon.
			whole := strings.HasPrefix(line, "SCAN "+table) && !strings.Contains(line, " INDEX ")
			if whole || strings.Contains(line, "Seq Scan on "+table) {
				return text, table
			}
		}
	}
	return text, ""
}

// TestNoQueryScans: with 10,000 tokens and 100,000 audit rows every query of the service finds its rows by an index,
// and a request with a known token makes none.
func TestNoQueryScans(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		st := testkit.OpenStore(t, cfg, Migrations())
		fill(t, st, 100_000)
		fillAdmin(t, st)
		e := newEnvOn(t, st)
		var watched spy
		watched.watch(t, st.DB(t.Context()))
		err := st.Tx(t.Context(), "watch", func(ctx context.Context) error {
			watched.watch(t, st.Writer(ctx))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, r := t.Context(), e.svc.repo
		minute := noon.Unix() / 60
		for name, query := range map[string]func() error{
			"unknown token":   func() error { _, _ = r.findToken(ctx, "nope"); return nil },
			"changed tokens":  func() error { _, err := r.tokensSince(ctx, noon.UnixMilli()+1); return err },
			"research":        func() error { _, err := r.findResearch(ctx, "x5", noon.Add(-time.Hour)); return err },
			"last request":    func() error { _, err := r.lastRequestID(ctx); return err },
			"open requests":   func() error { _, err := r.closeInterrupted(ctx); return err },
			"use of the hour": func() error { _, err := r.usageSince(ctx, minute-2); return err },
			"use of the day":  func() error { _, err := r.usageSums(ctx, minute-4, minute-2); return err },
			"old rows": func() error {
				old := noon.Add(-300 * time.Hour)
				_, err := r.purgeBefore(ctx, cutoffs{rows: old, usage: old, research: old}, 100)
				return err
			},
		} {
			seen := watched.during(func() {
				if err := query(); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
			if len(seen) == 0 {
				t.Errorf("%s: no statement was seen", name)
			}
			for _, s := range seen {
				if text, scans := plan(t, st, s); scans {
					t.Errorf("%s: %s\nscans:\n%s", name, s.sql, text)
				}
			}
		}
		e.adminScans(t, &watched)
		e.requestMakesNoQuery(t, &watched)
	})
}

func (e *env) requestMakesNoQuery(t *testing.T, watched *spy) {
	t.Helper()
	token := e.token(nil)
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.POST("/search", e.svc.handlePost("search"))
	seen := watched.during(func() {
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
		t.Errorf("a request with a known token made the query %s", seen[0].sql)
	}
}
