package queue_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
)

// allPages reads a whole list in pages of two.
func allPages(t *testing.T, q *queue.Queue, f queue.Filter) (ids []string) {
	t.Helper()
	for cursor, first := "", true; first || cursor != ""; first = false {
		jobs, next, err := q.List(t.Context(), f, cursor, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range jobs {
			ids = append(ids, j.ID)
		}
		cursor = next
	}
	return ids
}

// Every filter gives what a look at each job gives, in pages, newest first.
func TestListFilters(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		q := build(t, config(st))
		type entry struct {
			job  queue.Job
			tags []string
		}
		var all []entry
		for i := range 24 {
			tags := []string{"all", fmt.Sprintf("n%d", i%3)}
			job := submit(t, q, queue.Submission{Type: string(rune('a' + i%4)), Actor: []string{"x", "y"}[i/12], Tags: append(tags, "all")})
			if i%5 == 0 {
				var err error
				if job, err = q.Cancel(t.Context(), job.ID); err != nil {
					t.Fatal(err)
				}
			}
			all = append(all, entry{job, tags})
		}
		slices.Reverse(all)
		queued, canceled := queue.Queued, queue.Canceled
		for i, f := range []queue.Filter{
			{}, {Types: []string{"a"}}, {Types: []string{"a", "c", "a"}}, {States: []queue.State{queued, canceled}},
			{States: []queue.State{canceled}},
			{Types: []string{"b", "d"}, States: []queue.State{canceled}},
			{Types: []string{"b", "d", "zz"}, States: []queue.State{canceled, queued}, Actor: "y"},
			{Tags: []string{"n1"}}, {Tags: []string{"n1", "all"}}, {Tags: []string{"n1", "n2"}}, {Tags: []string{"none"}},
			{ExceptTypes: []string{"a", "c"}}, {ExceptTypes: []string{"a"}, States: []queue.State{queued, canceled}},
			{ExceptTypes: []string{"b"}, Tags: []string{"n1"}},
			{Tags: []string{"all"}, Types: []string{"a", "b"}, States: []queue.State{queued, canceled}, Actor: "x"},
		} {
			var want []string
			for _, e := range all {
				has := func(tag string) bool { return slices.Contains(e.tags, tag) }
				if (f.Types == nil || slices.Contains(f.Types, e.job.Type)) && (f.States == nil || slices.Contains(f.States, e.job.State)) &&
					!slices.Contains(f.ExceptTypes, e.job.Type) && (f.Actor == "" || f.Actor == e.job.Actor) &&
					!slices.ContainsFunc(f.Tags, func(tag string) bool { return !has(tag) }) {
					want = append(want, e.job.ID)
				}
			}
			if diff := cmp.Diff(want, allPages(t, q, f)); diff != "" {
				t.Errorf("filter %d: %s", i, diff)
			}
		}
	})
}

func TestTagsRefused(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		q := build(t, config(st))
		for _, tags := range [][]string{{""}, {"a\x00"}, {strings.Repeat("x", 201)}, slices.Repeat([]string{"x"}, 4097)} {
			if _, _, err := q.Submit(t.Context(), queue.Submission{Type: "x", Tags: tags}); fault.CodeOf(err) != fault.InvalidArgument {
				t.Errorf("%q: %v", tags, err)
			}
		}
		if n := count(t, st, "jobs"); n != 0 {
			t.Errorf("%d jobs", n)
		}
		many := make([]string, 4096)
		for i := range many {
			many[i] = fmt.Sprint("tag", i)
		}
		job := submit(t, q, queue.Submission{Type: "x", Tags: many})
		if diff := cmp.Diff([]string{job.ID}, allPages(t, q, queue.Filter{Tags: []string{"tag4095", "tag0"}})); diff != "" ||
			count(t, st, "job_tags") != 4096 {
			t.Error(diff)
		}
	})
}

func TestHolders(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		q := build(t, config(st))
		first := submit(t, q, queue.Submission{Type: "x", Locks: []string{"a", "b"}})
		second := submit(t, q, queue.Submission{Type: "y", Locks: []string{"c"}})
		ended := submit(t, q, queue.Submission{Type: "y", Locks: []string{"d"}})
		if _, err := q.Cancel(t.Context(), ended.ID); err != nil {
			t.Fatal(err)
		}
		held, err := q.Holders(t.Context(), []string{"a", "b", "c", "d", "e"})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for resource, job := range held {
			got[resource] = job.ID + job.Type
		}
		if diff := cmp.Diff(map[string]string{"a": first.ID + "x", "b": first.ID + "x", "c": second.ID + "y"}, got); diff != "" {
			t.Error(diff)
		}
		if held, err := q.Holders(t.Context(), nil); err != nil || len(held) != 0 {
			t.Errorf("%v %v", held, err)
		}
	})
}

func TestResultBesideAnError(t *testing.T) {
	partly := map[string]int{"done": 3}
	tests := map[queue.State]func(context.Context) (any, error){
		queue.Failed:     func(context.Context) (any, error) { return partly, errors.New("broken") },
		queue.RolledBack: func(context.Context) (any, error) { return partly, queue.EndRolledBack(errors.New("undone")) },
		queue.Canceled:   func(ctx context.Context) (any, error) { <-ctx.Done(); return partly, ctx.Err() },
	}
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		for state, f := range tests {
			q := start(t, st, handler(string(state), f))
			id := submit(t, q, queue.Submission{Type: string(state)}).ID
			awaitRunningOrEnd(t, q, id)
			if state == queue.Canceled {
				if _, err := q.Cancel(t.Context(), id); err != nil {
					t.Fatal(err)
				}
			}
			job := awaitEnd(t, q, id)
			if job.State != state || string(job.Result) != `{"done":3}` || job.Failure == nil {
				t.Errorf("%s: %+v", state, job)
			}
			events, err := q.Events(t.Context(), id, job.LastSeq-1, 1)
			if err != nil || len(events) != 1 || !strings.Contains(string(events[0].Data), `"result":{"done":3}`) {
				t.Errorf("%s: %v %v", state, events, err)
			}
		}
		q := start(t, st, handler("odd", func(context.Context) (any, error) { return make(chan int), errors.New("broken") }))
		if job := awaitEnd(t, q, submit(t, q, queue.Submission{Type: "odd"}).ID); job.State != queue.Failed || job.Result != nil {
			t.Errorf("%+v", job)
		}
	})
}

func awaitRunningOrEnd(t *testing.T, q *queue.Queue, id string) {
	t.Helper()
	await(t, q, id, func(j queue.Job) bool { return j.State != queue.Queued }, "claimed")
}

// A checkpoint outlives the attempt, a note is only shown, and neither is an event.
func TestNoteAndCheckpoint(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		var ended queue.Job
		h := queue.Handler{Type: "x", MaxAttempts: 3, Backoff: func(int) time.Duration { return time.Millisecond }}
		h.Run = func(ctx context.Context, job *queue.Job, p queue.Progress) (any, error) {
			var at int
			if job.Checkpoint != nil {
				at = int(job.Checkpoint[0] - '0')
			}
			p.Note(ctx, map[string]int{"attempt": job.Attempt})
			p.Note(ctx, strings.Repeat("x", 64<<10)) // too large: the former stays
			p.Note(ctx, make(chan int))
			ctx, cancel := context.WithCancel(ctx)
			cancel() // must not hinder it
			if err := p.Checkpoint(ctx, at+1); err != nil {
				return nil, err
			}
			if err := p.Checkpoint(ctx, strings.Repeat("x", 1<<20)); err == nil {
				return nil, errors.New("too large, and accepted")
			}
			if at < 2 {
				return nil, queue.Temporary(errors.New("again"))
			}
			return at, nil
		}
		h.Finished = func(_ context.Context, job queue.Job) error { ended = job; return nil }
		q := start(t, st, h)
		job := awaitEnd(t, q, submit(t, q, queue.Submission{Type: "x"}).ID)
		if string(job.Result) != "2" || string(job.Checkpoint) != "3" || string(job.Detail) != `{"attempt":3}` {
			t.Errorf("got %s, checkpoint %s, detail %s", job.Result, job.Checkpoint, job.Detail)
		}
		if string(ended.Checkpoint) != "3" {
			t.Errorf("Finished got %s", ended.Checkpoint)
		}
		want := []string{"queued", "running", "retry", "running", "retry", "running", "finished"}
		if diff := cmp.Diff(want, eventTypes(t, q, job.ID)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestCheckpointOfALostJob(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		told := make(chan error, 1)
		q := start(t, st, queue.Handler{Type: "x", Run: func(ctx context.Context, job *queue.Job, p queue.Progress) (any, error) {
			err := st.Tx(context.Background(), "steal", func(ctx context.Context) error {
				return st.Writer(ctx).Exec("UPDATE jobs SET claims = claims + 1 WHERE id = ?", job.ID).Error
			})
			told <- errors.Join(err, p.Checkpoint(ctx, 1))
			return nil, nil
		}})
		submit(t, q, queue.Submission{Type: "x"})
		if err := <-told; !errors.Is(err, queue.ErrLost) {
			t.Errorf("got %v", err)
		}
		if n := count(t, st, "job_checkpoints"); n != 0 {
			t.Errorf("%d checkpoints", n)
		}
	})
}
