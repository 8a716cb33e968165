package access

import (
	"context"
	"fmt"
	"time"

	"github.com/patchbay-dev/patchbay/core/store"
)

// The spans of rows of quota_leases: seconds, minutes, days and months of use. The seed of a token says that what it had used before
// leases is part of them.
const (
	spanSeed   = 0
	spanSecond = 1
	spanMinute = 60
	spanDay    = 24 * 60 * 60
	spanMonth  = 31 * spanDay
)

// leaseStore holds the statements about leases.
type leaseStore struct{ store *store.Store }

// leaseRow is what was taken for a span of time.
type leaseRow struct {
	Span, Start       int64
	Node              string
	Requests, Credits int64
}

// wish is what to take of a token's limits.
type wish struct {
	// at is in the windows from which it is taken, by the clock of the database. isNew says that these are those of now.
	at    time.Time
	isNew bool
	// need is what a request lacks, at the price; more is how many such requests are wanted beyond it.
	need  need
	price int64
	more  int64
	// rest says that something is left of what was taken before.
	rest bool
}

// taken is the answer to a wish.
type taken struct {
	// at is in the windows that were looked at. moved says that they are not those of the wish, and nothing was taken.
	at                time.Time
	moved             bool
	requests, credits int64
	// open says that there is more than is needed.
	open bool
	// refusal is the limit that is reached; then nothing was taken. elsewhere says that other cores may have some to give back.
	refusal   *Exceeded
	elsewhere bool
	others    *counter
}

// lockToken makes those that take of a token's limits do so one after the other. It returns the time of the database after that.
func (s *leaseStore) lockToken(ctx context.Context, token string) (time.Time, error) {
	var now int64
	err := s.store.Writer(ctx).Raw("SELECT pg_advisory_xact_lock(hashtextextended('quota/' || ?, 0)), "+store.ClockSQL(s.store), token).
		Row().Scan(new(any), &now)
	return store.FromMillis(now), err
}

// readUse returns what was taken of a token's limits in the windows that hold a time: by all, and by others than node.
func (s *leaseStore) readUse(ctx context.Context, token, node string, at time.Time) (all, others *counter, seeded bool, err error) {
	all, others = &counter{}, &counter{}
	var rows []leaseRow
	err = s.store.DB(ctx).Raw(`SELECT span, start, CASE WHEN node = ? THEN node ELSE 'other' END AS node,
		SUM(requests)::bigint AS requests, SUM(credits)::bigint AS credits FROM quota_leases WHERE token_id = ? AND
		(span = 60 AND start > ? OR span = 1 AND start > ? OR span = ? AND start = ? OR span = ? AND start = ? OR span = 0) GROUP BY 1, 2, 3`,
		node, token, at.Unix()/60-ringSize, at.Unix()-ringSize, spanDay, dayStart(at), spanMonth, monthStart(at)).Scan(&rows).Error
	all.advance(at)
	others.advance(at)
	for _, r := range rows {
		seeded = seeded || r.Span == spanSeed
		all.addLease(r)
		if r.Node != node {
			others.addLease(r)
		}
	}
	return all, others, seeded, err
}

// addLease adds what a row says was taken.
func (c *counter) addLease(r leaseRow) {
	switch r.Span {
	case spanSecond:
		c.seconds.advance(r.Start) // the clock of another core may be ahead
		c.seconds.add(r.Start, r.Requests)
	case spanMinute:
		c.requests.advance(r.Start)
		c.credits.advance(r.Start)
		c.requests.add(r.Start, r.Requests)
		c.credits.add(r.Start, r.Credits)
	case spanDay:
		c.day.credits += r.Credits
	case spanMonth:
		c.month.credits += r.Credits
	}
}

// seedToken writes down what a token has used before there were leases of it, for no node.
func (s *leaseStore) seedToken(ctx context.Context, token string, at time.Time) error {
	minute := at.Unix()/60 - ringSize
	for _, q := range []struct {
		sql  string
		args []any
	}{
		{"SELECT CAST(? AS TEXT), 0, 0, '', 0, 0, FALSE", []any{token}},
		{"SELECT token_id, 60, minute, '', requests, credits, FALSE FROM quota_usage WHERE token_id = ? AND minute > ?", []any{token, minute}},
		// In which second they came is not stored: they count as if they had come in the last one that is possible.
		{"SELECT token_id, 1, LEAST(minute * 60 + 59, ?), '', SUM(requests), 0, FALSE FROM quota_usage WHERE token_id = ? AND minute * 60 + 59 > ? GROUP BY 1, 3",
			[]any{at.Unix(), token, at.Unix() - ringSize}},
		{"SELECT token_id, CAST(? AS BIGINT), CAST(? AS BIGINT), '', 0, SUM(credits), FALSE FROM quota_usage WHERE token_id = ? AND minute >= ? GROUP BY 1",
			[]any{spanDay, dayStart(at), token, dayStart(at)}},
		{"SELECT token_id, CAST(? AS BIGINT), CAST(? AS BIGINT), '', 0, SUM(credits), FALSE FROM quota_usage WHERE token_id = ? AND minute >= ? GROUP BY 1",
			[]any{spanMonth, monthStart(at), token, monthStart(at)}},
	} {
		err := s.store.Writer(ctx).Exec("INSERT INTO quota_leases (token_id, span, start, node, requests, credits, open) "+q.sql+
			" ON CONFLICT DO NOTHING", q.args...).Error
		if err != nil {
			return fmt.Errorf("write down what token %s has used: %w", token, err)
		}
	}
	return nil
}

// addToRows adds to what a core has taken at a time; what is negative is given back. open says whether more may come back.
func (s *leaseStore) addToRows(ctx context.Context, token, node string, at time.Time, seconds bool, requests, credits int64,
	open bool) error {
	const row = "(?, ?, ?, ?, ?, ?, ?)"
	minute := at.Unix() / 60
	sql := row + "," + row + "," + row
	args := []any{token, spanMinute, minute, node, requests, credits, open, token, spanDay, dayStart(at), node, 0, credits, false,
		token, spanMonth, monthStart(at), node, 0, credits, false}
	if seconds && requests != 0 {
		sql, args = sql+","+row, append(args, token, spanSecond, at.Unix(), node, requests, 0, false)
	}
	return s.store.Writer(ctx).Exec("INSERT INTO quota_leases (token_id, span, start, node, requests, credits, open) VALUES "+sql+
		` ON CONFLICT (token_id, span, start, node) DO UPDATE SET requests = quota_leases.requests + excluded.requests,
		credits = quota_leases.credits + excluded.credits, open = excluded.open`, args...).Error
}

// hasOpen reports whether cores that live, other than node, may have some of a token's limits to give back.
func (s *leaseStore) hasOpen(ctx context.Context, token, node string) (open bool, err error) {
	err = s.store.DB(ctx).Raw("SELECT EXISTS (SELECT 1 FROM quota_leases q JOIN core_nodes n ON n.id = split_part(q.node, '/', 1)"+
		" WHERE q.token_id = ? AND q.open AND q.node <> ? AND n.ended_at = 0 AND n.seen_at + n.lease_ms >= "+store.ClockSQL(s.store)+")",
		token, node).Row().Scan(&open)
	return open, err
}

// closeRows says of what former processes of a core have taken that nobody gives it back.
func (s *leaseStore) closeRows(ctx context.Context, id string) error {
	return s.store.Tx(ctx, "close former quota leases", func(ctx context.Context) error {
		return s.store.Writer(ctx).Exec("UPDATE quota_leases SET open = FALSE WHERE open AND split_part(node, '/', 1) = ?", id).Error
	})
}

// dropAll forgets all leases: a core that has the database for itself counts in memory.
func (s *leaseStore) dropAll(ctx context.Context) error {
	return s.store.Tx(ctx, "drop quota leases", func(ctx context.Context) error {
		return s.store.Writer(ctx).Exec("DELETE FROM quota_leases").Error
	})
}

// purge deletes what lies before every window, with a margin.
func (s *leaseStore) purge(ctx context.Context, now time.Time) error {
	return s.store.Tx(ctx, "delete old quota leases", func(ctx context.Context) error {
		return s.store.Writer(ctx).Exec(`DELETE FROM quota_leases WHERE span = 1 AND start < ? OR span = 60 AND start < ?
			OR span = ? AND start < ? OR span = ? AND start < ?`, now.Add(-time.Hour).Unix(), now.Add(-3*time.Hour).Unix()/60, spanDay,
			dayStart(now.AddDate(0, 0, -2)), spanMonth, monthStart(now.AddDate(0, 0, -62))).Error
	})
}
