package containers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

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
func (s *spy) watch(t testing.TB, db *gorm.DB) {
	t.Helper()
	note := func(db *gorm.DB) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if text := db.Statement.SQL.String(); s.on && text != "" {
			s.seen = append(s.seen, statement{text, db.Statement.Vars})
		}
	}
	for _, err := range []error{
		db.Callback().Query().After("*").Register("spy", note), db.Callback().Row().After("*").Register("spy", note), db.Callback().Raw().After("*").Register("spy", note),
		db.Callback().Update().After("*").Register("spy", note), db.Callback().Delete().After("*").Register("spy", note),
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

// filling are the rows of a table: n rows with the columns of values, in which i counts and ? is the time.
type filling struct {
	table, columns, values string
	rows                   int
}

func fillings() []filling {
	return []filling{
		{"containers_stacks", "id, project, working_dir, created_at, updated_at", "'stk' || (i - 1), 'p' || i, '/x', ?, 1", 501},
		{"containers_services", "id, stack_id, name, image, repo, tag, pinned, mounts, profiles, state, min_age, created_at, updated_at, auto_rollback, backup_targets",
			"'svc' || i, 'stk' || (i / 10), 's' || i, 'registry.example/a/r' || i || ':1', 'registry.example/a/r' || i, '1', '', '[]', '[]', 'running', -1, ?, 1, %s, '{}'", 5_000},
		{"containers_changes", "id, job_id, kind, stack_id, service_id, status, step, image, started_at",
			"'chg' || i, 'job' || i, 'update', 'stk' || (i % 5000 / 10), 'svc' || (i % 5000), 'success', 'done', 'x', i + 0 * ?", 50_000},
		{"containers_backups", "id, stack_id, service_id, job_id, kind, target, destination, status, created_at, cleanup_after, deleted_at",
			"'bkp' || i, 'stk1', 'svc' || (i % 5000), 'job' || i, 'docker-volume', 'data', '/data', 'success', i + 0 * ?, i, CASE WHEN i % 100 = 0 THEN 0 ELSE 5 END", 50_000},
		{"containers_samples", "service_id, at, cpu, mem_used, mem_limit, net_rx, net_tx, block_read, block_write, pids, containers",
			"'svc' || (i % 100), ? - 5000 * (i / 100), 1, 1, 1, 1, 1, 1, 1, 1, 1", 300_000},
		{"containers_deliveries", "delivery_id, first_at, last_at, decision, status", "'d' || i, ? - 1000 * i, 5 + i, 'processed', 202", 50_000},
		{"containers_delivery_events", "at, data", "? - 1000 * i, '{}'", 50_000},
		{"containers_snapshots", "repo, digest, platform, tags, scan, checked_at", "'r' || i, 'd' || i, 'linux/amd64', '[]', '{}', ? - i", 10_000},
	}
}

func fill(t testing.TB, st *store.Store, now int64) {
	t.Helper()
	for _, f := range fillings() {
		series, from, yes := fmt.Sprintf("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < %d) ", f.rows), "n", "1"
		if st.Dialect() == store.Postgres {
			series, from, yes = "", fmt.Sprintf("generate_series(1, CAST(%d AS BIGINT)) AS n(i)", f.rows), "TRUE"
		}
		values := strings.ReplaceAll(strings.ReplaceAll(f.values, "?", fmt.Sprintf("CAST(%d AS BIGINT)", now)), "%s", yes)
		err := st.Tx(context.Background(), "fill", func(ctx context.Context) error {
			return st.Writer(ctx).Exec("INSERT INTO " + f.table + " (" + f.columns + ") " + series + "SELECT " + values + " FROM " + from).Error
		})
		if err != nil {
			t.Fatalf("%s: %v", f.table, err)
		}
	}
	if err := st.Tx(context.Background(), "analyze", func(ctx context.Context) error { return st.Writer(ctx).Exec("ANALYZE").Error }); err != nil {
		t.Fatal(err)
	}
}

// scanned are the big tables that a statement reads from end to end, with what the database says about it.
func scanned(t testing.TB, st *store.Store, s statement) (tables []string, text string) {
	t.Helper()
	explain := "EXPLAIN QUERY PLAN "
	if st.Dialect() == store.Postgres {
		explain = "EXPLAIN "
	}
	err := st.Tx(context.Background(), "explain", func(ctx context.Context) error {
		rows, err := st.Writer(ctx).Statement.ConnPool.QueryContext(ctx, explain+s.sql, s.vars...)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var line string
			var a, b, c int
			into := []any{&line}
			if st.Dialect() != store.Postgres {
				into = []any{&a, &b, &c, &line}
			}
			if err := rows.Scan(into...); err != nil {
				return err
			}
			text += line + "\n"
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatalf("explain %s: %v", s.sql, err)
	}
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		for _, f := range fillings() {
			if f.rows < 1000 {
				continue
			}
			// An index that is read in its order is no scan of the table, as long as a limit ends it.
			whole := strings.HasPrefix(line, "SCAN "+f.table) && (!strings.Contains(line, " INDEX ") || !strings.Contains(s.sql, "LIMIT"))
			if whole || strings.Contains(line, "Seq Scan on "+f.table) {
				tables = append(tables, f.table)
			}
		}
	}
	return tables, text
}

// TestNoQueryScans: with many rows the lookups of the service find theirs by an index.
func TestNoQueryScans(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		st := testkit.OpenStore(t, cfg, allMigrations()...)
		now := time.Now().UnixMilli()
		fill(t, st, now)
		// Before anything else uses the handles: registering is not for handles in use.
		var watched spy
		watched.watch(t, st.DB(t.Context()))
		if err := st.Tx(t.Context(), "watch", func(ctx context.Context) error { watched.watch(t, st.Writer(ctx)); return nil }); err != nil {
			t.Fatal(err)
		}
		e := newEnvOn(t, st)
		ctx, r := t.Context(), e.svc.repo
		old := now - 24*3600*1000*8
		for name, query := range map[string]func() error{
			"a service":            func() error { _, err := r.serviceByID(ctx, "svc77"); return err },
			"services of a stack":  func() error { _, err := r.servicesOf(ctx, "stk7"); return err },
			"services of a repo":   func() error { _, err := r.servicesOfRepo(ctx, "registry.example/a/r77"); return err },
			"history":              func() error { _, err := r.changesOf(ctx, "svc77", 50); return err },
			"last change":          func() error { _, err := r.lastChange(ctx, &serviceRecord{ID: "svc77"}); return err },
			"open changes":         func() error { _, err := r.openChanges(ctx, "job77"); return err },
			"change of a job":      func() error { _, err := r.changeOf(ctx, "job77", "svc77"); return err },
			"backups of a service": func() error { _, err := r.backupsOf(ctx, "svc77", 100); return err },
			"open backups":         func() error { return r.failOpenBackups(ctx, "job77", "svc77", now) },
			"due backups":          func() error { _, err := r.dueBackups(ctx, 1000, &backupRecord{}); return err },
			"short history":        func() error { _, err := e.svc.ResourceHistory(ctx, "svc77", "3m"); return err },
			"long history":         func() error { _, err := e.svc.ResourceHistory(ctx, "svc77", "24h"); return err },
			"use of all":           func() error { _, err := e.svc.ResourceOverview(ctx); return err },
			"snapshot":             func() error { _, err := r.snapshotByKey(ctx, inferKey{"r77", "d77", "linux/amd64"}); return err },
			"delivery events":      func() error { _, err := r.deliveryEvents(ctx, 49_990); return err },
			"last delivery event":  func() error { _, err := r.lastDeliveryEvent(ctx); return err },
			"old samples":          func() error { _, err := r.deleteSome(ctx, "containers_samples", "at", old); return err },
			"old deliveries":       func() error { _, err := r.deleteSome(ctx, "containers_deliveries", "last_at", 10); return err },
			"old delivery events":  func() error { _, err := r.deleteSome(ctx, "containers_delivery_events", "at", old); return err },
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
				tables, text := scanned(t, st, s)
				if len(tables) > 0 {
					t.Errorf("%s: %s\nscans %v:\n%s", name, s.sql, slices.Compact(tables), text)
				}
			}
		}
	})
}
