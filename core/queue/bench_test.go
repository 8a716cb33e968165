package queue_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
)

// manyJobs is how many jobs the lists are taken from.
const manyJobs = 100_000

// benchStores runs a benchmark on SQLite, and on PostgreSQL where there is one.
func benchStores(b *testing.B, bench func(b *testing.B, st *store.Store)) {
	configs := map[string]func(testing.TB) store.Config{"sqlite": testkit.SQLiteConfig, "postgres": testkit.PostgresConfig}
	for _, name := range []string{"sqlite", "postgres"} {
		b.Run(name, func(b *testing.B) { bench(b, testkit.OpenStore(b, configs[name](b), queue.Migrations())) })
	}
}

// benchQueues is benchStores with a queue.
func benchQueues(b *testing.B, bench func(b *testing.B, st *store.Store, q *queue.Queue)) {
	benchStores(b, func(b *testing.B, st *store.Store) {
		q, err := queue.New(queue.Config{Store: st, Bus: event.NewBus()})
		if err != nil {
			b.Fatal(err)
		}
		bench(b, st, q)
	})
}

// fill adds finished jobs of ten types, a hundredth of them failed, each with two tags.
func fill(b *testing.B, st *store.Store) {
	b.Helper()
	const numbers = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) `
	const name = `'job_' || substr('00000000' || i, -8)`
	jobID := name
	if st.Dialect() == store.Postgres {
		jobID = `'job_' || lpad(i::text, 8, '0')`
	}
	statements := []string{
		`INSERT INTO jobs (id, type, state, payload, result, run_at, created_at, started_at, finished_at) ` + numbers + `SELECT ` + jobID +
			`, 'type' || (i % 10), CASE WHEN i % 100 = 7 THEN 'failed' ELSE 'success' END, '{"scope":"service"}', '{"ok":true}', i, i, i, i FROM n`,
		`INSERT INTO job_tags (tag, created_at, job_id) ` + numbers + `SELECT 'svc_' || (i % 200), i, ` + jobID + ` FROM n`,
		`INSERT INTO job_tags (tag, created_at, job_id) ` + numbers + `SELECT 'stk_' || (i % 50), i, ` + jobID + ` FROM n`,
	}
	err := st.Tx(b.Context(), "fill", func(ctx context.Context) error {
		for _, statement := range statements {
			if err := st.Writer(ctx).Exec(statement, manyJobs).Error; err != nil {
				return err
			}
		}
		if st.Dialect() == store.Postgres {
			return st.Writer(ctx).Exec("ANALYZE").Error
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkListJobs compares a page of List with its statement by itself, one after the other in the same run.
func BenchmarkListJobs(b *testing.B) {
	filters := map[string]queue.Filter{
		"all": {}, "type": {Types: []string{"type3"}}, "types": {Types: []string{"type1", "type2", "type3", "type4"}},
		"types+states": {Types: []string{"type7", "type8"}, States: []queue.State{queue.Failed, queue.Running}},
		"tag":          {Tags: []string{"svc_7"}}, "tags": {Tags: []string{"svc_7", "stk_7"}},
	}
	benchQueues(b, func(b *testing.B, st *store.Store, q *queue.Queue) {
		fill(b, st)
		for _, name := range []string{"all", "type", "types", "types+states", "tag", "tags"} {
			f := filters[name]
			b.Run(name, func(b *testing.B) {
				statement, args := f.Query(false, 51)
				dry := st.DB(b.Context()).Raw(statement, args...)
				raw, listed := make([]time.Duration, 0, b.N), make([]time.Duration, 0, b.N)
				for b.Loop() {
					begun := time.Now()
					if n := rawPage(b, dry.Statement.ConnPool.(querier), dry.Statement.SQL.String(), dry.Statement.Vars); n != 51 {
						b.Fatalf("%d rows", n)
					}
					half := time.Now()
					jobs, next, err := q.List(b.Context(), f, "", 50)
					if err != nil || len(jobs) != 50 || next == "" {
						b.Fatalf("%d jobs, %q, %v", len(jobs), next, err)
					}
					raw, listed = append(raw, half.Sub(begun)), append(listed, time.Since(half))
				}
				report(b, "raw", raw)
				report(b, "list", listed)
				b.ReportMetric(float64(quantile(listed, 0.5))/float64(quantile(raw, 0.5)), "list/raw")
			})
		}
	})
}

// querier is what runs a statement without gorm.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func rawPage(b *testing.B, db querier, statement string, args []any) (n int) {
	b.Helper()
	rows, err := db.QueryContext(b.Context(), statement, args...)
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		b.Fatal(err)
	}
	values := make([]any, len(columns))
	for i := range values {
		values[i] = new(sql.RawBytes)
	}
	for ; rows.Next(); n++ {
		if err := rows.Scan(values...); err != nil {
			b.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		b.Fatal(err)
	}
	return n
}

func quantile(d []time.Duration, p float64) time.Duration {
	sorted := slices.Sorted(slices.Values(d))
	return sorted[min(len(sorted)-1, int(p*float64(len(sorted))))]
}

func report(b *testing.B, name string, d []time.Duration) {
	b.ReportMetric(float64(quantile(d, 0.5))/float64(time.Microsecond), name+"-p50-µs")
	b.ReportMetric(float64(quantile(d, 0.95))/float64(time.Microsecond), name+"-p95-µs")
}

// BenchmarkFollowAll is the time from the begin of a submission until each of 100 followers has its event.
func BenchmarkFollowAll(b *testing.B) {
	const followers = 100
	benchQueues(b, func(b *testing.B, _ *store.Store, q *queue.Queue) {
		got := make(chan time.Time, followers)
		for range followers {
			events, err := q.FollowAll(b.Context(), 0)
			if err != nil {
				b.Fatal(err)
			}
			go func() {
				for range events {
					got <- time.Now()
				}
			}()
		}
		var committed, each []time.Duration
		i := 0
		for b.Loop() {
			begun := time.Now()
			if _, _, err := q.Submit(b.Context(), queue.Submission{Type: "x", DedupKey: fmt.Sprint(i)}); err != nil {
				b.Fatal(err)
			}
			committed = append(committed, time.Since(begun))
			for range followers {
				each = append(each, (<-got).Sub(begun))
			}
			i++
		}
		report(b, "submit", committed)
		report(b, "event", each)
	})
}
