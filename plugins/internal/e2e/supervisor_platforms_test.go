package e2e

import (
	"fmt"
	"net/http"
	"runtime"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
)

// TestSupervisorPlatforms upgrades to an image for several platforms, by its tag and by the digest of the whole, and brings it back by that
// digest when the engine has lost it.
func TestSupervisorPlatforms(t *testing.T) {
	t.Parallel()
	s := startSupervised(t, dockertest.NewestCompose(t))
	first := s.image()
	other := map[string]string{"amd64": "arm64", "arm64": "amd64"}[runtime.GOARCH]
	single := s.push(t, "single", answering("1.1.0"))
	all := dockertest.Index(t, s.reg, s.repo, "all", map[string]string{runtime.GOARCH: single, other: s.push(t, "other", crashing("9.0.0"))})

	s.upgrade("all", "apply")
	if st := s.ends("succeeded"); st.Target.Version != "1.1.0" || st.Target.Digest != all {
		t.Errorf("by its tag the image is %+v, want %s", st.Target, all)
	}
	second := s.image()
	s.push(t, "latest", answering("1.2.0"))
	s.upgrade("latest", "apply")
	s.ends("succeeded")
	dockertest.Docker(t, "rmi", "-f", second)
	s.ask(http.MethodPost, "/self-upgrade/rollback", `{}`, http.StatusOK)
	s.ends("rolled_back")
	s.runs("after a rollback to an image that the engine had lost", second)
	s.ask(http.MethodPost, "/self-upgrade/rollback", `{}`, http.StatusOK)
	s.ends("rolled_back")
	s.runs("after another rollback", first)

	// The engine knows the image by both digests now.
	dockertest.Docker(t, "pull", "-q", s.reg.Host+"/"+s.repo+"@"+single)
	for _, digest := range []string{single, all} {
		s.ask(http.MethodPost, "/self-upgrade", fmt.Sprintf(`{"target":{"digest":%q},"mode":"dry-run"}`, digest), http.StatusOK)
		if st := s.ends("succeeded"); st.Target.Digest != digest {
			t.Errorf("asked for %s it found %+v", digest, st.Target)
		}
	}
	s.ask(http.MethodPost, "/self-upgrade", fmt.Sprintf(`{"target":{"digest":%q},"mode":"apply"}`, all), http.StatusOK)
	s.ends("succeeded")
	s.runs("by the digest", second)
}
