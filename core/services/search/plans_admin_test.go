package search

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
	"github.com/patchbay-dev/patchbay/core/services/search/internal/searchtest"
	"github.com/patchbay-dev/patchbay/core/services/search/keys"
	"github.com/patchbay-dev/patchbay/core/store"
)

// fillAdmin adds to fill what administrators look at: groups and owners of tokens, a thousand upstream keys with their
// histories, requests of several kinds, and the roll-ups of a month.
func fillAdmin(t testing.TB, st *store.Store) {
	t.Helper()
	bytes := "BLOB"
	if st.Dialect() == store.Postgres {
		bytes = "BYTEA"
	}
	now := searchtest.Noon.UnixMilli()
	hour := searchtest.Noon.Unix() / audit.StepHour * audit.StepHour
	zeros := ", 1, 1, 0, 0, 1, 1000, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0"
	rollup := "scope,subject,step,start,operation,requests,successes,errors,refused,credits,duration_us,last_at,h0,h1,h2,h3,h4,h5,h6,h7,h8,h9,h10,h11,h12,h13"
	testkit.FillTable(t, st, "search_keys", "id, hash, sealed, group_name, state, reason, until, created_at, updated_at, deleted_at",
		fmt.Sprintf("'k' || i, CAST('h' || i AS "+bytes+"), 's', 'g' || (i %% 20), CASE WHEN i %% 10 = 0 THEN 'invalid' ELSE 'active' END, '', 0, %d + i, %d, 0", now, now), 1000)
	testkit.FillTable(t, st, "search_key_events", "id, key_id, time, source, actor, operation, before, after, reason",
		fmt.Sprintf("'kev_' || i, 'k' || (i %% 1000), %d, 'system', '', 'marked', 'active', 'cooling_down', ''", now), 50_000)
	testkit.FillTable(t, st, "search_rollups", rollup, fmt.Sprintf("'all', '', 3600, %d - i * 3600, 'search'%s", hour, zeros), 24*400)
	testkit.FillTable(t, st, "search_rollups", rollup, fmt.Sprintf("'all', '', 300, %d - i * 300, 'search'%s", hour, zeros), 48*12)
	testkit.FillTable(t, st, "search_rollups", rollup,
		fmt.Sprintf("'token', 't' || (i %% 10000), 3600, %d - (i / 10000) * 3600, 'search'%s", hour, zeros), 240_000)
	testkit.FillTable(t, st, "search_rollups", rollup, fmt.Sprintf("'token', 't' || i, 0, 0, 'search'%s", zeros), 10_000)
	testkit.FillTable(t, st, "search_rollups", rollup, fmt.Sprintf("'key', 'k' || i, 0, 0, 'search'%s", zeros), 1000)
	testkit.Execute(t, st, "UPDATE search_tokens SET group_name = 'g' || (created_at % 7), owner_id = CASE WHEN id LIKE '%7' THEN 'usr_' || id ELSE '' END, created_at = created_at - CAST(SUBSTR(id, 2) AS BIGINT), enabled = id NOT LIKE '%99'")
	testkit.Execute(t, st, "UPDATE search_requests SET key_id = 'k' || (id % 1000), operation = CASE WHEN id % 50 = 0 THEN 'research' ELSE 'search' END, outcome = CASE WHEN id % 100 = 0 THEN 2 WHEN id % 101 = 0 THEN 3 ELSE 1 END")
	testkit.Analyze(t, st)
}

// adminQueries are the lists, filters and charts that administrators and users call, by name. raw is what fetches the
// rows which the answer is made of.
func adminQueries(s *Service) map[string]struct {
	run func(context.Context) error
	raw string
} {
	group := "g3"
	tokens := func(f access.TokenFilter) func(context.Context) error {
		return func(ctx context.Context) error {
			_, _, err := s.Access.Store.TokenPage(ctx, f, nil, 1, 50)
			return err
		}
	}
	logs := func(f audit.LogFilter) func(context.Context) error {
		return func(ctx context.Context) error { _, err := s.Log.Store.ListRequests(ctx, f, 0, 0, 50); return err }
	}
	type query = struct {
		run func(context.Context) error
		raw string
	}
	hour := searchtest.Noon.Add(-time.Hour)
	return map[string]query{
		"tokens": {func(ctx context.Context) error {
			_, err := s.FindTokens(ctx, access.TokenFilter{}, 1, 50)
			return err
		}, "SELECT COUNT(*) FROM search_tokens WHERE deleted_at = 0; SELECT * FROM search_tokens WHERE deleted_at = 0 ORDER BY created_at DESC, id DESC LIMIT 50; " +
			"SELECT * FROM search_rollups WHERE scope = 'token' AND step = 0 AND start = 0 AND subject IN (SELECT id FROM search_tokens WHERE deleted_at = 0 ORDER BY created_at DESC, id DESC LIMIT 50)"},
		"tokens of a group":    {tokens(access.TokenFilter{Group: &group}), ""},
		"tokens of an owner":   {tokens(access.TokenFilter{Owner: "usr_t7"}), ""},
		"tokens with an owner": {tokens(access.TokenFilter{Owner: "bound"}), ""},
		"frozen tokens":        {tokens(access.TokenFilter{Enabled: "frozen"}), ""},
		"tokens by a text":     {tokens(access.TokenFilter{Query: "t12"}), ""},
		"token groups":         {func(ctx context.Context) error { _, err := s.TokenGroups(ctx); return err }, ""},
		"own tokens":           {func(ctx context.Context) error { _, err := s.Access.Store.TokensOf(ctx, "usr_t7"); return err }, ""},
		"first own token":      {func(ctx context.Context) error { _, err := s.Access.Store.FirstTokenOf(ctx, "usr_t7", 0); return err }, ""},
		"keys": {func(ctx context.Context) error {
			_, err := s.FindKeys(ctx, keys.KeyFilter{}, 1, 50)
			return err
		}, ""},
		"keys of a group": {func(ctx context.Context) error {
			_, _, err := s.Keys.Store.KeyPage(ctx, keys.KeyFilter{Groups: []string{"g1"}}, 1, 50)
			return err
		}, ""},
		"invalid keys": {func(ctx context.Context) error {
			_, _, err := s.Keys.Store.KeyPage(ctx, keys.KeyFilter{States: []string{"invalid"}}, 1, 50)
			return err
		}, ""},
		"history of a key": {func(ctx context.Context) error { _, err := s.Keys.Store.KeyHistory(ctx, "k5", "", 50); return err }, ""},
		"requests":         {logs(audit.LogFilter{}), "SELECT * FROM search_requests ORDER BY id DESC LIMIT 50"},
		"requests of a token": {logs(audit.LogFilter{TokenIDs: []string{"t77"}}),
			"SELECT * FROM search_requests WHERE token_id = 't77' ORDER BY id DESC LIMIT 50"},
		"requests of tokens": {logs(audit.LogFilter{TokenIDs: []string{"t77", "t78", "t79"}}), ""},
		"requests of a key": {logs(audit.LogFilter{KeyID: "k77"}),
			"SELECT * FROM search_requests WHERE key_id = 'k77' AND key_id <> '' ORDER BY id DESC LIMIT 50"},
		"failed requests": {logs(audit.LogFilter{Outcomes: []string{"error"}}),
			"SELECT * FROM search_requests WHERE outcome = 2 AND outcome >= 2 ORDER BY id DESC LIMIT 50"},
		"refused of a token":  {logs(audit.LogFilter{TokenIDs: []string{"t77"}, Outcomes: []string{"refused"}}), ""},
		"requests of an hour": {logs(audit.LogFilter{Since: hour, Until: searchtest.Noon}), ""},
		"research requests":   {logs(audit.LogFilter{Operations: []string{"research"}}), ""},
		"older requests": {func(ctx context.Context) error {
			_, err := s.Log.Store.ListRequests(ctx, audit.LogFilter{}, 500_000, 0, 50)
			return err
		}, "SELECT * FROM search_requests WHERE id < 500000 ORDER BY id DESC LIMIT 50"},
		"newer requests": {func(ctx context.Context) error {
			_, err := s.Log.Store.ListRequests(ctx, audit.LogFilter{}, 0, 500_000, 50)
			return err
		}, ""},
		"details of a request": {func(ctx context.Context) error { _, _, err := s.Log.Store.FindRequest(ctx, 77); return err },
			"SELECT * FROM search_requests WHERE id = 77"},
		"chart of an hour": {func(ctx context.Context) error { _, err := s.ReadChart(ctx, audit.ScopeAll, "", "1h"); return err }, ""},
		"chart of a day": {func(ctx context.Context) error { _, err := s.ReadChart(ctx, audit.ScopeAll, "", "24h"); return err },
			"SELECT * FROM search_rollups WHERE scope = 'all' AND subject = '' AND step = 300 AND start >= " +
				strconv.FormatInt(searchtest.Noon.Unix()-86400, 10)},
		"chart of a month": {func(ctx context.Context) error { _, err := s.ReadChart(ctx, audit.ScopeAll, "", "30d"); return err }, ""},
		"chart of a token": {func(ctx context.Context) error {
			_, err := s.ReadChart(ctx, audit.ScopeToken, "t77", "30d")
			return err
		}, ""},
		"totals of a day":         {func(ctx context.Context) error { _, err := s.Totals(ctx, "24h"); return err }, ""},
		"any token":               {func(ctx context.Context) error { _, err := s.HasTokens(ctx); return err }, ""},
		"sums of the month":       {func(ctx context.Context) error { _, err := s.Windows(ctx); return err }, ""},
		"public figures":          {func(ctx context.Context) error { _, err := s.Summary(ctx); return err }, ""},
		"top tokens":              {func(ctx context.Context) error { _, err := s.TopTokens(ctx, "day", 10); return err }, ""},
		"keys whose quota is due": {func(ctx context.Context) error { _, err := s.Keys.Store.KeysToSync(ctx, searchtest.Noon); return err }, ""},
		"old roll-ups": {func(ctx context.Context) error {
			_, err := s.Log.Store.PurgeRollups(ctx, audit.StepFine, searchtest.Noon.Add(-1000*time.Hour), 10)
			return err
		}, ""},
	}
}

// adminScans holds the plans of all queries of administrators against the rule that none reads a table from end to end.
func (e *env) adminScans(t *testing.T, statements *testkit.StatementLog) {
	t.Helper()
	for name, q := range adminQueries(e.svc) {
		seen := statements.During(func() {
			if err := q.run(t.Context()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
		if len(seen) == 0 {
			t.Errorf("%s: no statement was seen", name)
		}
		for _, s := range seen {
			checkScan(t, e.store, name, s)
		}
	}
}

// BenchmarkAdmin compares what the service does for a list or a chart with the bare statements that fetch the same rows, on
// 10,000 tokens, 1,000 keys and a million requests. The metric x-raw is the ratio of the medians.
func BenchmarkAdmin(b *testing.B) {
	st := testkit.OpenStore(b, testkit.SQLiteConfig(b), Migrations())
	fill(b, st, 1_000_000)
	fillAdmin(b, st)
	e := newEnvOn(b, st)
	ctx := context.Background()
	for name, q := range adminQueries(e.svc) {
		if q.raw == "" {
			continue
		}
		b.Run(name, func(b *testing.B) {
			var whole, raw []time.Duration
			for b.Loop() {
				whole = append(whole, timed(b, func() error { return q.run(ctx) }))
				raw = append(raw, timed(b, func() error {
					for sql := range strings.SplitSeq(q.raw, ";") {
						if err := readAll(ctx, st, sql); err != nil {
							return err
						}
					}
					return nil
				}))
			}
			b.ReportMetric(float64(median(whole))/float64(median(raw)), "x-raw")
			b.ReportMetric(float64(median(raw).Microseconds()), "raw-µs")
			b.ReportMetric(float64(median(whole).Microseconds()), "p50-µs")
		})
	}
}

func timed(b *testing.B, f func() error) time.Duration {
	began := time.Now()
	if err := f(); err != nil {
		b.Fatal(err)
	}
	return time.Since(began)
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// readAll fetches all rows and columns of a statement.
func readAll(ctx context.Context, st *store.Store, sql string) error {
	rows, err := st.DB(ctx).Statement.ConnPool.QueryContext(ctx, sql)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	values, to := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		to[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(to...); err != nil {
			return err
		}
	}
	return rows.Err()
}

// TestRequestsOfOneAreFound: SQLite, which has no statistics, finds the requests of a token or key with an outcome or operation by an index
// that begins with both.
func TestRequestsOfOneAreFound(t *testing.T) {
	st := testkit.OpenStore(t, testkit.SQLiteConfig(t), Migrations())
	statements := testkit.WatchStatements(t, st)
	r := newEnvOn(t, st).svc.Log.Store
	for _, of := range []audit.LogFilter{{TokenIDs: []string{"t7"}}, {KeyID: "k7"}} {
		for _, f := range []audit.LogFilter{{Outcomes: []string{"refused"}}, {Operations: []string{"map"}},
			{Outcomes: []string{"error"}, Operations: []string{"map"}}} {
			f.TokenIDs, f.KeyID = of.TokenIDs, of.KeyID
			made := statements.During(func() {
				_, err := r.ListRequests(t.Context(), f, 0, 0, 50)
				testkit.Must(t, err)
			})
			for _, s := range made {
				if plan := testkit.Explain(t, st, s); !strings.Contains(plan, "_id=? AND o") {
					t.Errorf("%+v: %s", f, plan)
				}
			}
		}
	}
}
