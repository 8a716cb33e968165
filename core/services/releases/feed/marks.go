package feed

import (
	"context"
	"database/sql"
	"hash/fnv"
	"strconv"
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

// markColumns are those of a release that Marks looks at.
const markColumns = "r.id, r.ts, r.updated_at"

// Marks returns the marks of the first items of the feed.
func (s *Store) Marks(ctx context.Context, q Query) (marks []Mark, err error) {
	if q.Scope.IsEmpty() {
		return nil, nil
	}
	var releases, events []Item
	updated := map[int64]int64{}
	if q.wantsReleases() {
		releases, err = s.listReleases(ctx, q, nil, markColumns, func(rows *sql.Rows, i *Item) error {
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
