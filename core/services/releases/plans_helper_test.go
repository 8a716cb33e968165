package releases_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/services/releases"
	"github.com/patchbay-dev/patchbay/core/services/releases/account"
	"github.com/patchbay-dev/patchbay/core/services/releases/brief"
	"github.com/patchbay-dev/patchbay/core/services/releases/feed"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	hosts "github.com/patchbay-dev/patchbay/core/services/releases/sync"
	"github.com/patchbay-dev/patchbay/core/services/releases/translate"
	"github.com/patchbay-dev/patchbay/core/store"
)

// fillReleases makes rows as of many users, repositories and releases, and returns the tables that have many, with the names that
// statements give them. In values, ? is the time.
func fillReleases(t *testing.T, st *store.Store, now time.Time) (big []string) {
	t.Helper()
	// PostgreSQL reads a table of few pages whole, although it has an index.
	text := strings.Repeat("Some words. ", 50)
	for _, r := range []struct {
		table, columns, values string
		count                  int
	}{
		{"release_repos", "host, remote_id, description, full_name, name_key, owner_key, release_count, synced_at, due_at, failures, created_at",
			"'codehost.main', 'r' || i, '" + text + "', 'o' || (i % 1000) || '/r' || i, 'o' || (i % 1000) || '/r' || i, 'o' || (i % 1000), 10, 1, ? + 1000 * (i - 50), CASE WHEN i % 100 = 0 THEN 1 ELSE 0 END, 1", 10_000},
		{"release_links", "user_id, repo_id, starred, owned, followed, visible, starred_at",
			"CASE WHEN i <= 10 THEN '' ELSE 'usr_' || (1 + i % 2000) END, 1 + (i % 2000 * 7 + i / 2000) % 10000, TRUE, FALSE, TRUE, TRUE, i",
			20_000},
		{"release_filters", "user_id, repo_id, min_level", "'usr_' || (1 + i % 2000), 1 + (i % 2000 * 7 + i / 2000) % 10000, 1", 20_000},
		{"release_account_repos", "account_id, user_id, repo_id, starred, owned",
			"'usr_' || (1 + i % 2000), 'usr_' || (1 + i % 2000), 1 + (i % 2000 * 7 + i / 2000) % 10000, TRUE, i % 10 = 0", 20_000},
		{"release_entries", "repo_id, remote_id, node_id, tag, title, body, body_truncated, html_url, ts, published_at, prerelease, level, search_text, reactions, hash, updated_at, created_at, indexed",
			"1 + i % 10000, 'e' || i, 'n' || i, 'v' || i, 'Release', 'Words', i % 10 = 0, '', ? - 100000 * i, 1, FALSE, 1, 'release', '', 'h', ? - 100000 * i, 1, i % 1000 <> 0", 40_000},
		{"release_bodies", "release_id, body", "10 * i, 'All words'", 4_000},
		{"release_reads", "user_id, release_id", "'usr_' || (1 + i % 2000), 1 + (i % 2000 * 7 + i / 2000) % 40000", 20_000},
		{"release_events", "user_id, account_id, kind, event_rank, ts, event_key, repo_full_name, name_key, owner_key, title, body, body_truncated, html_url, actor_login, actor_avatar, actor_url",
			"'usr_' || (1 + i % 2000), 'usr_' || (1 + i % 2000), CASE WHEN i % 3 = 0 THEN 'follower_received' ELSE 'repo_star_received' END, 1, ? - i, 'k' || i, '', '', '', '', '', FALSE, '', '', '', ''", 20_000},
		{"release_members", "user_id, member_of, login", "'usr_' || (1 + i % 2000), 'followers', 'l' || i", 20_000},
		{"release_notifications", "user_id, thread_id, repo_full_name, subject_title, subject_type, reason, updated_at, unread, html_url, account_id",
			"'usr_' || (1 + i % 2000), 't' || i, '', '', '', '', i, i % 50 = 0, '', 'usr_' || (1 + i % 2000)", 20_000},
		{"release_host_accounts", "id, user_id, host, remote_id, login, login_key, avatar_url, token, masked, sign_in, state, message, checked_at, due_at, created_at",
			"'usr_' || i, 'usr_' || i, 'codehost.main', 'a' || i, 'l' || i, 'l' || i, '', 't' || i, '', TRUE, 'valid', '', i, ? + 1000 * (i - 20), i", 5_000},
		{"release_preferences", "user_id, time_zone, brief_hour, brief_daily, include_own, notify_releases, updated_at",
			"'usr_' || i, 'UTC', 8, TRUE, FALSE, i % 100 = 1, 1", 5_000},
		{"release_sync_state", "user_id, name, value", "'usr_' || (1 + i % 2000), 'list' || i, '{}'", 20_000},
		{"release_briefs", "id, user_id, date, window_start, window_end, time_zone, boundary, release_ids, content, covers_stars, covers_followers, awaits_summaries, created_at, updated_at",
			"'brf_' || i, 'usr_' || (1 + i % 2000), '2020-01-' || (10 + i % 20), i, i, 'UTC', '08:00', '[]', '', FALSE, FALSE, i % 5000 = 0, i, i",
			20_000},
		{"release_feed_tokens", "id, user_id, name, hash, masked, types, scope, items, org, search, created_at",
			"'rft_' || i, 'usr_' || (1 + i % 2000), '', 'h' || i, '', '', '', '', '', '', i", 5_000},
		{"release_sign_ins", "state_hash, browser_hash, user_id, host, verifier, next, expires_at",
			"'s' || i, 'b' || i, '', '', '', '', ? + 1000 * (i - 20)", 5_000},
		{"release_translations", "id, work_key, task, language, title, body, release_id, tokens, state, outcome, job_id, batch_id, priority, deadline, run_at, created_at, updated_at",
			"'tw_' || i, 'k' || i, 'translate', 'zh-CN', '', '" + text +
				"', i, 1, CASE WHEN i % 5000 = 0 THEN 'queued' ELSE 'completed' END, 'ready', CASE WHEN i % 1000 = 0 THEN 'job' || i ELSE '' END, '', 1, i, i, i, ? - i", 20_000},
		{"release_translated", "release_id, language, kind, hash, work_id", "i, 'zh-CN', 'release_smart', 'h', 'tw_' || i", 20_000},
		{"release_translation_requests", "id, user_id, producer_ref, kind, variant, entity_id, language, slots, work_id, created_at",
			"'tr_' || i, 'usr_' || (1 + i % 2000), '', '', '', '', '', '[]', 'tw_' || i, ? - i", 20_000},
		{"release_translation_batches", "id, job_id, state, reason, works, tokens, created_at",
			"'batch_' || i, 'job' || i, 'completed', '', 1, 1, ? - i", 10_000},
		{"release_model_calls", "at, batch_id, task, model, outcome, input_tokens, output_tokens, cost_micros, duration_ms, parts, message",
			"? - 10000000 * (i / 100), '', '', '', '', 1, 1, 1, 1, 1, ''", 20_000},
	} {
		testkit.FillTable(t, st, r.table, r.columns, strings.ReplaceAll(r.values, "?", fmt.Sprintf("CAST(%d AS BIGINT)", now.UnixMilli())),
			r.count)
		big = append(big, r.table)
	}
	words := "docid, repo, title, body) SELECT id, '', '', 'a word' || id"
	if st.Dialect() == store.Postgres {
		words = "docid, doc) SELECT id, CAST('a word' || id AS tsvector)"
	}
	testkit.Execute(t, st, "INSERT INTO release_search ("+words+" FROM release_entries")
	testkit.Analyze(t, st)
	// SQLite tells the short names of tables.
	return append(big, "a", "b", "e", "f", "l", "p", "r", "t", "w")
}

// planned are the parts of a service, whose queue does not run, with many rows.
type planned struct {
	service  *releases.Service
	store    *store.Store
	repos    *repo.Store
	feed     *feed.Store
	accounts *account.Store
	state    *hosts.State
	syncer   *hosts.Syncer
	briefs   *brief.Briefs
	works    *translate.Translations
	now      time.Time
}

func newPlanned(t *testing.T, st *store.Store) *planned {
	t.Helper()
	ring, err := secret.NewKeyring(make([]byte, secret.KeySize))
	must(t, err)
	users, err := auth.New(auth.Config{Store: st, Keyring: ring, Scopes: []string{"releases"}})
	must(t, err)
	bus := event.NewBus()
	t.Cleanup(bus.Close)
	q, err := queue.New(queue.Config{Store: st, Bus: bus})
	must(t, err)
	host := []hosts.Host{hosts.NewHost("codehost.main", fake.NewCodeHost(""))}
	p := &planned{store: st, now: time.Now()}
	p.service, err = releases.New(t.Context(),
		releases.Config{Store: st, Keyring: ring, Queue: q, Users: users, Hosts: host,
			Settings: releases.Settings{TimeZone: "UTC", Interval: time.Hour}})
	must(t, err)
	t.Cleanup(p.service.Close)
	must(t, q.Register(p.service.Jobs(), nil))
	p.repos = repo.NewStore(st)
	p.feed, p.accounts, p.state = feed.NewStore(st, p.repos), account.NewStore(st, ring), hosts.NewState(st)
	p.briefs = brief.New(brief.NewStore(st), p.feed, nil, nil, time.Now)
	p.works = translate.New(translate.Config{Store: st, Queue: q, Now: time.Now,
		Settings: func() translate.Settings { return translate.Settings{DailyTokens: 1000} }})
	t.Cleanup(p.works.Close)
	p.syncer = hosts.New(hosts.Config{
		Store: st, Repos: p.repos, Feed: p.feed, Accounts: p.accounts, State: p.state, Logger: hclog.NewNullLogger(), Now: time.Now,
		Hosts: func() []hosts.Host { return host }, Interval: func() time.Duration { return time.Hour },
	})
	return p
}

// ignore returns an error unless it is a certain one.
func ignore(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}
