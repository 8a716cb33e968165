package testkit_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
)

// probe records what Require does to a test.
type probe struct {
	testing.TB
	skipped, failed bool
}

func (p *probe) Helper()               {}
func (p *probe) Skipf(string, ...any)  { p.skipped = true }
func (p *probe) Fatalf(string, ...any) { p.failed = true; panic(p) }

func (p *probe) run(f func(testing.TB)) {
	defer func() { _ = recover() }()
	f(p)
}

func TestRequire(t *testing.T) {
	tests := []struct {
		name            string
		env             string
		ok              bool
		skipped, failed bool
	}{
		{"there", "", true, false, false},
		{"missing", "", false, true, false},
		{"missing and required", "all", false, false, true},
		{"there and required", "all", true, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv(testkit.EnvRequire, tt.env)
			p := &probe{TB: t}
			p.run(func(tb testing.TB) { testkit.Require(tb, "thing", tt.ok, "install it") })
			if p.skipped != tt.skipped || p.failed != tt.failed {
				t.Errorf("skipped %v failed %v", p.skipped, p.failed)
			}
		})
	}
}

func TestEventually(t *testing.T) {
	var n atomic.Int32
	testkit.Eventually(t, time.Second, func() bool { return n.Add(1) == 3 }, "three looks")
	p := &probe{TB: t}
	p.run(func(tb testing.TB) { testkit.Eventually(tb, time.Millisecond, func() bool { return false }, "never") })
	if !p.failed {
		t.Error("a condition that never holds must fail the test")
	}
}

func TestPostgresIsEmptyAndOwn(t *testing.T) {
	first, second := testkit.Postgres(t), testkit.Postgres(t)
	if first == second {
		t.Fatal("two databases must differ")
	}
	conn, err := pgx.Connect(context.Background(), first)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var n int
	if err := conn.QueryRow(context.Background(), "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").Scan(&n); err != nil ||
		n != 0 {
		t.Fatalf("%d tables, %v", n, err)
	}
}

func TestOverlap(t *testing.T) {
	cfg := testkit.PostgresConfig(t)
	st := testkit.OpenStore(t, cfg)
	change := func(sql string) func() error {
		return func() error {
			return st.Tx(t.Context(), "change", func(ctx context.Context) error { return st.Writer(ctx).Exec(sql).Error })
		}
	}
	for _, sql := range []string{"CREATE TABLE tallies (id INT PRIMARY KEY, n INT NOT NULL)", "INSERT INTO tallies VALUES (1, 1), (2, 1)"} {
		testkit.Must(t, change(sql)())
	}
	first, second := testkit.Overlap(t, cfg, "SELECT n FROM tallies WHERE id = 1 FOR UPDATE",
		change("UPDATE tallies SET n = n + (SELECT n FROM tallies WHERE id = 2) WHERE id = 1"), change("UPDATE tallies SET n = 5 WHERE id = 2"))
	testkit.Must(t, first)
	testkit.Must(t, second)
	var got int
	testkit.Must(t, st.DB(t.Context()).Raw("SELECT n FROM tallies WHERE id = 1").Scan(&got).Error)
	if got != 2 {
		t.Errorf("the first has added %d: it began after the second", got-1)
	}
}
