package releases_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/patchbay-dev/patchbay/core/store"
)

// seedCommonWords fills the database: 4,000 releases that everybody sees and, after them, 3,000 that nobody does. All have the word
// change, every second one the word odd, and every thousandth the word rare.
func (s *server) seedCommonWords() {
	s.Helper()
	identity := ""
	columns, values := "docid, repo, title, body",
		"id, 'acme repo', 'release ' || id, 'a change' || CASE WHEN id % 2 = 1 THEN ' odd' ELSE '' END || CASE WHEN id % 1000 = 0 THEN ' rare' ELSE '' END"
	if s.store.Dialect() == store.Postgres {
		identity = " OVERRIDING SYSTEM VALUE"
		columns, values = "docid, doc", "id, CAST('change:1C' || CASE WHEN id % 2 = 1 THEN ' odd:2C' ELSE '' END || CASE WHEN id % 1000 = 0 THEN ' rare:3C' ELSE '' END AS tsvector)"
	}
	must(s, s.store.Tx(context.Background(), "seed", func(ctx context.Context) error {
		for _, statement := range []string{
			"INSERT INTO release_repos (id, host, remote_id, full_name, name_key, owner_key, release_count, created_at)" + identity +
				" VALUES (101, 'codehost.main', 'a', 'acme/seen', 'acme/seen', 'acme', 4000, 1), (102, 'codehost.main', 'b', 'acme/hidden', 'acme/hidden', 'acme', 3000, 1)",
			"INSERT INTO release_links (user_id, repo_id, followed, visible) VALUES ('', 101, TRUE, TRUE)",
			`INSERT INTO release_entries (id, repo_id, remote_id, node_id, tag, title, body, body_truncated, html_url, ts, published_at, prerelease, level, search_text, reactions, hash, updated_at, created_at, indexed)` + identity + `
			 SELECT n, CASE WHEN n <= 4000 THEN 101 ELSE 102 END, 'r' || n, '', 'v' || n, 'v' || n, '', FALSE, 'https://codehost.example/' || n, 1600000000000 + n * 1000, 1, FALSE, 1, 'release', '', 'h', 1, 1, TRUE
			 FROM (WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 7000) SELECT n FROM c) numbers`,
			"INSERT INTO release_search (" + columns + ") SELECT " + values + " FROM release_entries",
		} {
			if err := s.store.Writer(ctx).Exec(statement).Error; err != nil {
				return err
			}
		}
		return nil
	}))
}

// TestCommonWords searches for words that most releases have, some of them where the user does not see those. What is found does not
// depend on how it is looked for.
func TestCommonWords(t *testing.T) {
	forEach(t, func(t *testing.T, s *server) {
		s.seedCommonWords()
		pages := func(q string, count int) (tags []string) {
			t.Helper()
			path := "/api/feed?limit=20&q=" + url.QueryEscape(q)
			next := path
			for range count {
				page := s.want(200, "", s.ada, http.MethodGet, next, nil)
				for _, item := range page["items"].([]any) {
					tags = append(tags, item.(dict)["title"].(string))
				}
				cursor, ok := page["next_cursor"].(string)
				if !ok {
					break
				}
				next = path + "&cursor=" + cursor
			}
			return tags
		}
		step := func(from, by, count int) (tags []string) {
			for i := range count {
				tags = append(tags, fmt.Sprint("v", from-i*by))
			}
			return tags
		}
		for q, want := range map[string][]string{
			"change": step(4000, 1, 60), "odd": step(3999, 2, 60), "change -odd": step(4000, 2, 60), "rare": step(4000, 1000, 4),
			"change rare":                        step(4000, 1000, 4),
			"change before:2020-09-13T12:30:00Z": step(199, 1, 60), "chang*": step(4000, 1, 60),
		} {
			if got := pages(q, 3); !slices.Equal(got, want) {
				t.Errorf("%q: got %.12q, want %.12q", q, got, want)
			}
		}
		// Few of the latest have it, and it is not missed.
		s.exec("UPDATE release_links SET visible = FALSE WHERE repo_id = 101")
		s.exec("INSERT INTO release_links (user_id, repo_id, followed, visible) VALUES ('', 102, TRUE, TRUE)")
		if got := pages("rare", 1); !slices.Equal(got, step(7000, 1000, 3)) {
			t.Errorf("got %q", got)
		}
	})
}
