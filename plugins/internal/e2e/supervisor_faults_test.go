package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
)

// TestSupervisorIsKilled: an operation goes on after a kill -9 at each of its steps, and ends with one core.
func TestSupervisorIsKilled(t *testing.T) {
	t.Parallel()
	bins := dockertest.Compose(t)
	s := startSupervised(t, bins[len(bins)-1])
	for i, step := range []string{"pull", "apply", "wait_healthy"} {
		version := fmt.Sprintf("2.%d.0", i)
		s.push(t, "latest", answering(version))
		s.upgrade("latest", "apply")
		s.killAt(step)
		if st := s.ends("succeeded"); st.Target.Version != version {
			t.Errorf("killed at %s: the core has the version %s, want %s", step, st.Target.Version, version)
		}
		s.runs("killed at "+step, s.image())
	}
	stays := s.image()
	for _, step := range []string{"rollback", "rollback_wait_healthy"} {
		s.push(t, "latest", crashing("3"))
		s.upgrade("latest", "apply")
		s.killAt(step)
		s.ends("rolled_back")
		s.runs("killed at "+step, stays)
	}
}

// TestSupervisorWhileTheEngineRestarts: an operation waits while the engine is away, at each of its steps, and ends with one core.
func TestSupervisorWhileTheEngineRestarts(t *testing.T) {
	t.Parallel()
	bins := dockertest.Compose(t)
	s := startSupervised(t, bins[len(bins)-1])
	cut := func(step string) {
		t.Helper()
		s.comesTo(step)
		s.engine.close()
		time.Sleep(2 * time.Second)
		s.engine.open()
	}
	for i, step := range []string{"precheck", "pull", "apply", "wait_healthy"} {
		version := fmt.Sprintf("2.%d.0", i)
		s.push(t, "latest", answering(version))
		s.upgrade("latest", "apply")
		cut(step)
		if st := s.ends("succeeded"); st.Target.Version != version {
			t.Errorf("cut at %s: the core has the version %s, want %s", step, st.Target.Version, version)
		}
		s.runs("cut at "+step, s.image())
	}
	stays := s.image()
	for _, step := range []string{"rollback", "rollback_wait_healthy"} {
		s.push(t, "latest", crashing("3"))
		s.upgrade("latest", "apply")
		cut(step)
		s.ends("rolled_back")
		s.runs("cut at "+step, stays)
	}
}

// killAt kills the supervisor when an operation has come to a step, and starts it again.
func (s *supervised) killAt(step string) {
	s.t.Helper()
	s.comesTo(step)
	s.kill9()
	s.start()
}

// comesTo waits until an operation has come to a step.
func (s *supervised) comesTo(step string) {
	s.t.Helper()
	path := filepath.Join(s.core.dir, "data", "supervisor", "self-upgrade.json")
	deadline := time.Now().Add(time.Minute)
	for text := []byte(nil); !strings.Contains(string(text), `"step": "`+step+`"`); time.Sleep(time.Millisecond) {
		var err error
		if text, err = os.ReadFile(path); err != nil || time.Now().After(deadline) {
			s.t.Fatalf("the operation did not come to %s: %v\n%s", step, err, text)
		}
		text = text[:min(len(text), strings.Index(string(text)+`"logs"`, `"logs"`))]
	}
}
