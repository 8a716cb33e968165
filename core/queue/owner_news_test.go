package queue_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/queue"
)

// joinTalking starts a core that looks for jobs only when it is woken. It has a job type "talk", which logs what it is told to and ends when
// lines is closed, or with its context.
func joinTalking(t *testing.T, url, id string, held bool) (q *queue.Queue, lines chan string, causes <-chan error) {
	t.Helper()
	st := testkit.SharedStore(t, url, queue.Migrations())
	lines, ended := make(chan string), make(chan error, 100)
	cfg := config(st)
	cfg.Cluster = testkit.OpenCluster(t, st, id, true)
	cfg.Poll, cfg.Heartbeat = time.Hour, time.Hour
	cfg.Held = func() bool { return held }
	cfg.Handlers = []queue.Handler{{Type: "talk", Run: func(ctx context.Context, _ *queue.Job, p queue.Progress) (any, error) {
		for {
			select {
			case <-ctx.Done():
				ended <- context.Cause(ctx)
				return nil, context.Cause(ctx)
			case line, ok := <-lines:
				if !ok {
					ended <- nil
					return nil, nil
				}
				p.Log(ctx, "%s", line)
			}
		}
	}}}
	return run(t, build(t, cfg)), lines, ended
}

// TestJobForOtherNode: a job that only another node may begin begins there at once, its events come at once to those who follow them here,
// and so does a cancellation to the node where it runs.
func TestJobForOtherNode(t *testing.T) {
	url := testkit.Postgres(t)
	a, _, _ := joinTalking(t, url, "a", true)
	b, lines, causes := joinTalking(t, url, "b", false)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	all, err := a.FollowAll(ctx, 0)
	testkit.Must(t, err)
	id := submit(t, a, queue.Submission{Type: "talk"}).ID
	events, err := a.Follow(ctx, id, 0)
	testkit.Must(t, err)
	expect := func(kind string) {
		t.Helper()
		for _, from := range []<-chan queue.Event{events, all} {
			select {
			case ev := <-from:
				if ev.JobID != id || ev.Type != kind {
					t.Fatalf("got %+v, want %s", ev, kind)
				}
			case <-time.After(patience):
				t.Fatalf("no event %s", kind)
			}
		}
	}
	expect(queue.EventQueued)
	expect(queue.EventRunning)
	for node, want := range map[*queue.Queue][]string{a: nil, b: {id}} {
		if got := allPages(t, node, queue.Filter{Here: true, States: []queue.State{queue.Running, queue.Queued}}); !slices.Equal(got, want) {
			t.Errorf("jobs that run there: %q, want %q", got, want)
		}
	}
	const count = 200
	began, took := time.Now(), make([]time.Duration, count)
	for i := range took {
		lines <- "line"
		sent := time.Now()
		expect(queue.EventLog)
		took[i] = time.Since(sent)
	}
	if all := time.Since(began); all > count*time.Second/2 { // a look every two seconds needs 200 s and more
		t.Errorf("the events needed %s", all)
	}
	slices.Sort(took)
	t.Logf("from the call that logs to a stream of the other node: p50 %s, p99 %s, most %s", took[count/2], took[count*99/100], took[count-1])
	_, err = a.Cancel(t.Context(), id)
	testkit.Must(t, err)
	select {
	case cause := <-causes:
		if cause != queue.ErrCanceled {
			t.Errorf("it ends with %v", cause)
		}
	case <-time.After(patience):
		t.Fatal("it is not canceled at the other node")
	}
	expect(queue.EventCancel)
	expect(queue.EventFinished)
}
