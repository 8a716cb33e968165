package audit

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/fault"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// LogFilter selects requests of the audit. The zero value selects all.
type LogFilter struct {
	TokenIDs   []string
	KeyID      string
	Operations []string
	// Outcomes are success, error, refused, interrupted.
	Outcomes []string
	// Backend is the instance that answered.
	Backend string
	// Statuses are those that the client saw.
	Statuses []int
	// RequestID is an id of this service's own.
	RequestID string
	// Since and Until bound the time; zero is no bound.
	Since, Until time.Time
}

// requestRow is a row of the audit as it is stored.
type requestRow struct {
	ID             int64
	Time           int64
	RequestID      string
	TokenID        string
	KeyID          string
	Backend        string
	Operation      string
	Outcome        Outcome
	Status         int
	UpstreamStatus int
	Credits        int64
	DurationUS     int64 `gorm:"column:duration_us"`
	UpstreamUS     int64 `gorm:"column:upstream_us"`
	PluginUS       int64 `gorm:"column:plugin_us"`
	Attempts       int
	RequestBytes   int
	ResponseBytes  int
	Client         string
	ErrorCode      string
	Cached         bool
	Detail         string
}

// TableName implements gorm's Tabler.
func (requestRow) TableName() string { return "search_requests" }

// requestColumns are the columns of a row, in the order of columns.
const requestColumns = "id,time,request_id,token_id,key_id,backend,operation,outcome,status,upstream_status,credits,duration_us,upstream_us,plugin_us,attempts,request_bytes,response_bytes,client,error_code,cached,detail"

// scanTargets returns the fields that a row is scanned into. gorm's reflection would double the time of a list.
func (r *requestRow) scanTargets() []any {
	return []any{
		&r.ID, &r.Time, &r.RequestID, &r.TokenID, &r.KeyID, &r.Backend, &r.Operation, &r.Outcome, &r.Status, &r.UpstreamStatus, &r.Credits,
		&r.DurationUS, &r.UpstreamUS, &r.PluginUS, &r.Attempts, &r.RequestBytes, &r.ResponseBytes, &r.Client, &r.ErrorCode, &r.Cached, &r.Detail,
	}
}

// parseOutcome returns the outcome of a word.
func parseOutcome(word string) (Outcome, bool) {
	for o := Open; o <= Interrupted; o++ {
		if o.String() == word {
			return o, true
		}
	}
	return 0, false
}

// requestIDSpread is how long before its row's time an id may have been made, or after it.
const requestIDSpread = time.Minute

// idRange returns the bounds of ids that the bounds in time mean. Every index ends with the id.
func (r *Store) idRange(ctx context.Context, f *LogFilter) (from, before int64, err error) {
	if f.RequestID != "" {
		id, err := ulid.ParseStrict(strings.TrimPrefix(f.RequestID, "req_"))
		if err != nil || !strings.HasPrefix(f.RequestID, "req_") {
			return 0, 0, fault.InvalidField("request_id", "The id of a request must be req_ and 26 characters.")
		}
		at := ulid.Time(id.Time())
		f.Since, f.Until = laterTime(f.Since, at.Add(-requestIDSpread)), earlierTime(f.Until, at.Add(requestIDSpread))
	}
	if !f.Since.IsZero() {
		if from, err = r.FirstID(ctx, f.Since.UnixMilli()); err != nil {
			return 0, 0, err
		}
	}
	if !f.Until.IsZero() {
		before, err = r.FirstID(ctx, f.Until.Add(2*IdSlack).UnixMilli())
	}
	return from, before, err
}

func laterTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlierTime(a, b time.Time) time.Time {
	if !a.IsZero() && a.Before(b) {
		return a
	}
	return b
}

func (f LogFilter) applyTo(q *gorm.DB) (*gorm.DB, error) {
	if len(f.TokenIDs) > 0 {
		q = q.Where("token_id IN ?", f.TokenIDs)
	}
	if f.KeyID != "" {
		// The second half is said in the words of the partial index.
		q = q.Where("key_id = ? AND key_id <> ''", f.KeyID)
	}
	if len(f.Operations) > 0 {
		q = q.Where("operation IN ?", f.Operations)
		if !slices.Contains(f.Operations, sdk.OpSearch) {
			q = q.Where("operation <> 'search'")
		}
	}
	if f.Backend != "" {
		q = q.Where("backend = ?", f.Backend)
	}
	if len(f.Statuses) > 0 {
		q = q.Where("status IN ?", f.Statuses)
		if slices.Min(f.Statuses) >= 400 {
			// Such a request has failed or was refused.
			q = q.Where("outcome >= 2")
		}
	}
	if f.RequestID != "" {
		q = q.Where("request_id = ?", f.RequestID)
	}
	if len(f.Outcomes) > 0 {
		var numbers []int
		for _, word := range f.Outcomes {
			o, ok := parseOutcome(word)
			if !ok {
				return nil, fault.InvalidField("result", "The result must be one of success, error, refused, interrupted, open.")
			}
			numbers = append(numbers, int(o))
		}
		q = q.Where("outcome IN ?", numbers)
		if !slices.Contains(numbers, int(Open)) && !slices.Contains(numbers, int(Success)) {
			// Said in the words of the partial index.
			q = q.Where("outcome >= 2")
		}
	}
	if !f.Since.IsZero() {
		q = q.Where("time >= ?", f.Since.UnixMilli())
	}
	if !f.Until.IsZero() {
		q = q.Where("time < ?", f.Until.UnixMilli())
	}
	return q, nil
}

// ListRequests returns a page of the audit, as readPage does. The rows of several tokens are read token by token, each in the order of
// its index: to sort all that they ever did would take longer with each day.
func (r *Store) ListRequests(ctx context.Context, f LogFilter, before, after int64, limit int) (out []requestRow, err error) {
	if len(f.TokenIDs) < 2 {
		return r.readPage(ctx, f, before, after, limit)
	}
	ids := f.TokenIDs
	for _, id := range ids {
		f.TokenIDs = []string{id}
		rows, err := r.readPage(ctx, f, before, after, limit)
		if err != nil {
			return nil, err
		}
		out = append(out, rows...)
	}
	slices.SortFunc(out, func(a, b requestRow) int {
		if after > 0 {
			return cmp.Compare(a.ID, b.ID)
		}
		return cmp.Compare(b.ID, a.ID)
	})
	return out[:min(limit, len(out))], nil
}

// readPage returns a page of the audit before (newest first) or after (oldest first) an id; 0 is no bound.
func (r *Store) readPage(ctx context.Context, f LogFilter, before, after int64, limit int) (out []requestRow, err error) {
	from, until, err := r.idRange(ctx, &f)
	if err != nil {
		return nil, err
	}
	q, err := f.applyTo(r.db(ctx))
	if err != nil {
		return nil, err
	}
	q = q.Where("id >= ?", max(from, 1))
	if until > 0 {
		q = q.Where("id < ?", until)
	}
	if before > 0 {
		q = q.Where("id < ?", before)
	}
	if after > 0 {
		q = q.Where("id > ?", after).Order("id")
	} else {
		q = q.Order("id DESC")
	}
	return scanRequests(q, limit)
}

// requestsByID returns those of some requests that there are, by their ids.
func (r *Store) requestsByID(ctx context.Context, ids []int64) ([]requestRow, error) {
	return scanRequests(r.db(ctx).Where("id IN ?", ids).Order("id"), len(ids))
}

// scanRequests returns the requests of a query, at most limit.
func scanRequests(q *gorm.DB, limit int) (out []requestRow, err error) {
	rows, err := q.Model(&requestRow{}).Select(requestColumns).Limit(limit).Rows()
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	out = make([]requestRow, 0, limit)
	for rows.Next() {
		var row requestRow
		if err := rows.Scan(row.scanTargets()...); err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, rows.Err()
}

// FindRequest returns one row and its bodies, which are nil unless they were kept.
func (r *Store) FindRequest(ctx context.Context, id int64) (row requestRow, body BodyRecord, err error) {
	err = r.db(ctx).Where("id = ?", id).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return row, body, fault.New(fault.NotFound, "There is no such request, or its record has expired.")
	}
	if err != nil {
		return row, body, err
	}
	err = r.db(ctx).Where("request_row = ?", id).Take(&body).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		err = nil
	}
	return row, body, err
}
