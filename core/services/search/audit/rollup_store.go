package audit

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/store"
)

// rollupRow is a row of the roll-ups as it is stored.
type rollupRow struct {
	rollupKey
	RequestSums
}

const (
	rollupNames = "scope,subject,step,start,operation,last_at"
	rollupTally = "requests,successes,errors,refused,credits,duration_us,h0,h1,h2,h3,h4,h5,h6,h7,h8,h9,h10,h11,h12,h13"
	// rollupSlice is about how many rows one transaction stores, so that requests wait little for it.
	rollupSlice = 300
)

// rollupUpsert adds a row to the stored one.
func rollupUpsert(d store.Dialect) string {
	later := "MAX"
	if d == store.Postgres {
		later = "GREATEST"
	}
	columns := strings.Split(rollupTally, ",")
	var set []string
	for _, c := range columns {
		set = append(set, c+"=search_rollups."+c+"+excluded."+c)
	}
	set = append(set, "last_at="+later+"(search_rollups.last_at,excluded.last_at)")
	return d.Bind("INSERT INTO search_rollups (" + rollupNames + "," + rollupTally + ") VALUES (?,?,?,?,?,?" +
		strings.Repeat(",?", len(columns)) + ") ON CONFLICT (scope,subject,step,start,operation) DO UPDATE SET " + strings.Join(set, ","))
}

// addRollups adds sums to the stored ones, in slices, and sets the mark. The rows of a subject go together, so that its hours
// and its sum since the beginning agree whatever happens. What is not stored is returned with the error.
func (r *Store) addRollups(ctx context.Context, add map[rollupKey]*RequestSums, now time.Time) (map[rollupKey]*RequestSums, error) {
	keys := sortedKeys(add)
	sql := rollupUpsert(r.store.Dialect())
	for len(keys) > 0 {
		n := min(rollupSlice, len(keys))
		for n < len(keys) && keys[n].Scope == keys[n-1].Scope && keys[n].Subject == keys[n-1].Subject {
			n++
		}
		if err := r.addSlice(ctx, sql, keys[:n], add); err != nil {
			return add, err
		}
		for _, k := range keys[:n] {
			delete(add, k)
		}
		keys = keys[n:]
	}
	return nil, r.SetMark(ctx, MarkRollups, now.UnixMilli())
}

// sortedKeys returns the rows of sums in the order in which everybody locks them.
func sortedKeys(sums map[rollupKey]*RequestSums) []rollupKey {
	return slices.SortedFunc(maps.Keys(sums), func(a, b rollupKey) int {
		return cmp.Or(cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Step, b.Step),
			cmp.Compare(a.Start, b.Start), cmp.Compare(a.Operation, b.Operation))
	})
}

func (r *Store) addSlice(ctx context.Context, sql string, keys []rollupKey, add map[rollupKey]*RequestSums) error {
	return r.store.Tx(ctx, "store roll-ups", func(ctx context.Context) error {
		conn := r.store.Writer(ctx).Statement.ConnPool
		for _, k := range keys {
			s := add[k]
			args := []any{k.Scope, k.Subject, k.Step, k.Start, k.Operation, s.LastAt, s.Requests, s.Successes, s.Errors, s.Refused, s.Credits,
				s.DurationUS}
			for _, n := range s.Hist {
				args = append(args, n)
			}
			if _, err := conn.ExecContext(ctx, sql, args...); err != nil {
				return err
			}
		}
		return nil
	})
}

// ReadMark returns a stored time in Unix milliseconds, 0 if there is none.
func (r *Store) ReadMark(ctx context.Context, name string) (at int64, err error) {
	err = r.db(ctx).Raw("SELECT COALESCE(MAX(at), 0) FROM search_marks WHERE name = ?", name).Scan(&at).Error
	return at, err
}

// SetMark stores a time in Unix milliseconds under a name.
func (r *Store) SetMark(ctx context.Context, name string, at int64) error {
	return r.store.Tx(ctx, "set mark", func(ctx context.Context) error {
		return r.store.Writer(ctx).Exec("INSERT INTO search_marks (name, at) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET at = excluded.at",
			name, at).Error
	})
}

// RollupRows reads whole rows.
func (r *Store) RollupRows(ctx context.Context, where string, args ...any) (out []rollupRow, err error) {
	rows, err := r.db(ctx).Raw("SELECT "+rollupNames+","+rollupTally+" FROM search_rollups WHERE "+where, args...).Rows()
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var row rollupRow
	targets := append([]any{&row.Scope, &row.Subject, &row.Step, &row.Start, &row.Operation, &row.LastAt}, row.scanTargets()...)
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, rows.Err()
}

// rollupsSince returns the stored rows of all steps from a moment in Unix seconds on, without the sums since the beginning.
func (r *Store) rollupsSince(ctx context.Context, start int64) ([]rollupRow, error) {
	fine, err := r.RollupRows(ctx, "step = ? AND start >= ?", StepFine, start)
	if err != nil {
		return nil, err
	}
	hours, err := r.RollupRows(ctx, "step = ? AND start >= ?", StepHour, start)
	return append(fine, hours...), err
}

// rollupsEver returns the sums since the beginning of the subjects that have any.
func (r *Store) rollupsEver(ctx context.Context, scope string, subjects []string) (map[string]*RequestSums, error) {
	rows, err := r.db(ctx).Raw("SELECT subject, SUM(requests), SUM(successes), SUM(errors), SUM(refused), SUM(credits), MAX(last_at) FROM search_rollups "+
		"WHERE scope = ? AND subject IN ? AND step = 0 AND start = 0 GROUP BY subject", scope, subjects).Rows()
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	out := map[string]*RequestSums{}
	for rows.Next() {
		var subject string
		var s RequestSums
		if err := rows.Scan(&subject, &s.Requests, &s.Successes, &s.Errors, &s.Refused, &s.Credits, &s.LastAt); err != nil {
			return nil, err
		}
		out[subject] = &s
	}
	return out, rows.Err()
}

// RollupPoint is what one operation adds up to in a stretch of time that begins at Start, in Unix seconds.
type RollupPoint struct {
	Start     int64
	Operation string
	RequestSums
}

// rollupPoints returns the rows of a subject between two moments in Unix seconds, added up in points of width seconds. LastAt is not read.
func (r *Store) rollupPoints(ctx context.Context, scope, subject string, step, width, from, before int64) (out []RollupPoint, err error) {
	rows, err := r.db(ctx).Raw("SELECT start - (start - ?) % ? AS point, operation, "+rollupSums()+" FROM search_rollups "+
		"WHERE scope = ? AND subject = ? AND step = ? AND start >= ? AND start < ? GROUP BY point, operation", from, width, scope, subject, step,
		from, before).Rows()
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var p RollupPoint
	targets := append([]any{&p.Start, &p.Operation}, p.scanTargets()...)
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, rows.Err()
}

// rollupSums returns the columns that sum up the sums of several rows.
func rollupSums() string {
	return "SUM(" + strings.ReplaceAll(rollupTally, ",", "),SUM(") + ")"
}

// scanTargets returns the fields that the columns of rollupTally are scanned into.
func (s *RequestSums) scanTargets() []any {
	to := []any{&s.Requests, &s.Successes, &s.Errors, &s.Refused, &s.Credits, &s.DurationUS}
	for i := range s.Hist {
		to = append(to, &s.Hist[i])
	}
	return to
}

// PurgeRollups deletes the rows of a width from before a moment, at most limit of them.
func (r *Store) PurgeRollups(ctx context.Context, step int64, before time.Time, limit int) (more bool, err error) {
	err = r.store.Tx(ctx, "delete old roll-ups", func(ctx context.Context) error {
		w := r.store.Writer(ctx)
		var keys []rollupKey
		err := w.Table("search_rollups").Where("step = ? AND start < ?", step, before.Unix()).Order("start").Limit(limit).Find(&keys).Error
		if err != nil {
			return err
		}
		more = len(keys) == limit
		for _, k := range keys {
			err := w.Exec("DELETE FROM search_rollups WHERE scope = ? AND subject = ? AND step = ? AND start = ? AND operation = ?", k.Scope,
				k.Subject, k.Step, k.Start, k.Operation).Error
			if err != nil {
				return err
			}
		}
		return nil
	})
	return more, err
}

// eachSince visits the ended requests from a moment on.
func (r *Store) eachSince(ctx context.Context, from time.Time, visit func(*Entry)) error {
	first, err := r.FirstID(ctx, from.UnixMilli())
	if err != nil {
		return err
	}
	return r.eachRequest(ctx, visit, "id >= ? AND time >= ? AND outcome <> 0", first, from.UnixMilli())
}

// eachRequest visits the requests that a condition chooses.
func (r *Store) eachRequest(ctx context.Context, visit func(*Entry), where string, args ...any) error {
	rows, err := r.db(ctx).Raw("SELECT id, time, token_id, key_id, operation, outcome, credits, duration_us FROM search_requests WHERE "+where,
		args...).Rows()
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var e Entry
		var at, took int64
		if err := rows.Scan(&e.ID, &at, &e.TokenID, &e.KeyID, &e.Operation, &e.Outcome, &e.Credits, &took); err != nil {
			return err
		}
		e.Time, e.Duration = time.UnixMilli(at), time.Duration(took)*time.Microsecond
		visit(&e)
	}
	return rows.Err()
}

// IdSlack is how much later than its neighbours a request with a smaller id may have begun.
const IdSlack = 2 * time.Second

// FirstID returns an id from which on all requests since a moment, in Unix milliseconds, are found. Ids ascend with time, so
// that a search by halves needs no index on the time, which every request would pay for.
func (r *Store) FirstID(ctx context.Context, at int64) (int64, error) {
	at -= IdSlack.Milliseconds()
	var ends struct{ Low, High int64 }
	// Two statements in one: each end of the primary key is looked up by itself.
	err := r.db(ctx).Raw("SELECT COALESCE((SELECT MIN(id) FROM search_requests), 0) AS low, COALESCE((SELECT MAX(id) FROM search_requests), 0) AS high").Scan(&ends).Error
	if err != nil {
		return 0, err
	}
	low, high := ends.Low, ends.High+1
	for low < high {
		mid := low + (high-low)/2
		var row struct{ ID, Time int64 }
		if err := r.db(ctx).Raw("SELECT id, time FROM search_requests WHERE id >= ? ORDER BY id LIMIT 1", mid).Scan(&row).Error; err != nil {
			return 0, err
		}
		if row.ID == 0 || row.ID >= high || row.Time >= at {
			high = mid
		} else {
			low = row.ID + 1
		}
	}
	return low, nil
}
