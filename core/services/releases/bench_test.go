package releases_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

// benchReleases is how many releases there are.
const benchReleases = 1_000_000

// seedReleases fills the database with releases of repositories that everybody sees.
func seedReleases(b *testing.B, s *server) {
	b.Helper()
	body := strings.Repeat("A change that is worth a line. ", 8)
	must(b, s.store.Tx(context.Background(), "seed", func(ctx context.Context) error {
		w := s.store.Writer(ctx)
		for _, statement := range []string{
			`INSERT INTO release_repos (host, remote_id, full_name, name_key, owner_key, avatar_url, release_count, created_at)
			 SELECT 'codehost.main', 'r' || n, 'acme/repo' || n, 'acme/repo' || n, 'acme', 'https://avatars.example.com/acme', 1000, 1 FROM (WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 1000) SELECT n FROM c)`,
			`INSERT INTO release_links (user_id, repo_id, followed, visible) SELECT '', id, 1, 1 FROM release_repos`,
			`INSERT INTO release_entries (repo_id, remote_id, node_id, tag, title, body, body_truncated, html_url, ts, published_at, prerelease, level, search_text, reactions, hash, updated_at, created_at)
			 SELECT 1 + n % 1000, n, 'node' || n, 'v1.' || n, 'Release ' || n, '` + body + `', 0, 'https://codehost.example/acme/releases/' || n, 1600000000000 + n * 1000, 1, 0, 1, 'release', '', 'h', 1, 1
			 FROM (WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 1000000) SELECT n FROM c)`,
			`INSERT INTO release_search (docid, repo, title, body) SELECT id, 'acme repo' || repo_id, 'release ' || id, 'a change that is worth a line of' || (id % 50000) FROM release_entries`,
			`UPDATE release_entries SET indexed = 1`,
		} {
			if err := w.Exec(statement).Error; err != nil {
				return err
			}
		}
		return nil
	}))
}

// feedRuns is how often each measurement of BenchmarkFeed runs before the next has its turn.
const feedRuns = 50

// BenchmarkFeed measures a page of 100 items of a million over HTTP, the first and the last, a poll for updates, and a search, in turns
// with the query of such a page by database/sql alone. Garbage is collected as in "patchbay serve".
func BenchmarkFeed(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	s := startServer(b, testkit.SQLiteConfig(b))
	seedReleases(b, s)
	c := dialPages(b, s, s.ada)
	last, err := store.EncodeCursor(map[string]int64{"t": 1_600_000_101_000, "r": 5, "i": 101})
	must(b, err)
	token := s.want(200, "", s.ada, http.MethodGet, "/api/dashboard/updates", nil)["token"].(string)
	measured := []*measurement{
		{name: "raw", run: func() { readRawPage(b, s.store) }},
		{name: "first", run: func() { c.getItems(b, "/api/feed?limit=100", 100) }},
		{name: "last", run: func() { c.getItems(b, "/api/feed?limit=100&cursor="+last, 100) }},
		{name: "updates", run: func() { c.getItems(b, "/api/dashboard/updates?token="+token, 0) }},
		// A word that 20 releases have.
		{name: "search", run: func() { c.getItems(b, "/api/feed?limit=100&q=of49999", 20) }},
		// A word that all have.
		{name: "common", run: func() { c.getItems(b, "/api/feed?limit=100&q=change", 100) }},
	}
	for b.Loop() {
		for _, m := range measured {
			for range feedRuns {
				m.measure()
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	for _, m := range measured {
		b.ReportMetric(m.median(), m.name+"-p50-ms")
	}
	raw, first := measured[0].median(), measured[1].median()
	b.ReportMetric(first/raw, "first/raw")
	b.ReportMetric(measured[2].median()/first, "last/first")
	b.ReportMetric(measured[3].median()/first, "updates/first")
}

// measurement is something that is run many times, and how long each run took.
type measurement struct {
	name  string
	run   func()
	times []time.Duration
}

func (m *measurement) measure() {
	began := time.Now()
	m.run()
	m.times = append(m.times, time.Since(began))
}

// median returns the median of the times in milliseconds.
func (m *measurement) median() float64 {
	slices.Sort(m.times)
	return float64(m.times[len(m.times)/2]) / float64(time.Millisecond)
}

// readRawPage reads a page in the middle of the feed by a query that does not ask who sees what.
func readRawPage(b *testing.B, st *store.Store) {
	rows, err := st.DB(context.Background()).Statement.ConnPool.QueryContext(context.Background(),
		"SELECT r.id, r.ts, r.title, r.body, r.body_truncated, r.html_url, r.tag, r.prerelease, r.node_id, r.reactions, p.full_name, p.avatar_url, p.image_url, p.custom_image "+
			"FROM release_entries r CROSS JOIN release_repos p WHERE p.id = r.repo_id AND (r.ts, r.id) < (?, ?) ORDER BY r.ts DESC, r.id DESC LIMIT 100", int64(1_600_500_000_000), benchReleases/2)
	must(b, err)
	var id, ts int64
	var title, body, url, tag, node, reactions, name, avatar, image string
	var cut, prerelease, custom bool
	n := 0
	for ; rows.Next(); n++ {
		must(b, rows.Scan(&id, &ts, &title, &body, &cut, &url, &tag, &prerelease, &node, &reactions, &name, &avatar, &image, &custom))
	}
	must(b, rows.Close())
	if n != 100 {
		b.Fatalf("got %d rows", n)
	}
}

// pageClient asks for pages over one connection, without the goroutines of net/http's, which would cost more than a poll for updates.
type pageClient struct {
	conn    net.Conn
	answers *bufio.Reader
	// prefix begins each path.
	prefix, token string
	body          bytes.Buffer
}

func dialPages(b *testing.B, s *server, token string) *pageClient {
	host, prefix, _ := strings.Cut(strings.TrimPrefix(s.base, "http://"), "/")
	conn, err := net.Dial("tcp", host)
	must(b, err)
	b.Cleanup(func() { _ = conn.Close() })
	return &pageClient{conn: conn, answers: bufio.NewReaderSize(conn, 64<<10), prefix: "/" + prefix, token: token}
}

// getItems asks for a path; its answer must have a number of items.
func (c *pageClient) getItems(b *testing.B, path string, items int) {
	_, err := fmt.Fprintf(c.conn, "GET %s%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", c.prefix, path, c.conn.RemoteAddr(),
		c.token)
	must(b, err)
	res, err := http.ReadResponse(c.answers, nil)
	must(b, err)
	c.body.Reset()
	_, err = c.body.ReadFrom(res.Body)
	must(b, err)
	must(b, res.Body.Close())
	if n := bytes.Count(c.body.Bytes(), []byte(`"kind":`)); res.StatusCode != http.StatusOK || n != items {
		b.Fatalf("got %d with %d items", res.StatusCode, n)
	}
}
