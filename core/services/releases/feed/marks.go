package feed

import (
	"context"
	"database/sql"
	"hash/fnv"
	"strconv"

	"github.com/patchbay-dev/patchbay/core/store"
)

// Mark identifies a state of an item: Digest differs once the item has changed.
type Mark struct {
	Key    string
	Digest [6]byte
	// ReleaseID is that of a release, 0 for anything else.
	ReleaseID int64
}

// Extend has the digest differ by further texts as well.
func (m *Mark) Extend(parts ...string) {
	m.Digest = NewMark(string(m.Digest[:]), parts...).Digest
}

// NewMark returns the mark of what a key names, as the given texts describe it.
func NewMark(key string, parts ...string) (m Mark) {
	m.Key = key
	h := fnv.New64a()
	_, _ = h.Write([]byte(key))
	for _, part := range parts {
		_, _ = h.Write([]byte{0})
		_, _ = h.Write([]byte(part))
	}
	copy(m.Digest[:], h.Sum(nil))
	return m
}

// ListMarks returns a mark for each row of a query, whose columns scan reads. limit is how many rows there are at most. It runs past
// gorm and does not watch for a caller who goes away, which would take longer than the query.
func ListMarks(ctx context.Context, s *store.Store, limit int, text string, values []any, scan func(*sql.Rows) (Mark, error)) ([]Mark, error) {
	ctx = context.WithoutCancel(ctx)
	rows, err := connOf(s.DB(ctx)).QueryContext(ctx, s.Dialect().Bind(text+limitClause(limit)), values...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var marks []Mark
	for rows.Next() {
		m, err := scan(rows)
		if err != nil {
			return nil, err
		}
		marks = append(marks, m)
	}
	return marks, rows.Err()
}

// Marks returns the marks of the first items of the feed.
func (s *Store) Marks(ctx context.Context, q Query) (marks []Mark, err error) {
	if q.Scope.IsEmpty() {
		return nil, nil
	}
	var releases, events []Item
	updated := map[int64]int64{}
	if q.wantsReleases() {
		chosen, values, err := s.chooseReleases(ctx, q, nil)
		if err != nil {
			return nil, err
		}
		releases, err = s.queryItems(ctx, &q, "SELECT e.id, e.ts, e.updated_at"+chosen, values, q.Limit+1, func(rows *sql.Rows, i *Item) error {
			i.Kind = Release
			changed := int64(0)
			err := rows.Scan(&i.Seq, &i.TS, &changed)
			updated[i.Seq] = changed
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if len(q.eventKinds()) > 0 {
		if events, err = s.listEvents(ctx, q, nil); err != nil {
			return nil, err
		}
	}
	items := mergeItems(releases, events)
	items = items[:min(len(items), q.Limit)]
	marks = make([]Mark, len(items))
	for n := range items {
		i := &items[n]
		key := string(i.Kind) + ":" + i.ID()
		if i.Kind == Release {
			marks[n] = NewMark(key, strconv.FormatInt(i.TS, 36), strconv.FormatInt(updated[i.Seq], 36))
			marks[n].ReleaseID = i.Seq
			continue
		}
		marks[n] = NewMark(key, strconv.FormatInt(i.TS, 36))
	}
	return marks, nil
}
