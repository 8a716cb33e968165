package queue

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/queue/tickets"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Hooks for tests of this package's insides.

func (q *Queue) InitSchedules(ctx context.Context) error { return q.initSchedules(ctx) }
func (q *Queue) FireDue(ctx context.Context) time.Duration {
	return q.fireDue(ctx, q.newOutage())
}
func (q *Queue) Clean(ctx context.Context) error                  { return q.deleteOld(ctx) }
func (q *Queue) Recover(ctx context.Context, sole bool) error     { return q.recoverOrphans(ctx, sole) }
func (q *Queue) Beat(ctx context.Context) error                   { return q.confirmRunning(ctx) }
func (q *Queue) TellWaiting(ctx context.Context, due int64) error { return tellWaiting(ctx, q, due) }
func (q *Queue) Owner() string                                    { return q.processOwner }

// HasSchedule reports whether this process knows a schedule.
func (q *Queue) HasSchedule(name string) bool {
	return slices.ContainsFunc(q.allSchedules(), func(s *schedule) bool { return s.Name == name })
}

// BeginFirst begins a queued job on PostgreSQL for the first time, as by a ticket.
func (q *Queue) BeginFirst(id string) (begun, locked bool, err error) {
	r, locked, err := q.dispatch.(*ticketDispatcher).beginRow(tickets.Ticket{Job: id}, q.processOwner)
	return r != nil, locked, err
}

// Outage is outage with exported methods.
type Outage struct{ *outage }

func NewOutage(log hclog.Logger, now func() time.Time) Outage {
	return Outage{&outage{log: log, now: now}}
}
func (o Outage) Fail(message string, err error)         { o.fail(message, err) }
func (o Outage) End()                                   { o.end() }
func (o Outage) Pause(base time.Duration) time.Duration { return o.pause(base) }

func (f Filter) Query(after bool, limit int) (sql string, args []any) {
	if after {
		return f.pageQuery(&position{At: 1 << 60, ID: "x"}, limit)
	}
	return f.pageQuery(nil, limit)
}

// Statement is a statement with its arguments, to be explained.
type Statement struct {
	Name string
	SQL  string
	Args []any
	// Sorts allows a sort, where few rows are certain.
	Sorts bool
}

// Statements are those that run often or on large tables.
func (q *Queue) Statements() []Statement {
	types := []string{"a", "b"}
	out := []Statement{
		{"duplicate", sqlDuplicate, []any{"a", "k"}, false},
		{"stale", withClock(q.store, sqlStaleOwners), []any{1, types, 10}, false},
		{"others", sqlOtherOwners, []any{1 << 60, "o", 10}, false},
		{"beat", withClock(q.store, sqlHeartbeat), []any{"o", []string{"x", "y"}}, false},
		{"clean", sqlDeleteJobs, []any{1, 10}, false},
		{"events", sqlEvents + store.Limit(10), []any{"x", 1}, false},
		{"end", sqlEnd, []any{"failed", "", "", "", "", 1, "failed", "x", 1, "running"}, false},
		{"release", "DELETE FROM job_locks WHERE job_id = ?", []any{"x"}, false},
		{"conflict", "SELECT job_id FROM job_locks WHERE resource = ?", []any{"r"}, false},
	}
	out = append(out,
		Statement{"forget", sqlDeleteEvents, []any{1, 10}, false},
		Statement{"holders", sqlHolders, []any{[]string{"r", "s"}}, false},
		Statement{"resume", sqlResume, []any{"x"}, false},
		Statement{"get", sqlGet, []any{"x"}, false},
		Statement{"events after", sqlEventsAfter + store.Limit(10), []any{1}, false},
		Statement{"events after of types", sqlEventsAfterOf + store.Limit(10), []any{1, types}, false},
		Statement{"last event", sqlLastEvent, nil, false},
	)
	if q.store.Dialect() == store.Postgres {
		out = append(out, Statement{"unnumbered", sqlUnnumbered, nil, false},
			Statement{"places", withClock(q.store, sqlPlacesDue), []any{1}, true},
			Statement{"waiting", withClock(q.store, sqlTellWaiting), []any{"w", "p", 1, "w", 10}, true})
	} else {
		out = append(out, Statement{"next", sqlNext, []any{types}, false}, Statement{"claim", sqlClaim, []any{"o", 1, 1, types}, false})
	}
	for i, f := range filters() {
		for _, after := range []bool{false, true} {
			sql, args := f.Query(after, 10)
			many := len(f.Types) > 1 || len(f.States) > 1
			out = append(out, Statement{fmt.Sprintf("list %d %v", i, after), sql, args, f.Lock != "" || many})
			if !many || len(f.Tags) > 0 {
				continue
			}
			for j, arm := range f.splitArms() { // what a page of several is sorted from must need no sort
				sql, args := arm.Query(after, 10)
				out = append(out, Statement{fmt.Sprintf("list %d %v arm %d", i, after, j), sql, args, false})
			}
		}
	}
	return out
}

func filters() []Filter {
	types, active := []string{"a", "b"}, []State{Queued, Running}
	return []Filter{
		{}, {States: active[:1]}, {Types: types[:1]}, {Lock: "r"}, {Types: types}, {States: active}, {Types: types[:1], States: active[:1]},
		{Types: types, States: active}, {Types: types, Actor: "x"}, {Tags: types[:1]}, {Tags: types}, {Tags: types[:1], Types: types[:1]},
	}
}
