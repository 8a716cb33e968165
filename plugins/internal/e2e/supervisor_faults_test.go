package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
)

// forEachCompose runs a test with a supervisor for each generation of compose.
func forEachCompose(t *testing.T, run func(*supervised)) {
	t.Parallel()
	for _, bin := range dockertest.Compose(t) {
		t.Run(bin.Name, func(t *testing.T) {
			t.Parallel()
			run(startSupervised(t, bin))
		})
	}
}

// withstandsUpgrades has a fault happen at steps of upgrades, each of which must end with the new core and no other.
func (s *supervised) withstandsUpgrades(fault func(step string), steps ...string) {
	s.t.Helper()
	for i, step := range steps {
		version := fmt.Sprintf("2.%d.0", i)
		s.push(s.t, "latest", answering(version))
		s.upgrade("latest", "apply")
		fault(step)
		if st := s.ends("succeeded"); st.Target.Version != version {
			s.t.Errorf("at %s: the core has the version %s, want %s", step, st.Target.Version, version)
		}
		s.runs("at "+step, s.image())
	}
}

// withstandsRollbacks has a fault happen at steps of upgrades that must end with the core that ran before, and no other.
func (s *supervised) withstandsRollbacks(fault func(step string), next dockertest.Behaviour, steps ...string) {
	s.t.Helper()
	stays := s.image()
	for _, step := range steps {
		s.push(s.t, "latest", next)
		s.upgrade("latest", "apply")
		fault(step)
		s.ends("rolled_back")
		s.runs("at "+step, stays)
	}
}

// TestSupervisorIsKilled: an operation goes on after a kill -9 at each of its steps, and ends with one core.
func TestSupervisorIsKilled(t *testing.T) {
	forEachCompose(t, func(s *supervised) {
		kill := func(step string) {
			s.comesTo(step)
			s.kill9()
			s.start()
		}
		s.withstandsUpgrades(kill, "pull", "check_image", "apply", "wait_healthy")
		s.withstandsRollbacks(kill, crashing("3"), "rollback", "rollback_wait_healthy")
		s.withstandsWhileItWaits(func(b *busyCore, former string) {
			s.kill9()
			s.start()
			s.waitsForJob(former)
			b.release()
		}, "No job of the core runs")
	})
}

// TestSupervisorWhileTheEngineRestarts: an operation waits while the engine is away, at each of its steps, and ends with one core.
func TestSupervisorWhileTheEngineRestarts(t *testing.T) {
	forEachCompose(t, func(s *supervised) {
		cut := func(step string) {
			s.comesTo(step)
			s.engine.close()
			time.Sleep(2 * time.Second)
			s.engine.open()
		}
		s.withstandsUpgrades(cut, "precheck", "pull", "check_image", "apply", "wait_healthy")
		s.withstandsRollbacks(cut, crashing("3"), "rollback", "rollback_wait_healthy")
		s.withstandsWhileItWaits(func(b *busyCore, _ string) {
			s.engine.close()
			b.release()
			s.comesTo("apply")
			s.engine.open()
		}, "No job of the core runs")
	})
}

// TestSupervisorWhileTheEngineCrashes: an engine that is killed at any step of an operation, and started again, leaves one core, of the new
// image or of the former one.
func TestSupervisorWhileTheEngineCrashes(t *testing.T) {
	t.Parallel()
	s := startSupervisedIn(t, dockertest.StartDaemon(t), dockertest.NewestCompose(t))
	crash := func(step string) {
		s.comesTo(step)
		s.daemon.Kill(t)
		s.daemon.Start(t)
	}
	for i, step := range []string{"precheck", "pull", "check_image", "apply", "wait_healthy", "rollback", "rollback_wait_healthy"} {
		former, version := s.image(), fmt.Sprintf("2.%d.0", i)
		next := answering(version)
		if strings.HasPrefix(step, "rollback") {
			next = crashing(version)
		}
		s.push(t, "latest", next)
		s.upgrade("latest", "apply")
		crash(step)
		st := s.endsAnyhow()
		t.Logf("at %s: %s (%s)", step, st.State, st.Progress.Message)
		if st.State == "failed" && strings.Contains(st.Progress.Message, "port is already allocated") {
			s.freePort()
		}
		stays := former
		if st.State == "succeeded" {
			if stays = s.image(); stays == former || st.Target.Version != version {
				t.Errorf("at %s: the core has the version %s, want %s", step, st.Target.Version, version)
			}
		}
		s.runs("at "+step, stays)
	}
}

// freePort starts the engine anew, and then the core. An engine that starts a crashing container again while it is replaced can keep
// the container's port until it ends, though nothing runs there: the operation has failed then, with the engine's reason.
func (s *supervised) freePort() {
	s.t.Helper()
	if running := s.daemon.Docker(s.t, "ps", "-q"); running != "" {
		s.t.Fatalf("the port of the core is in use, and these containers run: %s", running)
	}
	s.daemon.Kill(s.t)
	s.daemon.Start(s.t)
	s.daemon.Docker(s.t, "start", s.daemon.FindContainer(s.t, s.dir, "patchbay"))
}

// TestSupervisedCoreIsKilled: a core that is killed at any step of an operation is not missing at its end. One that is killed before
// it has answered is a core that cannot start. Cores that answer late leave time for a kill on a busy machine.
func TestSupervisedCoreIsKilled(t *testing.T) {
	forEachCompose(t, func(s *supervised) {
		former := s.runs("at first", s.image())
		killFormer := func(step string) {
			s.comesTo(step)
			killContainers(former)
		}
		for _, step := range []string{"pull", "check_image", "apply"} {
			s.withstandsUpgrades(killFormer, step)
			former = s.runs("after "+step, s.image())
		}
		s.push(s.t, "latest", answeringLate("2.9.0"))
		s.upgrade("latest", "apply")
		s.ends("succeeded")
		killAll := func(step string) {
			s.comesTo(step)
			killContainers(strings.Fields(dockertest.Docker(s.t, "ps", "-q", "--filter",
				"label=com.docker.compose.project="+filepath.Base(s.dir)))...)
		}
		s.withstandsRollbacks(killAll, answeringLate("3"), "wait_healthy")
		s.withstandsRollbacks(killAll, crashing("3"), "rollback", "rollback_wait_healthy")
		s.withstandsWhileItWaits(func(b *busyCore, _ string) {
			b.kill9()
			killAll("wait_jobs")
		}, "does not say whether jobs run, and is replaced anyway")
	})
}

// answeringLate is the behaviour of a core that takes some seconds to start.
func answeringLate(version string) dockertest.Behaviour {
	b := answering(version)
	b.SlowStart, b.StartPeriod = 8*time.Second, time.Minute
	return b
}

// killContainers kills containers. They may have ended already, or been replaced meanwhile.
func killContainers(ids ...string) {
	if len(ids) > 0 {
		_ = exec.Command("docker", append([]string{"kill"}, ids...)...).Run()
	}
}

// comesTo waits until an operation has come to a step.
func (s *supervised) comesTo(step string) {
	s.t.Helper()
	path := filepath.Join(s.core.dir, "data", "supervisor", "self-upgrade.json")
	deadline := deadlineAfter(time.Minute)
	for text := []byte(nil); !strings.Contains(string(text), `"step": "`+step+`"`); time.Sleep(time.Millisecond) {
		var err error
		if text, err = os.ReadFile(path); err != nil || time.Now().After(deadline) {
			s.t.Fatalf("the operation did not come to %s: %v\n%s", step, err, text)
		}
		text = text[:min(len(text), strings.Index(string(text)+`"logs"`, `"logs"`))]
	}
}
