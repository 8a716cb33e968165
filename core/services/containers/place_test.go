package containers

import (
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// joinEngine starts the service of a node whose engine has an id.
func joinEngine(t *testing.T, url, node, id string) *env {
	t.Helper()
	st := testkit.SharedStore(t, url, allMigrations()...)
	return newEnvOn(t, st, func(e *env) {
		e.cluster = testkit.OpenCluster(t, st, node, true)
		e.engine.SetInfo(engine.Info{ID: id, Version: "28.0.0", OS: "linux", Arch: "amd64"}, &engine.Compose{Version: "2.40.3", PullPolicy: true})
	})
}

// TestJobsOfAnEngine: jobs begin at a node that has the engine of the node where they were asked for, and not while its engine is away.
func TestJobsOfAnEngine(t *testing.T) {
	url := testkit.Postgres(t)
	a := joinEngine(t, url, "a", "one")
	a.must(a.svc.places.updatePlace(t.Context()))
	discover := func(e *env, key string) string {
		job, _, err := e.svc.queue.SubmitJob(t.Context(), work.Submission{Kind: work.JobDiscovery, Key: key, Payload: work.Subject{}})
		e.must(err)
		return job.ID
	}
	a.ended(discover(a, "1"))
	a.engine.Stop(-1)
	a.must(a.svc.places.updatePlace(t.Context()))
	none := joinEngine(t, url, "b", "one")
	none.engine.Stop(-1)
	none.must(none.svc.places.updatePlace(t.Context()))
	other := joinEngine(t, url, "c", "two")
	other.must(other.svc.places.updatePlace(t.Context()))
	waits := discover(none, "2")
	own := discover(other, "3")
	other.ended(own)
	if job, err := other.queue.Get(t.Context(), waits); err != nil || job.State != queue.Queued {
		t.Errorf("without its engine: %+v, %v", job, err)
	}
	again := joinEngine(t, url, "d", "one")
	again.must(again.svc.places.updatePlace(t.Context()))
	if job := again.ended(waits); job.Status != "success" {
		t.Errorf("with its engine: %+v", job)
	}
	if calls := none.engine.CallsOf("containers"); len(calls) > 0 {
		t.Errorf("the node without an engine made %v", calls)
	}
	if n := len(other.engine.CallsOf("containers")); n == 0 || len(again.engine.CallsOf("containers")) == 0 {
		t.Error("the jobs did not run at their engines")
	}
}
