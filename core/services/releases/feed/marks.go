package feed

import (
	"context"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/patchbay-dev/patchbay/core/store"
)

// Mark identifies a state of a row of a list: Digest differs once the row has changed.
type Mark struct {
	// Key names the row, such as release:42.
	Key    string
	Digest [6]byte
	// At is the time by which the mark is sorted, where lists are merged. It is in Unix milliseconds.
	At int64
}

// releaseKey begins the keys of releases.
const releaseKey = string(Release) + ":"

// ReleaseID returns the id of the release that a mark is of; 0 for anything else.
func (m *Mark) ReleaseID() int64 {
	id, found := strings.CutPrefix(m.Key, releaseKey)
	if !found {
		return 0
	}
	n, _ := strconv.ParseInt(id, 10, 64)
	return n
}

// Extend has the digest differ by further texts as well.
func (m *Mark) Extend(parts ...string) {
	m.Digest = digestText(string(m.Digest[:]) + "\x00" + strings.Join(parts, "\x00"))
}

func digestText(text string) (digest [6]byte) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	var sum [8]byte
	copy(digest[:], h.Sum(sum[:0]))
	return digest
}

// MarkQuery asks for the marks of a list, which is that of one query or is merged from those of several.
type MarkQuery struct {
	Parts []MarkPart
	// Limit is how many marks are read at most.
	Limit int
}

// MarkPart is a query for marks.
type MarkPart struct {
	// Rows is the query. Its column mark is made by MarkColumn, and its other columns are those of Order.
	Rows string
	// Order sorts the rows, as after ORDER BY.
	Order  string
	Values []any
}

// MarkColumn returns the column of a MarkQuery that identifies a state of a row: an expression for a text that differs once the row has
// changed, and one for its key. Neither text may have a tab or a line feed. Where lists are merged, the state begins with the time in Unix
// milliseconds by which they are sorted, and a space.
func MarkColumn(state, key string) string { return state + " || '\t' || " + key + " AS mark" }

// ReadMarks returns the marks of several lists, all from one statement with one row: with a row for each mark, most of the time would go
// into reading rows. It runs past gorm and does not watch for a caller who goes away, which would take longer than the statement.
func ReadMarks(ctx context.Context, s *store.Store, lists ...MarkQuery) ([][]Mark, error) {
	var columns []string
	var values []any
	for _, list := range lists {
		for _, part := range list.Parts {
			columns = append(columns, "COALESCE((SELECT string_agg(m.mark, '\n' ORDER BY "+part.Order+") FROM ("+part.Rows+") m), '')")
			values = append(values, part.Values...)
		}
	}
	marks := make([][]Mark, len(lists))
	if len(columns) == 0 {
		return marks, nil
	}
	read := make([]string, len(columns))
	into := make([]any, len(columns))
	for i := range read {
		into[i] = &read[i]
	}
	ctx = context.WithoutCancel(ctx)
	text := s.Dialect().Bind("SELECT " + strings.Join(columns, ", "))
	if err := connPool(s.DB(ctx)).QueryRowContext(ctx, text, values...).Scan(into...); err != nil {
		return nil, err
	}
	for i, list := range lists {
		for range list.Parts {
			marks[i] = mergeMarks(marks[i], parseMarks(read[0], list.Limit), list.Limit)
			read = read[1:]
		}
	}
	return marks, nil
}

// parseMarks reads the first marks of a text with one in each line.
func parseMarks(text string, limit int) []Mark {
	if text == "" {
		return nil
	}
	marks := make([]Mark, 0, limit)
	for line := range strings.SplitSeq(text, "\n") {
		if len(marks) == limit {
			break
		}
		state, key, _ := strings.Cut(line, "\t")
		at, _, _ := strings.Cut(state, " ")
		m := Mark{Key: key, Digest: digestText(line)}
		m.At, _ = strconv.ParseInt(at, 10, 64)
		marks = append(marks, m)
	}
	return marks
}

// mergeMarks joins two lists that are sorted by time, the latest first. Of marks of one time, those of a come first.
func mergeMarks(a, b []Mark, limit int) []Mark {
	if len(a) == 0 || len(b) == 0 {
		return append(a, b...)
	}
	merged := make([]Mark, 0, limit)
	for len(merged) < limit && len(a)+len(b) > 0 {
		if len(b) == 0 || len(a) > 0 && a[0].At >= b[0].At {
			merged, a = append(merged, a[0]), a[1:]
		} else {
			merged, b = append(merged, b[0]), b[1:]
		}
	}
	return merged
}

// MarkQuery returns the query for the marks of the first items of the feed. It has no parts if there can be none.
func (s *Store) MarkQuery(ctx context.Context, q Query) (MarkQuery, error) {
	m := MarkQuery{Limit: q.Limit}
	if q.Scope.IsEmpty() {
		return m, nil
	}
	if q.wantsReleases() {
		chosen, values, err := s.chooseReleases(ctx, q, nil)
		if err != nil {
			return m, err
		}
		column := MarkColumn("e.ts || ' ' || e.updated_at", "'"+releaseKey+"' || e.id")
		m.Parts = append(m.Parts, MarkPart{Rows: "SELECT " + column + ", e.ts, e.id" + chosen, Order: "m.ts DESC, m.id DESC", Values: values})
	}
	if len(q.eventKinds()) > 0 {
		chosen, values := chooseEvents(q, nil)
		column := MarkColumn("e.ts || ' '", "e.kind || ':"+eventIDPrefix+"' || e.id")
		rows := "SELECT " + column + ", e.ts, e.event_rank, e.id FROM release_events e" + chosen
		m.Parts = append(m.Parts, MarkPart{Rows: rows, Order: "m.ts DESC, m.event_rank DESC, m.id DESC", Values: values})
	}
	return m, nil
}

// Marks returns the marks of the first items of the feed.
func (s *Store) Marks(ctx context.Context, q Query) ([]Mark, error) {
	m, err := s.MarkQuery(ctx, q)
	if err != nil {
		return nil, err
	}
	marks, err := ReadMarks(ctx, s.store, m)
	if err != nil {
		return nil, err
	}
	return marks[0], nil
}
