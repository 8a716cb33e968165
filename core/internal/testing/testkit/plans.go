package testkit

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/store"
)

// Statement is an SQL statement with its values.
type Statement struct {
	SQL  string
	Vars []any
}

// StatementLog keeps the statements of a store that go through gorm.
type StatementLog struct {
	mu      sync.Mutex
	logging bool
	seen    []Statement
}

// WatchStatements returns a log of the statements of a store, which nothing else may use yet.
func WatchStatements(t testing.TB, st *store.Store) *StatementLog {
	t.Helper()
	l := &StatementLog{}
	l.watchHandle(t, st.DB(context.Background()))
	Must(t, st.Tx(context.Background(), "watch", func(ctx context.Context) error { l.watchHandle(t, st.Writer(ctx)); return nil }))
	return l
}

// watchHandle has a handle, and all that share its configuration, tell the log of their statements.
func (l *StatementLog) watchHandle(t testing.TB, db *gorm.DB) {
	t.Helper()
	note := func(db *gorm.DB) {
		l.mu.Lock()
		defer l.mu.Unlock()
		// Savepoints have no plan, and a part of another statement is built as if it were to run.
		text := db.Statement.SQL.String()
		if l.logging && text != "" && !db.DryRun && !strings.Contains(text, "SAVEPOINT ") {
			l.seen = append(l.seen, Statement{text, db.Statement.Vars})
		}
	}
	on := db.Callback()
	for _, err := range []error{
		on.Query().After("*").Register("log", note), on.Row().After("*").Register("log", note), on.Raw().After("*").Register("log", note),
		on.Update().After("*").Register("log", note), on.Delete().After("*").Register("log", note),
	} {
		Must(t, err)
	}
}

// During returns the statements that are made while f runs.
func (l *StatementLog) During(f func()) []Statement {
	l.mu.Lock()
	l.logging, l.seen = true, nil
	l.mu.Unlock()
	f()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.logging = false
	return l.seen
}

// FillTable inserts rows into columns of a table. Values is a list of SQL expressions, in which i counts from 1 to count. Analyze follows
// the last.
func FillTable(t testing.TB, st *store.Store, table, columns, values string, count int) {
	t.Helper()
	sql := fmt.Sprintf("INSERT INTO %s (%s) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < %d) SELECT %s FROM n",
		table, columns, count, values)
	if st.Dialect() == store.Postgres {
		sql = fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM generate_series(1, CAST(%d AS BIGINT)) AS n(i)", table, columns, values, count)
	}
	Execute(t, st, sql)
}

// Analyze has PostgreSQL look at how its tables are filled, as it does itself in time. SQLite makes its plans without: nothing has it look.
func Analyze(t testing.TB, st *store.Store) {
	t.Helper()
	if st.Dialect() == store.Postgres {
		Execute(t, st, "ANALYZE")
	}
}

// Execute runs a statement that changes the database.
func Execute(t testing.TB, st *store.Store, sql string) {
	t.Helper()
	err := st.Tx(context.Background(), "change", func(ctx context.Context) error { return st.Writer(ctx).Exec(sql).Error })
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// Explain returns the plan of the database for a statement, a line for each step. The names of ways that PostgreSQL shall avoid, such as
// seqscan, stand for tables that are too small for another way.
func Explain(t testing.TB, st *store.Store, s Statement, avoided ...string) string {
	t.Helper()
	explain, line := "EXPLAIN QUERY PLAN ", ""
	columns := []any{new(int), new(int), new(int), &line}
	if st.Dialect() == store.Postgres {
		explain, columns = "EXPLAIN ", []any{&line}
	}
	var plan strings.Builder
	err := st.Tx(context.Background(), "explain", func(ctx context.Context) error {
		for _, way := range avoided {
			if st.Dialect() != store.Postgres {
				break
			}
			if err := st.Writer(ctx).Exec("SET LOCAL enable_" + way + " = off").Error; err != nil {
				return err
			}
		}
		rows, err := st.Writer(ctx).Statement.ConnPool.QueryContext(ctx, explain+s.SQL, s.Vars...)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			if err := rows.Scan(columns...); err != nil {
				return err
			}
			fmt.Fprintln(&plan, line)
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatalf("explain %s: %v", s.SQL, err)
	}
	return plan.String()
}

// ScannedTables returns those of the tables that a plan reads from end to end. With indexes it is no scan to read an index in its order,
// as where a limit ends it or the index holds few rows.
func ScannedTables(plan string, indexes bool, tables ...string) (scanned []string) {
	for _, table := range tables {
		for line := range strings.SplitSeq(plan, "\n") {
			line = strings.TrimSpace(line) + " "
			whole := strings.HasPrefix(line, "SCAN "+table+" ") && !(indexes && strings.Contains(line, " INDEX "))
			if whole || strings.Contains(line, "Seq Scan on "+table+" ") {
				scanned = append(scanned, table)
				break
			}
		}
	}
	return scanned
}

// CheckScans fails the test for each query with a statement that reads one of the tables, or an index of one without a limit, from end to
// end, and for each that makes no statement.
func (l *StatementLog) CheckScans(t testing.TB, st *store.Store, queries map[string]func() error, tables ...string) {
	t.Helper()
	for name, query := range queries {
		seen := l.During(func() {
			if err := query(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
		if len(seen) == 0 {
			t.Errorf("%s: no statement was seen", name)
		}
		for _, s := range seen {
			plan := Explain(t, st, s)
			if scanned := ScannedTables(plan, strings.Contains(s.SQL, "LIMIT"), tables...); len(scanned) > 0 {
				t.Errorf("%s: %s\nscans %v:\n%s", name, s.SQL, scanned, plan)
			}
		}
	}
}
