package supervisor

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
	first := readImage(s)
	other := map[string]string{"amd64": "arm64", "arm64": "amd64"}[runtime.GOARCH]
	single := pushImage(t, s, "single", answering("1.1.0"))
	all := dockertest.Index(t, s.Reg, s.Repo, "all", map[string]string{runtime.GOARCH: single, other: pushImage(t, s, "other", crashing("9.0.0"))})

	beginUpgrade(s, "all", "apply")
	if st := waitForState(s, "succeeded"); st.Target.Version != "1.1.0" || st.Target.Digest != all {
		t.Errorf("by its tag the image is %+v, want %s", st.Target, all)
	}
	second := readImage(s)
	pushImage(t, s, "latest", answering("1.2.0"))
	beginUpgrade(s, "latest", "apply")
	waitForState(s, "succeeded")
	dockertest.Docker(t, "rmi", "-f", second)
	askSupervisor(s, http.MethodPost, "/self-upgrade/rollback", `{}`, http.StatusOK)
	waitForState(s, "rolled_back")
	requireOneCore(s, "after a rollback to an image that the engine had lost", second)
	askSupervisor(s, http.MethodPost, "/self-upgrade/rollback", `{}`, http.StatusOK)
	waitForState(s, "rolled_back")
	requireOneCore(s, "after another rollback", first)

	// The engine knows the image by both digests now.
	dockertest.Docker(t, "pull", "-q", s.Reg.Host+"/"+s.Repo+"@"+single)
	for _, digest := range []string{single, all} {
		askSupervisor(s, http.MethodPost, "/self-upgrade", fmt.Sprintf(`{"target":{"digest":%q},"mode":"dry-run"}`, digest), http.StatusOK)
		if st := waitForState(s, "succeeded"); st.Target.Digest != digest {
			t.Errorf("asked for %s it found %+v", digest, st.Target)
		}
	}
	askSupervisor(s, http.MethodPost, "/self-upgrade", fmt.Sprintf(`{"target":{"digest":%q},"mode":"apply"}`, all), http.StatusOK)
	waitForState(s, "succeeded")
	requireOneCore(s, "by the digest", second)
}
