package containers

import (
	"sync"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
)

// TestCandidateOutlivesAChange looks at what runs while an update waits for its new container, which fails in the end: that it
// ran for a moment does not make the new version the one that is in use.
func TestCandidateOutlivesAChange(t *testing.T) {
	forEach(t, func(t *testing.T, e *env) {
		e.blog()
		e.engine.ScriptImage(imageID(2), fake.Unhealthy())
		entered, release := e.engine.Hold("inspect")
		release = sync.OnceFunc(release)
		defer release()
		id, err := e.svc.Update(t.Context(), requestOf(e.serviceOf("blog", "web")))
		e.must(err)
		<-entered
		e.discovered()
		during := e.serviceOf("blog", "web")
		if during.CandidateDigest != digest(2) || during.RuntimeImage != imageID(2) {
			t.Errorf("while the new container is awaited: %+v", during)
		}
		release()
		if job := e.ended(id); job.Status != "rolled_back" {
			t.Fatalf("ended %s\n%s", job.Status, e.logs(id))
		}
		if after := e.serviceOf("blog", "web"); after.CandidateDigest != digest(2) || after.RuntimeImage != imageID(1) {
			t.Errorf("after the rollback: %+v", after)
		}
	})
}
