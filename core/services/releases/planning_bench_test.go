package releases_test

import (
	"context"
	"net/http"
	"testing"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

// addUsers adds users who have each starred repositories, with an account that is read and a brief of today.
func (s *server) addUsers(users, stars int) {
	s.Helper()
	must(s, s.store.Tx(context.Background(), "add users", func(ctx context.Context) error {
		w := s.store.Writer(ctx)
		numbers := func(n string) string {
			return " FROM (WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < " + n + ") SELECT n FROM c) AS numbers"
		}
		due := store.Millis(s.clock.now().AddDate(1, 0, 0))
		for _, add := range []struct {
			text   string
			values []any
		}{
			{"INSERT INTO users (id, email, name, role, disabled, created_at, updated_at) SELECT 'user' || n, n || '@users.example', 'User', 'member', FALSE, 1, 1" + numbers("CAST(? AS INTEGER)"), []any{users}},
			{"INSERT INTO release_repos (host, remote_id, full_name, name_key, owner_key, due_at, created_at) SELECT 'codehost.main', 'r' || n, 'acme/repo' || n, 'acme/repo' || n, 'acme', CAST(? AS BIGINT), 1" + numbers("CAST(? AS INTEGER)"), []any{due, 20 * stars}},
			{"INSERT INTO release_links (user_id, repo_id, starred, visible) SELECT u.id, p.id, TRUE, TRUE FROM users u CROSS JOIN release_repos p WHERE u.id LIKE 'user%' AND (p.id + LENGTH(u.email) + CAST(REPLACE(u.id, 'user', '') AS INTEGER)) % 20 = 0", nil},
			{"INSERT INTO release_host_accounts (id, user_id, host, remote_id, login, login_key, avatar_url, token, masked, state, message, checked_at, due_at, created_at) SELECT id, id, 'codehost.main', id, id, id, '', '', '', 'valid', '', 1, CAST(? AS BIGINT), 1 FROM users WHERE id LIKE 'user%'", []any{due}},
			{"INSERT INTO release_briefs (id, user_id, date, window_start, window_end, time_zone, boundary, release_ids, content, covers_stars, covers_followers, created_at, updated_at) SELECT 'brief' || id, id, '2026-03-01', 1, 2, 'UTC', '', '[]', '', FALSE, FALSE, 1, 1 FROM users WHERE id LIKE 'user%'", nil},
		} {
			if err := w.Exec(add.text, add.values...).Error; err != nil {
				return err
			}
		}
		return nil
	}))
}

// planning marks the context of a round of the schedule whose queries are counted.
type planning struct{}

// watchQueries has the queries of rounds of the schedule counted. It is called before anything else uses the database, since gorm reads
// its callbacks without a lock.
func (s *server) watchQueries() {
	s.Helper()
	count := func(db *gorm.DB) {
		if db.Statement.Context.Value(planning{}) != nil {
			s.planned.Add(1)
		}
	}
	on := s.store.DB(context.Background()).Callback()
	must(s, on.Query().Before("gorm:query").Register("test:query", count))
	must(s, on.Row().Before("gorm:row").Register("test:row", count))
}

// countQueries returns how many queries a round of the schedule makes.
func (s *server) countQueries() int64 {
	s.Helper()
	before := s.planned.Load()
	s.plan()
	return s.planned.Load() - before
}

// plan has the schedule look for what is due.
func (s *server) plan() {
	s.Helper()
	ctx := context.WithValue(context.Background(), planning{}, true)
	for _, h := range s.service.Jobs() {
		if h.Type == "releases.sync_due" || h.Type == "releases.write_briefs" {
			_, err := h.Run(ctx, nil, noProgress{})
			must(s, err)
		}
	}
}

// TestPlanningQueries compares how many queries it takes to find that nothing is due for few users and for many.
func TestPlanningQueries(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		s.want(200, "", s.ada, http.MethodPut, "/api/preferences",
			dict{"time_zone": "UTC", "brief_hour": 8, "brief_daily": false, "include_own_releases": false})
		s.want(200, "", s.bob, http.MethodPut, "/api/preferences",
			dict{"time_zone": "UTC", "brief_hour": 8, "brief_daily": false, "include_own_releases": false})
		few := s.countQueries()
		s.addUsers(50, 2)
		if many := s.countQueries(); few < 3 || many != few {
			t.Errorf("%d queries for 2 users, %d for 52", few, many)
		}
	})
}

// BenchmarkPlanning measures a round of the schedule that finds nothing due, with 10,000 users who have starred 200 repositories each.
func BenchmarkPlanning(b *testing.B) {
	run := func(b *testing.B, cfg store.Config) {
		s := startServer(b, cfg)
		s.addUsers(10_000, 200)
		queries := s.countQueries()
		b.ReportAllocs()
		for b.Loop() {
			s.plan()
		}
		b.ReportMetric(float64(queries), "queries")
	}
	b.Run("sqlite", func(b *testing.B) { run(b, testkit.SQLiteConfig(b)) })
	b.Run("postgres", func(b *testing.B) { run(b, testkit.PostgresConfig(b)) })
}
