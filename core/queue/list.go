package queue

import (
	"context"
	"fmt"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/lists"
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
	// ExceptTypes are types that are left out.
	ExceptTypes []string
	Actor       string
	// Lock selects the unfinished job that holds this resource.
	Lock string
	// Tags are those of Submission; a job must have all of them. Name the rarest first: its jobs are looked through.
	Tags []string
	// Here selects the jobs that run in this process.
	Here bool
	// owner selects the jobs of one owner.
	owner string
}

// position is the sort key of the last job of a page.
type position struct {
	At int64  `json:"at"`
	ID string `json:"id"`
}

var sqlGet = `SELECT ` + jobColumns + `, COALESCE(c.data, '') AS checkpoint
	FROM jobs LEFT JOIN job_checkpoints c ON c.job_id = jobs.id WHERE jobs.id = ?`

// Get reads a job. An unknown id is a fault.NotFound.
func (q *Queue) Get(ctx context.Context, id string) (Job, error) {
	r, err := q.queryOne(ctx, sqlGet, id)
	if err != nil {
		return Job{}, fmt.Errorf("read the job: %w", err)
	}
	if r == nil {
		return Job{}, fault.New(fault.NotFound, "There is no such job.")
	}
	return r.toJob(), nil
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
	if f.Here {
		_, f.owner = currentOwner(q)
	}
	sql, args := f.pageQuery(after, limit+1)
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
	jobs = lists.ConvertAll(rows, func(r row) Job { return r.toJob() })
	return jobs, next, nil
}

const sqlCountOpen = `SELECT state, COUNT(*) AS n FROM jobs WHERE state IN ? GROUP BY state`

// CountOpen returns how many jobs run and how many wait.
func (q *Queue) CountOpen(ctx context.Context) (running, queued int64, err error) {
	var rows []struct {
		State State
		N     int64
	}
	if err := q.store.DB(ctx).Raw(sqlCountOpen, []State{Queued, Running}).Scan(&rows).Error; err != nil {
		return 0, 0, fmt.Errorf("count jobs: %w", err)
	}
	for _, r := range rows {
		if r.State == Running {
			running = r.N
		} else {
			queued = r.N
		}
	}
	return running, queued, nil
}

var sqlHolders = `SELECT l.resource, ` + jobColumns + ` FROM job_locks l JOIN jobs ON jobs.id = l.job_id WHERE l.resource IN ?`

// Holders returns the unfinished job that holds each of the resources; those that nobody holds are absent.
func (q *Queue) Holders(ctx context.Context, resources []string) (map[string]Job, error) {
	out := map[string]Job{}
	if len(resources) == 0 {
		return out, nil
	}
	var rows []struct {
		Resource string
		Job      row `gorm:"embedded"`
	}
	if err := q.store.DB(ctx).Raw(sqlHolders, resources).Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("read who holds the locks: %w", err)
	}
	for i := range rows {
		out[rows[i].Resource] = rows[i].Job.toJob()
	}
	return out, nil
}
