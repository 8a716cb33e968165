package pages

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/queue"
	service "github.com/patchbay-dev/patchbay/core/services/search"
	"github.com/patchbay-dev/patchbay/core/store"
)

// pageBudget is the time that a page may cost, wireBudget the bytes of its compressed answer.
const (
	pageBudget = 20 * time.Millisecond
	wireBudget = 12 << 10
)

// fillLarge makes 10,000 tokens, 1,000 keys with histories, a million requests of the last twelve days and the roll-ups of a
// year.
func fillLarge(t testing.TB, st *store.Store, now time.Time) {
	t.Helper()
	ms, hour := now.UnixMilli(), now.Unix()/3600*3600
	const zeros = ", 20, 17, 2, 1, 20, 100000, 1, 1, 2, 3, 4, 5, 3, 1, 1, 0, 0, 0, 0, 0, 0"
	const rollup = "scope,subject,step,start,operation,requests,successes,errors,refused,credits,duration_us,last_at,h0,h1,h2,h3,h4,h5,h6,h7,h8,h9,h10,h11,h12,h13"
	bytes := "BLOB"
	if st.Dialect() == store.Postgres {
		bytes = "BYTEA"
	}
	for _, in := range []struct {
		table, columns, values string
		count                  int
	}{
		{"search_tokens", "id,hash,sealed,enabled,note,group_name,owner_id,expires_at,created_at,updated_at,deleted_at",
			fmt.Sprintf("'t' || i, CAST('h' || i AS "+bytes+"), 's', i %% 99 <> 0, 'note of the token ' || i, 'g' || (i %% 7), '', 0, %d - i, %d, 0", ms, ms), 10_000},
		{"search_keys", "id,hash,sealed,group_name,state,reason,until,created_at,updated_at,deleted_at",
			fmt.Sprintf("'k' || i, CAST('h' || i AS "+bytes+"), 's', 'g' || (i %% 20), CASE WHEN i %% 10 = 0 THEN 'invalid' ELSE 'active' END, '', 0, %d + i, %d, 0", ms, ms), 1000},
		{"search_key_events", "id,key_id,time,source,actor,operation,before,after,reason",
			fmt.Sprintf("'kev_' || i, 'k' || (i %% 1000), %d, 'system', '', 'marked', 'active', 'cooling_down', ''", ms), 50_000},
		{"search_requests", "id,time,request_id,token_id,key_id,backend,operation,outcome,status,upstream_status,credits,duration_us,upstream_us,plugin_us,attempts,request_bytes,response_bytes,client,error_code",
			fmt.Sprintf("i, %d - (1000000 - i) * 1000, 'r' || i, 't' || (i %% 10000), 'k' || (i %% 1000), 'search.web', CASE WHEN i %% 50 = 0 THEN 'map' ELSE 'search' END, CASE WHEN i %% 100 = 0 THEN 2 WHEN i %% 101 = 0 THEN 3 ELSE 1 END, 200, 200, 1, 900000, 800000, 9, 1, 9, 9, '127.0.0.1', ''", ms), 1_000_000},
		{"search_rollups", rollup, fmt.Sprintf("'all', '', 3600, %d - i * 3600, 'search'%s", hour, zeros), 24 * 365},
		{"search_rollups", rollup, fmt.Sprintf("'all', '', 300, %d - i * 300, 'search'%s", hour, zeros), 48 * 12},
		{"search_rollups", rollup, fmt.Sprintf("'token', 't' || (i %% 10000), 3600, %d - (i / 10000) * 3600, 'search'%s", hour, zeros), 240_000},
		{"search_rollups", rollup, fmt.Sprintf("'token', 't' || i, 0, 0, 'search'%s", zeros), 10_000},
		{"search_rollups", rollup, fmt.Sprintf("'key', 'k' || i, 0, 0, 'search'%s", zeros), 1000},
	} {
		testkit.FillTable(t, st, in.table, in.columns, in.values, in.count)
	}
	// The last process has ended well: there are no roll-ups to make anew.
	testkit.Execute(t, st, "INSERT INTO search_marks (name, at) VALUES ('rollups', -1) ON CONFLICT (name) DO UPDATE SET at = -1")
	testkit.Analyze(t, st)
}

// BenchmarkPages opens every page of the search service by HTTP, with its session, on 10,000 tokens, 1,000 keys and a million
// requests, on both databases. It fails when the median of a page is over its budget, or its size.
func BenchmarkPages(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) { benchmarkPages(b, testkit.SQLiteConfig(b)) })
	b.Run("postgres", func(b *testing.B) { benchmarkPages(b, testkit.PostgresConfig(b)) })
}

func benchmarkPages(b *testing.B, cfg store.Config) {
	st := testkit.OpenStore(b, cfg, service.Migrations(), queue.Migrations(), auth.Migrations())
	fillLarge(b, st, time.Now())
	s := newSiteOn(b, st)
	testkit.Execute(b, st, "UPDATE search_tokens SET owner_id = '"+s.bobID+"' WHERE id IN ('t1','t22','t333','t4444','t5555')")
	admin, member := s.as(s.admin, "en"), s.as(s.bob, "zh")
	for _, page := range []struct {
		name string
		who  *visitor
		path string
	}{
		{"home", admin, "/system"}, {"overview of an hour", admin, "/search/overview?window=1h"}, {"overview", admin, "/search/overview"},
		{"overview of a month", admin, "/search/overview?window=30d"}, {"points of a chart", admin, "/search/api/metrics?window=30d"},
		{"tokens", admin, "/search/tokens"}, {"tokens, last page", admin, "/search/tokens?page=200"},
		{"tokens by text", admin, "/search/tokens?q=note+of+the+token+99"},
		{"tokens by quota", admin, "/search/tokens?quota=normal&group=g3"}, {"token", admin, "/search/tokens/t77?window=30d"},
		{"points of a token", admin, "/search/api/tokens/t77/metrics?window=30d"},
		{"keys", admin, "/search/keys"}, {"keys by state", admin, "/search/keys?status=invalid&group=g0"},
		{"key", admin, "/search/keys/k77?window=30d"},
		{"requests", admin, "/search/requests"}, {"failed requests", admin, "/search/requests?result=error"},
		{"requests of a token", admin, "/search/requests?token=t77"},
		{"requests of a key", admin, "/search/requests?key=k77"},
		{"failed maps of a token", admin, "/search/requests?token=t700&operation=map&result=error"},
		{"request", admin, "/search/requests/500000"},
		{"interrupted searches", admin, "/search/requests?operation=search&result=interrupted"},
		{"refused maps of a key", admin, "/search/requests?key=k77&operation=map&result=refused"},
		{"playground", admin, "/search/playground"}, {"guide", admin, "/search/guide"},
		{"plugins", admin, "/system/plugins"}, {"jobs", admin, "/system/jobs"}, {"users", admin, "/system/users"},
		{"audit", admin, "/system/audit"}, {"account", admin, "/system/account"},
		{"home of a member", member, "/system"}, {"tokens of a member", member, "/search/tokens"},
		{"token of a member", member, "/search/tokens/t22"},
		{"requests of a member", member, "/search/requests"}, {"refused of a member", member, "/search/requests?result=refused"},
		{"playground of a member", member, "/search/playground"},
	} {
		b.Run(strings.ReplaceAll(page.name, " ", "_"), func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				if p := page.who.Get(page.path); p.Status != http.StatusOK {
					b.Fatalf("%s: status %d\n%s", page.path, p.Status, p.Body)
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			p50, p99 := took[len(took)/2], took[len(took)*99/100]
			b.ReportMetric(float64(p50.Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(p99.Microseconds())/1000, "p99-ms")
			size := page.who.compressedSize(page.path)
			b.ReportMetric(float64(size), "wire-bytes")
			if isPage := !strings.Contains(page.path, "/api/"); isPage && size > wireBudget {
				b.Errorf("%s is %d bytes, which is more than %d", page.path, size, wireBudget)
			}
			if p50 > pageBudget {
				b.Errorf("%s costs %s, which is more than %s", page.path, p50, pageBudget)
			}
		})
	}
}

// compressedSize returns how many bytes a page has on the wire.
func (v *visitor) compressedSize(path string) int {
	v.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, v.base+path, nil)
	must(v, err)
	// A client that asks for compression itself gets the bytes as they came.
	req.Header = http.Header{"Accept": {"text/html"}, "Accept-Encoding": {"gzip"}, "Accept-Language": {v.Header.Get("Accept-Language")}}
	resp, err := v.Client.Do(req)
	must(v, err)
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	must(v, err)
	return int(n)
}
