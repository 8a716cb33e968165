package releases_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

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

// BenchmarkFeed measures a page of 100 items of a million over HTTP, the first and the last, a search, and a poll for updates, beside the
// query of such a page by database/sql alone.
func BenchmarkFeed(b *testing.B) {
	s := startServer(b, testkit.SQLiteConfig(b))
	seedReleases(b, s)
	b.Run("raw", func(b *testing.B) {
		conn := s.store.DB(context.Background()).Statement.ConnPool
		for b.Loop() {
			rows, err := conn.QueryContext(context.Background(), "SELECT r.id, r.ts, r.title, r.body, r.body_truncated, r.html_url, r.tag, r.prerelease, r.node_id, r.reactions, p.full_name, p.avatar_url, p.image_url, p.custom_image "+
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
	})
	last, err := store.EncodeCursor(map[string]int64{"t": 1_600_000_101_000, "r": 5, "i": 101})
	must(b, err)
	for name, path := range map[string]string{"first": "/api/feed?limit=100", "last": "/api/feed?limit=100&cursor=" + last} {
		b.Run(name, func(b *testing.B) { getMany(b, s, path, 100) })
	}
	// A word that 20 releases have.
	b.Run("search", func(b *testing.B) { getMany(b, s, "/api/feed?limit=100&q=of49999", 20) })
	token := s.want(200, "", s.ada, http.MethodGet, "/api/dashboard/updates", nil)["token"].(string)
	b.Run("updates", func(b *testing.B) { getMany(b, s, "/api/dashboard/updates?token="+token, 0) })
}

// getMany asks for a path again and again; its answer must have a number of items.
func getMany(b *testing.B, s *server, path string, items int) {
	b.Helper()
	for b.Loop() {
		got := s.send(s.ada, http.MethodGet, path, nil)
		if got.status != http.StatusOK || strings.Count(string(got.body), `"kind":`) != items {
			b.Fatalf("got %d with %d items", got.status, strings.Count(string(got.body), `"kind":`))
		}
	}
}
