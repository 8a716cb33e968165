package cluster_test

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

// startNode starts a process that is a node, until the test ends.
func startNode(t *testing.T, url, id string) *os.Process {
	t.Helper()
	program, err := os.Executable()
	testkit.Must(t, err)
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), envNode+"="+id, envURL+"="+url)
	cmd.Stderr = os.Stderr
	testkit.Must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd.Process
}

// work is what a leader has written in a term.
type work struct {
	Term   int64
	Holder string
	Turns  int64
}

// readWork returns what was written in all terms, the last term last.
func readWork(t *testing.T, st *store.Store) (all []work) {
	t.Helper()
	testkit.Must(t, st.DB(t.Context()).Raw("SELECT * FROM test_work ORDER BY term, holder").Scan(&all).Error)
	return all
}

// TestProcesses: of three processes one works as leader. When it is stopped or killed another takes over, and nothing that it was about to
// write when it was stopped is written in the time of the other.
func TestProcesses(t *testing.T) {
	url := testkit.Postgres(t)
	st := testkit.SharedStore(t, url)
	testkit.Execute(t, st, workTable)
	nodes := map[string]*os.Process{}
	for i := range 3 {
		id := fmt.Sprintf("node-%d", i)
		nodes[id] = startNode(t, url, id)
	}
	// worker waits until a node that is not in except works, and returns it.
	worker := func(except string) (who string) {
		testkit.Eventually(t, patience, func() bool {
			all := readWork(t, st)
			if len(all) == 0 || all[len(all)-1].Turns < 10 {
				return false
			}
			who = all[len(all)-1].Holder
			return who != except
		}, "a node works that is not "+except)
		return who
	}
	state := func(id string, want cluster.State) {
		testkit.Eventually(t, patience, func() bool { is, _ := stateOf(t, st, id); return is == want }, id+" is "+string(want))
	}
	for range 3 {
		stopped := worker("")
		testkit.Must(t, nodes[stopped].Signal(syscall.SIGSTOP))
		worker(stopped)
		testkit.Must(t, nodes[stopped].Signal(syscall.SIGCONT))
		state(stopped, cluster.Running)
	}
	killed := worker("")
	testkit.Must(t, nodes[killed].Kill())
	worker(killed)
	nodes[killed] = startNode(t, url, killed)
	state(killed, cluster.Running)
	ended := worker("")
	testkit.Must(t, nodes[ended].Signal(syscall.SIGTERM))
	state(ended, cluster.Stopped)
	worker(ended)
	terms := map[int64]string{}
	for _, w := range readWork(t, st) {
		if other := terms[w.Term]; other != "" {
			t.Errorf("%s and %s have both written in term %d", other, w.Holder, w.Term)
		}
		terms[w.Term] = w.Holder
	}
	t.Logf("%+v", readWork(t, st))
}
