package queue_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
)

// modelJob is what the model knows of a job.
type modelJob struct {
	id    string
	dedup string
	locks []string
	state queue.State
}

// model is a queue without a database, and the queue that must do the same.
type model struct {
	t    *testing.T
	st   *store.Store
	q    *queue.Queue
	jobs []*modelJob

	mu    sync.Mutex
	gates map[string]chan error
}

// gate is where a job's handler waits for how it is to end.
func (m *model) gate(id string) chan error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gates[id] == nil {
		m.gates[id] = make(chan error)
	}
	return m.gates[id]
}

func (m *model) run(ctx context.Context, job *queue.Job, _ queue.Progress) (any, error) {
	select {
	case err := <-m.gate(job.ID):
		return nil, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (m *model) in(states ...queue.State) (out []*modelJob) {
	for _, j := range m.jobs {
		if slices.Contains(states, j.state) {
			out = append(out, j)
		}
	}
	return out
}

func (m *model) holder(lock string) *modelJob {
	for _, j := range m.in(queue.Queued, queue.Running) {
		if slices.Contains(j.locks, lock) {
			return j
		}
	}
	return nil
}

// blocker is the job that stands in the way of a submission: the holder of the first of its locks that is held.
func (m *model) blocker(locks []string) *modelJob {
	for _, l := range slices.Sorted(slices.Values(locks)) {
		if j := m.holder(l); j != nil {
			return j
		}
	}
	return nil
}

func (m *model) duplicate(dedup string) *modelJob {
	for _, j := range m.in(queue.Queued, queue.Running) {
		if dedup != "" && j.dedup == dedup {
			return j
		}
	}
	return nil
}

func (m *model) submit(t *rapid.T) {
	if len(m.in(queue.Running)) > 20 {
		t.Skip("enough jobs run")
	}
	sub := queue.Submission{
		Type:     "model",
		DedupKey: rapid.SampledFrom([]string{"", "k1", "k2"}).Draw(t, "dedup"),
		Locks:    rapid.SliceOfN(rapid.SampledFrom([]string{"r1", "r2", "r3", "r4"}), 0, 3).Draw(t, "locks"),
	}
	later := rapid.Bool().Draw(t, "later")
	if later {
		sub.RunAt = time.Now().Add(time.Hour)
	}
	job, reused, err := m.q.Submit(context.Background(), sub)
	if twin := m.duplicate(sub.DedupKey); twin != nil {
		if err != nil || !reused || job.ID != twin.id {
			t.Fatalf("want the job %s again: %+v %v %v", twin.id, job, reused, err)
		}
		return
	}
	if blocker := m.blocker(sub.Locks); blocker != nil {
		if existingJob(err) != blocker.id {
			t.Fatalf("want a conflict with %s: %v", blocker.id, err)
		}
		return
	}
	if err != nil || reused {
		t.Fatalf("want a new job: %v %v", reused, err)
	}
	made := &modelJob{id: job.ID, dedup: sub.DedupKey, locks: sub.Locks, state: queue.Queued}
	m.jobs = append(m.jobs, made)
	if !later {
		awaitRunning(m.t, m.q, made.id)
		made.state = queue.Running
	}
}

func (m *model) cancel(t *rapid.T) {
	if len(m.jobs) == 0 {
		t.Skip("no jobs")
	}
	job := rapid.SampledFrom(m.jobs).Draw(t, "job")
	_, err := m.q.Cancel(context.Background(), job.id)
	if job.state.Final() {
		if fault.CodeOf(err) != fault.Conflict {
			t.Fatalf("want a conflict: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	m.ended(job, queue.Canceled)
}

func (m *model) finish(t *rapid.T) {
	running := m.in(queue.Running)
	if len(running) == 0 {
		t.Skip("nothing runs")
	}
	job := rapid.SampledFrom(running).Draw(t, "job")
	fails := errors.New("failed")
	endings := map[queue.State]error{queue.Success: nil, queue.Failed: fails, queue.RolledBack: queue.EndRolledBack(fails)}
	state := rapid.SampledFrom([]queue.State{queue.Success, queue.Failed, queue.RolledBack}).Draw(t, "ending")
	m.gate(job.id) <- endings[state]
	m.ended(job, state)
}

func (m *model) ended(job *modelJob, state queue.State) {
	awaitEnd(m.t, m.q, job.id)
	job.state = state
}

// check compares all states and locks.
func (m *model) check(t *rapid.T) {
	for _, j := range m.jobs {
		got, err := m.q.Get(context.Background(), j.id)
		if err != nil || got.State != j.state {
			t.Fatalf("%s is %s, want %s (%v)", j.id, got.State, j.state, err)
		}
	}
	want := map[string]string{}
	for _, l := range []string{"r1", "r2", "r3", "r4"} {
		if j := m.holder(l); j != nil {
			want[l] = j.id
		}
	}
	var rows []struct{ Resource, JobID string }
	if err := m.st.DB(context.Background()).Raw("SELECT resource, job_id FROM job_locks").Scan(&rows).Error; err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, r := range rows {
		got[r.Resource] = r.JobID
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

// clear ends everything, so that the next round begins with nothing held.
func (m *model) clear() {
	for _, j := range m.in(queue.Queued, queue.Running) {
		if _, err := m.q.Cancel(context.Background(), j.id); err != nil {
			m.t.Fatal(err)
		}
		m.ended(j, queue.Canceled)
	}
	m.jobs = nil
}

func TestQueueAgainstModel(t *testing.T) {
	fewer(t, 20)
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		m := &model{t: t, st: st, gates: map[string]chan error{}}
		cfg := config(st)
		cfg.Workers = 32
		cfg.Heartbeat = time.Minute // nobody dies here, however busy the machine is
		cfg.Handlers = []queue.Handler{{Type: "model", Run: m.run}}
		m.q = run(t, build(t, cfg))
		rapid.Check(t, func(t *rapid.T) {
			defer m.clear()
			t.Repeat(map[string]func(*rapid.T){"submit": m.submit, "cancel": m.cancel, "finish": m.finish, "": m.check})
		})
	})
}

// fewer bounds the rounds of rapid, each of which works on a real database, unless the command line asks for a number.
func fewer(t *testing.T, rounds int) {
	t.Helper()
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "rapid.checks" })
	if asked {
		return
	}
	f := flag.Lookup("rapid.checks")
	before := f.Value.String()
	if err := f.Value.Set(fmt.Sprint(rounds)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Value.Set(before) })
}
