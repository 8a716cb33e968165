package queue

import (
	"context"
	"fmt"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Limits of List.
const (
	defaultLimit = 50
	maxLimit     = 200
)

// Filter selects jobs; empty members select all.
type Filter struct {
	States []State
	Types  []string
	Actor  string
	// Lock selects the unfinished job that holds this resource.
	Lock string
}

// position is the sort key of the last job of a page.
type position struct {
	At int64  `json:"at"`
	ID string `json:"id"`
}

// Get reads a job. An unknown id is a fault.NotFound.
func (q *Queue) Get(ctx context.Context, id string) (Job, error) {
	r, err := q.one(ctx, `SELECT * FROM jobs WHERE id = ?`, id)
	if err != nil {
		return Job{}, fmt.Errorf("read the job: %w", err)
	}
	if r == nil {
		return Job{}, fault.New(fault.NotFound, "There is no such job.")
	}
	return r.job(), nil
}

// List returns jobs, newest first, and the cursor of the next page, which is "" on the last. limit 0 means 50; the most
// is 200. A cursor that List did not give out is a fault.InvalidArgument.
func (q *Queue) List(ctx context.Context, f Filter, cursor string, limit int) (jobs []Job, next string, err error) {
	if limit <= 0 {
		limit = defaultLimit
	}
	limit = min(limit, maxLimit)
	var after *position
	if cursor != "" {
		after = &position{}
		if err := store.DecodeCursor(cursor, after); err != nil {
			return nil, "", err
		}
	}
	sql, args := f.query(after, limit+1)
	var rows []row
	if err := q.store.DB(ctx).Raw(sql, args...).Scan(&rows).Error; err != nil {
		return nil, "", fmt.Errorf("list jobs: %w", err)
	}
	if len(rows) > limit {
		rows = rows[:limit]
		last := rows[limit-1]
		if next, err = store.EncodeCursor(position{At: last.CreatedAt, ID: last.ID}); err != nil {
			return nil, "", fmt.Errorf("list jobs: %w", err)
		}
	}
	jobs = make([]Job, len(rows))
	for i := range rows {
		jobs[i] = rows[i].job()
	}
	return jobs, next, nil
}

func (f Filter) query(after *position, limit int) (string, []any) {
	var where []string
	var args []any
	add := func(cond string, values ...any) {
		where = append(where, cond)
		args = append(args, values...)
	}
	if len(f.States) > 0 {
		add("state IN ?", f.States)
	}
	if len(f.Types) > 0 {
		add("type IN ?", f.Types)
	}
	if f.Actor != "" {
		add("actor = ?", f.Actor)
	}
	if f.Lock != "" {
		add("id IN (SELECT job_id FROM job_locks WHERE resource = ?)", f.Lock)
	}
	if after != nil {
		add("(created_at, id) < (?, ?)", after.At, after.ID)
	}
	sql := "SELECT * FROM jobs"
	if len(where) > 0 {
		sql += " WHERE " + strings.Join(where, " AND ")
	}
	return sql + " ORDER BY created_at DESC, id DESC LIMIT ?", append(args, limit)
}
