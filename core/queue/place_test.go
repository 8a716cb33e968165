package queue_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/queue"
)

// joinPlace starts a core with a job type "placed", which belongs to a place, and a job type "other". here says whether the core is there.
func joinPlace(t *testing.T, url, id, place string, here bool, ran chan<- string) (q *queue.Queue, is *atomic.Bool) {
	t.Helper()
	st := testkit.SharedStore(t, url, queue.Migrations())
	cfg := config(st)
	cfg.Cluster = testkit.OpenCluster(t, st, id, true)
	is = new(atomic.Bool)
	is.Store(here)
	if here {
		testkit.Must(t, cfg.Cluster.SetPlaces(t.Context(), []string{place}))
	}
	note := func(_ context.Context, job *queue.Job, _ queue.Progress) (any, error) {
		ran <- id + " " + string(job.Payload)
		return nil, nil
	}
	cfg.Handlers = []queue.Handler{{Type: "placed", Safe: true, Limit: 2, Run: note, Place: func() (string, bool) { return place, is.Load() }},
		{Type: "other", Safe: true, Run: note}}
	return build(t, cfg), is
}

// TestPlaceOfJobs: jobs that belong to a place begin only at a node that is there. While there is none they wait, and say so.
func TestPlaceOfJobs(t *testing.T) {
	url := testkit.Postgres(t)
	ran := make(chan string, 100)
	a, _ := joinPlace(t, url, "a", "engine 1", false, ran)
	run(t, a)
	var ids []string
	for range 5 {
		ids = append(ids, submit(t, a, queue.Submission{Type: "placed", Payload: 1, Locks: []string{"r" + string(rune('0'+len(ids)))}}).ID)
	}
	elsewhere, _ := joinPlace(t, url, "b", "engine 2", true, ran)
	run(t, elsewhere)
	second := submit(t, elsewhere, queue.Submission{Type: "placed", Payload: 2}).ID
	awaitEnd(t, elsewhere, second)
	awaitEnd(t, a, submit(t, a, queue.Submission{Type: "other", Payload: 3}).ID)
	<-ran
	if other := <-ran; !strings.HasSuffix(other, " 3") {
		t.Errorf("ran: %s", other)
	}
	testkit.Must(t, a.TellWaiting(t.Context(), 0))
	testkit.Must(t, a.TellWaiting(t.Context(), 0))
	for _, id := range ids {
		job, err := a.Get(t.Context(), id)
		if err != nil || job.State != queue.Queued || !strings.Contains(job.Step, "engine 1") {
			t.Errorf("without a node there: %+v, %v", job, err)
		}
		events, err := a.Events(t.Context(), id, 0, 0)
		if err != nil || len(events) != 2 || events[1].Type != queue.EventLog || !strings.Contains(string(events[1].Data), "engine 1") {
			t.Errorf("its events: %+v, %v", events, err)
		}
	}
	there, is := joinPlace(t, url, "c", "engine 1", true, ran)
	run(t, there)
	for _, id := range ids {
		if job := awaitEnd(t, a, id); job.State != queue.Success {
			t.Errorf("got %+v", job)
		}
		if at := <-ran; at != "c 1" {
			t.Errorf("ran at %s", at)
		}
	}
	is.Store(false)
	last := submit(t, there, queue.Submission{Type: "placed", Payload: 4}).ID
	testkit.Must(t, a.TellWaiting(t.Context(), 0))
	if job, err := a.Get(t.Context(), last); err != nil || job.State != queue.Queued || job.Step != "" {
		t.Errorf("it waits for a node that runs: %+v, %v", job, err)
	}
	is.Store(true)
	awaitEnd(t, a, last)
}

// TestPlaceOfCoreAlone: a core that is alone runs all jobs, also those that belong to a place of nodes that were.
func TestPlaceOfCoreAlone(t *testing.T) {
	cfg := testkit.PostgresConfig(t)
	ran := make(chan string, 100)
	t.Run("nodes", func(t *testing.T) {
		q, _ := joinPlace(t, cfg.URL, "a", "engine 1", false, ran)
		submit(t, q, queue.Submission{Type: "placed", Payload: 1})
		q, _ = joinPlace(t, cfg.URL, "b", "engine 2", false, ran)
		submit(t, q, queue.Submission{Type: "placed", Payload: 1})
	})
	st := testkit.OpenStore(t, cfg, queue.Migrations())
	ended := make(chan struct{}, 2)
	start(t, st, handler("placed", func(context.Context) (any, error) { ended <- struct{}{}; return nil, nil }))
	<-ended
	<-ended
}
