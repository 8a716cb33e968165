package containers

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// pauseAt holds a request with a method and a path, after others like it.
func pauseAt(v *kit.EngineView, method, path string, after int) *kit.PausedRequest {
	p := &kit.PausedRequest{Method: method, Path: regexp.MustCompile(path), After: after, Come: make(chan struct{}), Done: make(chan struct{})}
	v.Mu.Lock()
	defer v.Mu.Unlock()
	v.Pause = p
	return p
}

// TestEngineViewHidesOtherProjects checks that the containers which a killed run of the same test has left are not seen either.
func TestEngineViewHidesOtherProjects(t *testing.T) {
	t.Parallel()
	dockertest.Engine(t)
	image := dockertest.Import(t, dockertest.Behaviour{})
	own := t.TempDir()
	left := filepath.Join(filepath.Dir(own)+"1", filepath.Base(own))
	var made []string
	for _, dir := range []string{own, left} {
		made = append(made, dockertest.Docker(t, "create", "--label", "com.docker.compose.project.working_dir="+dir, image))
	}
	t.Cleanup(func() {
		dockertest.Docker(t, append([]string{"rm"}, made...)...)
		dockertest.Docker(t, "rmi", image)
	})
	seen := dockertest.Docker(t, "--host", kit.StartEngineView(t).Address(), "ps", "-aq", "--no-trunc")
	if !strings.Contains(seen, made[0]) || strings.Contains(seen, made[1]) {
		t.Errorf("of %v only the first must be seen, not %q", made, seen)
	}
}
