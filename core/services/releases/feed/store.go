package feed

import (
	"context"
	"database/sql"
	"strings"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Store reads the feed and keeps the events in it. Its methods may be called from several goroutines.
type Store struct {
	store *store.Store
	repos *repo.Store
	plans plans
}

// NewStore returns the feed in a database.
func NewStore(s *store.Store, repos *repo.Store) *Store {
	return &Store{store: s, repos: repos, plans: plans{known: map[string]plan{}}}
}

// Page is a page of the feed.
type Page struct {
	Items []Item
	// Next is the cursor of the next page, "" if no item follows.
	Next string
}

// List returns a page of the feed.
func (s *Store) List(ctx context.Context, q Query) (out Page, err error) {
	q.Limit = ClampLimit(q.Limit)
	after, err := q.after()
	if err != nil || q.Scope.IsEmpty() {
		return out, err
	}
	if out.Items, err = s.listAfter(ctx, q, after); err != nil {
		return out, err
	}
	if len(out.Items) > q.Limit {
		out.Items = out.Items[:q.Limit]
		out.Next, err = store.EncodeCursor(newPlace(&out.Items[q.Limit-1]))
	}
	return out, err
}

// listAfter returns the items that follow a place, nil for the beginning: one more than the page has, if there is one.
func (s *Store) listAfter(ctx context.Context, q Query, after *place) (items []Item, err error) {
	var releases, events []Item
	if q.wantsReleases() {
		if releases, err = s.listReleases(ctx, q, after); err != nil {
			return nil, err
		}
	}
	if len(q.eventKinds()) > 0 {
		if events, err = s.listEvents(ctx, q, after); err != nil {
			return nil, err
		}
	}
	items = mergeItems(releases, events)
	return items[:min(len(items), q.Limit+1)], nil
}

// mergeItems joins two lists that are in the order of the feed.
func mergeItems(a, b []Item) []Item {
	if len(b) == 0 {
		return a
	}
	out := make([]Item, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if newPlace(&a[0]).isBefore(newPlace(&b[0])) {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// releaseColumns are what a list shows of releases: r are those, p their repositories.
const releaseColumns = "r.id, r.ts, r.title, r.body, r.body_truncated, r.html_url, r.tag, r.prerelease, r.node_id, r.reactions, r.entry_url, CASE WHEN r.updated_at > r.created_at THEN r.updated_at ELSE 0 END, p.full_name, p.avatar_url, p.image_url, p.custom_image"

// scanRelease reads the columns of releaseColumns.
func scanRelease(rows *sql.Rows, i *Item) error {
	i.Kind = Release
	return rows.Scan(&i.Seq, &i.TS, &i.Title, &i.Body, &i.BodyTruncated, &i.HTMLURL, &i.Tag, &i.Prerelease, &i.NodeID, &i.Reactions,
		&i.EntryURL, &i.ChangedAt, &i.RepoFullName, &i.AvatarURL, &i.ImageURL, &i.CustomImage)
}

// visibleRelease is the condition that a user sees the release e, in its repository and with the user's filters. It has two
// parameters, both the user.
const visibleRelease = "EXISTS (SELECT 1 FROM release_links l WHERE l.user_id IN (?, '') AND l.repo_id = e.repo_id AND l.visible) " +
	"AND NOT EXISTS (SELECT 1 FROM release_filters f WHERE f.user_id = ? AND f.repo_id = e.repo_id AND (f.muted OR f.no_prereleases AND e.prerelease " +
	"OR f.min_level > e.level AND e.level > 0 OR f.keyword <> '' AND EXISTS (SELECT 1 FROM release_entries t WHERE t.id = e.id AND REPLACE(t.search_text, f.keyword, '') = t.search_text)))"

// listReleases returns one release more than the page has, if there is one.
func (s *Store) listReleases(ctx context.Context, q Query, after *place) ([]Item, error) {
	if found, err := s.listCommon(ctx, q, after); err != nil || len(found) > q.Limit {
		return found, err
	}
	chosen, values, err := s.chooseReleases(ctx, q, after)
	if err != nil {
		return nil, err
	}
	return s.queryReleases(ctx, q, chosen, values)
}

// queryReleases returns the releases e that a query without its columns chooses.
func (s *Store) queryReleases(ctx context.Context, q Query, chosen string, values []any) ([]Item, error) {
	text := "SELECT " + releaseColumns + " FROM (SELECT e.id" + chosen +
		") c CROSS JOIN release_entries r CROSS JOIN release_repos p WHERE r.id = c.id AND p.id = r.repo_id ORDER BY r.ts DESC, r.id DESC"
	return s.queryItems(ctx, &q, text, values, q.Limit+1, scanRelease)
}

// chooseReleases returns a query without its columns, and its values: of the releases e, one more than the page has.
func (s *Store) chooseReleases(ctx context.Context, q Query, after *place) (text string, values []any, err error) {
	var b strings.Builder
	b.WriteString(" FROM release_entries e WHERE ")
	b.WriteString(visibleRelease)
	values = append(values, q.UserID, q.UserID)
	scope, scopeValues := repo.InScope(q.Scope, "e.repo_id")
	b.WriteString(scope)
	values = append(values, scopeValues...)
	if scope == "" {
		narrow, narrowValues, err := s.narrowByRepo(ctx, q)
		if err != nil {
			return "", nil, err
		}
		b.WriteString(narrow)
		values = append(values, narrowValues...)
	}
	found, foundValues := s.whereFound(q.Search)
	b.WriteString(found)
	values = append(values, foundValues...)
	switch {
	case after == nil:
	case after.Rank == releaseRank:
		b.WriteString(" AND (e.ts, e.id) < (?, ?)")
		values = append(values, after.TS, after.Seq)
	default:
		b.WriteString(" AND e.ts < ?")
		values = append(values, after.TS)
	}
	b.WriteString(" ORDER BY e.ts DESC, e.id DESC" + store.Limit(q.Limit+1))
	return b.String(), values, nil
}

const eventColumns = "e.id, e.kind, e.ts, e.repo_full_name, e.title, e.body, e.body_truncated, e.html_url, e.actor_login, e.actor_avatar, e.actor_url, " +
	"COALESCE(p.avatar_url, ''), COALESCE(p.image_url, ''), COALESCE(p.custom_image, ?)"

func scanEvent(rows *sql.Rows, i *Item) error {
	err := rows.Scan(&i.Seq, &i.Kind, &i.TS, &i.RepoFullName, &i.Title, &i.Body, &i.BodyTruncated, &i.HTMLURL, &i.ActorLogin, &i.ActorAvatar,
		&i.ActorURL, &i.AvatarURL, &i.ImageURL, &i.CustomImage)
	i.EntryURL = i.HTMLURL
	return err
}

// listEvents returns one event more than the page has, if there is one.
func (s *Store) listEvents(ctx context.Context, q Query, after *place) ([]Item, error) {
	chosen, values := chooseEvents(q, after)
	text := "SELECT " + eventColumns + " FROM release_events e LEFT JOIN release_repos p ON p.id = e.repo_id" + chosen
	return s.queryItems(ctx, &q, text, append([]any{false}, values...), q.Limit+1, scanEvent)
}

// chooseEvents returns the end of a query from WHERE on, and its values: of the events e, one more than the page has.
func chooseEvents(q Query, after *place) (text string, values []any) {
	var b strings.Builder
	b.WriteString(" WHERE e.user_id = ?")
	values = append(values, q.UserID)
	if !q.Types.isAll() || q.Scope.IsSet() {
		b.WriteString(" AND e.kind IN (")
		for i, kind := range q.eventKinds() {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString("?")
			values = append(values, string(kind))
		}
		b.WriteString(")")
	}
	if q.Scope.IsSet() {
		b.WriteString(" AND EXISTS (SELECT 1 FROM release_links l WHERE l.user_id IN (?, '') AND l.repo_id = e.repo_id AND l.visible)")
		scope, scopeValues := repo.InScope(q.Scope, "e.repo_id")
		b.WriteString(scope)
		values = append(append(values, q.UserID), scopeValues...)
	}
	if after != nil {
		b.WriteString(" AND (e.ts, e.event_rank, e.id) < (?, ?, ?)")
		values = append(values, after.TS, after.Rank, after.Seq)
	}
	b.WriteString(" ORDER BY e.ts DESC, e.event_rank DESC, e.id DESC" + store.Limit(q.Limit+1))
	return b.String(), values
}

// queryItems runs a query past gorm, whose building of statements would cost as much as the query. A caller who goes away ends a search
// alone: watching for that costs a page a fifth of its time.
func (s *Store) queryItems(ctx context.Context, q *Query, text string, values []any, size int,
	scan func(*sql.Rows, *Item) error) (items []Item, err error) {
	if !q.Search.isSet() {
		ctx = context.WithoutCancel(ctx)
	}
	rows, err := connPool(s.store.DB(ctx)).QueryContext(ctx, s.store.Dialect().Bind(text), values...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	items = make([]Item, 0, size)
	for rows.Next() {
		items = append(items, Item{})
		if err := scan(rows, &items[len(items)-1]); err != nil {
			return nil, err
		}
	}
	return items, rows.Err()
}

func connPool(db *gorm.DB) gorm.ConnPool { return db.Statement.ConnPool }
