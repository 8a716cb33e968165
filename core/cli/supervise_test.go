package cli

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/operator"
	"github.com/patchbay-dev/patchbay/core/queue"
)

// busyQueue has jobs, and hands out those that run here, of the states that are asked for.
type busyQueue struct {
	operator.Jobs
	jobs []queue.Job
}

// List implements operator.Jobs.
func (b busyQueue) List(_ context.Context, f queue.Filter, _ string, limit int) (out []queue.Job, next string, err error) {
	for _, j := range b.jobs {
		if f.Here && slices.Contains(f.States, j.State) && len(out) < limit {
			out = append(out, j)
		}
	}
	return out, "", nil
}

// TestRunningJobs: the supervisor learns over the operators' socket which jobs run, and that no core does.
func TestRunningJobs(t *testing.T) {
	path := filepath.Join(t.TempDir(), operator.SocketName)
	jobs := operatorCore{&commandLine{socket: path}}
	if _, err := jobs.RunningJobs(t.Context()); !errors.Is(err, operator.ErrNoCore) {
		t.Errorf("without a core: %v", err)
	}
	all := []queue.Job{{Type: "containers.update", State: queue.Running}, {Type: "mail.sweep", State: queue.Queued},
		{Type: "a", State: queue.Success}, {Type: "b", State: queue.Running}}
	served, err := operator.Serve(operator.Config{Paths: []string{path}, Jobs: busyQueue{jobs: all}, Logger: hclog.NewNullLogger()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(served.Close)
	if got, err := jobs.RunningJobs(t.Context()); err != nil || !slices.Equal(got, []string{"containers.update", "b"}) {
		t.Errorf("the jobs that run are %q, %v", got, err)
	}
}
