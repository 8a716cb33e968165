package containers

import (
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// TestSharedImageIsPulledOnce: services of one image pull it once in an update of all of them.
func TestSharedImageIsPulledOnce(t *testing.T) {
	e := newEnv(t)
	e.project("blog", 1, map[string]string{"web": webRepo + ":1", "worker": webRepo + ":1", "other": webRepo + ":1"})
	e.publish(webRepo+":1", 2)
	e.discovered()
	e.checked()
	job, _ := e.updatedAll([2]string{"blog", "web"}, [2]string{"blog", "worker"}, [2]string{"blog", "other"})
	if pulls := e.engine.CallsOf("pull"); job.Status != "success" || len(pulls) != 1 {
		t.Errorf("%s, pulled %s\n%s", job.Status, strings.Join(pulls, ", "), e.logs(job.ID))
	}
	for _, name := range []string{"web", "worker", "other"} {
		if e.runs("blog", name) != imageID(2) {
			t.Errorf("%s runs %s", name, record.ShortDigest(e.runs("blog", name)))
		}
	}
}
