package queue_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
)

const (
	// envWorker has this program be a node that runs jobs; its value is a worker as JSON.
	envWorker = "PATCHBAY_QUEUE_WORKER"
	// envKills is how often TestKilledNodes kills a node.
	envKills = "PATCHBAY_TEST_KILLS"
	// workerLease is long, so that a machine that is busy does not end it.
	workerLease = 4 * time.Second
)

// worker says what a process works on: jobs of a database, each of which writes its begin and its end to the file Trace.
type worker struct{ URL, ID, Trace string }

// jobTypes are those of the workers; the second one runs once at a time in each of them.
func jobTypes(run func(ctx context.Context, job *queue.Job, p queue.Progress) (any, error)) []queue.Handler {
	return []queue.Handler{{Type: "many", Safe: true, Run: run}, {Type: "few", Safe: true, Limit: 1, Run: run}}
}

// joinNodes makes a node of a database, and its queue.
func joinNodes(ctx context.Context, st *store.Store, id string, handlers []queue.Handler) (c *cluster.Cluster, q *queue.Queue, err error) {
	var made atomic.Pointer[queue.Queue]
	c, err = cluster.Open(ctx, cluster.Config{Store: st, ID: id, Shared: true, Lease: workerLease, Beat: workerLease / 10,
		Ended: func(ctx context.Context, node string) error {
			if q := made.Load(); q != nil {
				return q.RecoverNode(ctx, node)
			}
			return nil
		}})
	if err != nil {
		return nil, nil, err
	}
	q, err = queue.New(queue.Config{Store: st, Bus: event.NewBus(), Cluster: c, Handlers: handlers, Workers: 4, Heartbeat: time.Second})
	made.Store(q)
	return c, q, err
}

// workerProcess works until its standard input ends.
func workerProcess() {
	var w worker
	err := json.Unmarshal([]byte(os.Getenv(envWorker)), &w)
	var trace *os.File
	if err == nil {
		trace, err = os.OpenFile(w.Trace, os.O_APPEND|os.O_WRONLY, 0)
	}
	var st *store.Store
	if err == nil {
		st, err = store.Open(context.Background(), store.Config{Dialect: store.Postgres, URL: w.URL, Shared: true, MigrateWithoutCopy: true})
	}
	var q *queue.Queue
	if err == nil {
		handlers := jobTypes(func(ctx context.Context, job *queue.Job, _ queue.Progress) (any, error) {
			if _, err := fmt.Fprintf(trace, "begin %s %s\n", job.ID, w.ID); err != nil {
				return nil, err
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Duration(rand.IntN(150)) * time.Millisecond):
			}
			_, err := fmt.Fprintf(trace, "end %s %s\n", job.ID, w.ID)
			return nil, err
		})
		_, q, err = joinNodes(context.Background(), st, w.ID, handlers)
	}
	if err == nil {
		err = q.Start(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, w.ID, "error:", err)
		os.Exit(1)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// startWorker starts a process. kill ends it by a signal that it cannot catch, and notes that in the trace when it is gone.
func startWorker(t *testing.T, w worker) (kill func()) {
	t.Helper()
	raw, err := json.Marshal(w)
	testkit.Must(t, err)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envWorker+"="+string(raw))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe() // which ends with this process
	testkit.Must(t, err)
	testkit.Must(t, cmd.Start())
	ended := false
	kill = func() {
		if ended {
			return
		}
		ended = true
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = in.Close()
		trace, err := os.OpenFile(w.Trace, os.O_APPEND|os.O_WRONLY, 0)
		testkit.Must(t, err)
		_, err = fmt.Fprintf(trace, "killed - %s\n", w.ID)
		testkit.Must(t, err)
		testkit.Must(t, trace.Close())
	}
	t.Cleanup(kill)
	return kill
}

// checkTrace reports jobs that have begun while they ran elsewhere, and returns how often jobs have begun and ended.
func checkTrace(t *testing.T, path string) (begun, ended int) {
	t.Helper()
	raw, err := os.ReadFile(path)
	testkit.Must(t, err)
	running := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		words := strings.Fields(line)
		what, job, node := words[0], words[1], words[2]
		switch what {
		case "begin":
			begun++
			if at := running[job]; at != "" {
				t.Errorf("job %s begins at %s while it runs at %s", job, node, at)
			}
			running[job] = node
		case "end":
			ended++
			if running[job] != node {
				t.Errorf("job %s ends at %s, and runs at %q", job, node, running[job])
			}
			delete(running, job)
		case "killed":
			for job, at := range running {
				if at == node {
					delete(running, job)
				}
			}
		}
	}
	return begun, ended
}

// TestKilledNodes: while three processes work, one of them is killed now and then and replaced. No job runs twice at once, and all end.
func TestKilledNodes(t *testing.T) {
	kills := 3
	if n, err := strconv.Atoi(os.Getenv(envKills)); err == nil {
		kills = n
	}
	jobs := max(500, 100*kills)
	url, trace := testkit.Postgres(t), filepath.Join(t.TempDir(), "trace")
	testkit.Must(t, os.WriteFile(trace, nil, 0o600))
	st := testkit.SharedStore(t, url, queue.Migrations())
	client, q, err := joinNodes(t.Context(), st, "client", jobTypes(func(context.Context, *queue.Job, queue.Progress) (any, error) {
		return nil, nil
	}))
	testkit.Must(t, err)
	t.Cleanup(client.Close)
	for i := range jobs {
		sub := queue.Submission{Type: "many"}
		if i%4 == 0 {
			sub = queue.Submission{Type: "few", Locks: []string{fmt.Sprint("lock ", i)}}
		}
		submit(t, q, sub)
	}
	began := 0
	begin := func() func() {
		began++
		return startWorker(t, worker{URL: url, ID: fmt.Sprintf("node-%d", began), Trace: trace})
	}
	nodes := []func(){begin(), begin(), begin()}
	left := func() (n int) {
		testkit.Must(t, st.DB(t.Context()).Raw("SELECT count(*) FROM jobs WHERE finished_at = 0").Scan(&n).Error)
		return n
	}
	for i := range kills {
		until := jobs - (i+1)*jobs/(kills+1)
		testkit.Eventually(t, 5*patience, func() bool { return left() <= until }, fmt.Sprintf("%d jobs are left", until))
		victim := rand.IntN(len(nodes))
		nodes[victim]()
		nodes[victim] = begin()
	}
	testkit.Eventually(t, 5*patience, func() bool { return left() == 0 }, "all jobs have ended")
	for _, kill := range nodes {
		kill()
	}
	begun, ended := checkTrace(t, trace)
	var good int
	testkit.Must(t, st.DB(t.Context()).Raw("SELECT count(*) FROM jobs WHERE state = 'success'").Scan(&good).Error)
	if ended < good || locksHeld(t, st) != 0 || good < jobs && kills <= 3 {
		t.Errorf("of %d jobs %d ended well, and %d ends were written", jobs, good, ended)
	}
	t.Logf("%d jobs, %d kills: begun %d times, ended %d times, %d with success", jobs, kills, begun, ended, good)
}
