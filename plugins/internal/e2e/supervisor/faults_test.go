package supervisor

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// forEachCompose runs a test with a supervisor for each generation of compose.
func forEachCompose(t *testing.T, run func(*kit.Supervised)) {
	t.Parallel()
	for _, bin := range dockertest.Compose(t) {
		t.Run(bin.Name, func(t *testing.T) {
			t.Parallel()
			run(startSupervised(t, bin))
		})
	}
}

// withstandsUpgrades has a fault happen at steps of upgrades, each of which must end with the new core and no other.
func withstandsUpgrades(s *kit.Supervised, fault func(step string), steps ...string) {
	s.T.Helper()
	for i, step := range steps {
		version := fmt.Sprintf("2.%d.0", i)
		pushImage(s.T, s, "latest", answering(version))
		beginUpgrade(s, "latest", "apply")
		fault(step)
		if st := waitForState(s, "succeeded"); st.Target.Version != version {
			s.T.Errorf("at %s: the core has the version %s, want %s", step, st.Target.Version, version)
		}
		requireOneCore(s, "at "+step, readImage(s))
	}
}

// withstandsRollbacks has a fault happen at steps of upgrades that must end with the core that ran before, and no other.
func withstandsRollbacks(s *kit.Supervised, fault func(step string), next dockertest.Behaviour, steps ...string) {
	s.T.Helper()
	stays := readImage(s)
	for _, step := range steps {
		pushImage(s.T, s, "latest", next)
		beginUpgrade(s, "latest", "apply")
		fault(step)
		waitForState(s, "rolled_back")
		requireOneCore(s, "at "+step, stays)
	}
}

// TestSupervisorIsKilled: an operation goes on after a kill -9 at each of its steps, and ends with one core.
func TestSupervisorIsKilled(t *testing.T) {
	forEachCompose(t, func(s *kit.Supervised) {
		kill := func(step string) {
			waitForUpgradeStep(s, step)
			s.Kill()
			s.Start()
		}
		withstandsUpgrades(s, kill, "pull", "check_image", "apply", "wait_healthy")
		withstandsRollbacks(s, kill, crashing("3"), "rollback", "rollback_wait_healthy")
		withstandsWhileItWaits(s, func(b *busyCore, former string) {
			s.Kill()
			s.Start()
			waitsForJob(s, former)
			b.release()
		}, "No job of the core runs")
	})
}

// TestSupervisorWhileTheEngineRestarts: an operation waits while the engine is away, at each of its steps, and ends with one core.
func TestSupervisorWhileTheEngineRestarts(t *testing.T) {
	forEachCompose(t, func(s *kit.Supervised) {
		cut := func(step string) {
			waitForUpgradeStep(s, step)
			s.Engine.Close()
			time.Sleep(2 * time.Second)
			s.Engine.Open()
		}
		withstandsUpgrades(s, cut, "precheck", "pull", "check_image", "apply", "wait_healthy")
		withstandsRollbacks(s, cut, crashing("3"), "rollback", "rollback_wait_healthy")
		withstandsWhileItWaits(s, func(b *busyCore, _ string) {
			s.Engine.Close()
			b.release()
			waitForUpgradeStep(s, "apply")
			s.Engine.Open()
		}, "No job of the core runs")
	})
}

// TestSupervisorWhileTheEngineCrashes: an engine that is killed at any step of an operation, and started again, leaves one core, of the new
// image or of the former one.
func TestSupervisorWhileTheEngineCrashes(t *testing.T) {
	t.Parallel()
	s := startSupervisedIn(t, dockertest.StartDaemon(t), dockertest.NewestCompose(t))
	crash := func(step string) {
		waitForUpgradeStep(s, step)
		s.Daemon.Kill(t)
		s.Daemon.Start(t)
	}
	for i, step := range []string{"precheck", "pull", "check_image", "apply", "wait_healthy", "rollback", "rollback_wait_healthy"} {
		former, version := readImage(s), fmt.Sprintf("2.%d.0", i)
		next := answering(version)
		if strings.HasPrefix(step, "rollback") {
			next = crashing(version)
		}
		pushImage(t, s, "latest", next)
		beginUpgrade(s, "latest", "apply")
		crash(step)
		st := waitForEnd(s)
		t.Logf("at %s: %s (%s)", step, st.State, st.Progress.Message)
		if st.State == "failed" && strings.Contains(st.Progress.Message, "port is already allocated") {
			freePort(s)
		}
		stays := former
		if st.State == "succeeded" {
			if stays = readImage(s); stays == former || st.Target.Version != version {
				t.Errorf("at %s: the core has the version %s, want %s", step, st.Target.Version, version)
			}
		}
		requireOneCore(s, "at "+step, stays)
	}
}

// freePort starts the engine anew, and then the core. An engine that starts a crashing container again while it is replaced can keep
// the container's port until it ends, though nothing runs there: the operation has failed then, with the engine's reason.
func freePort(s *kit.Supervised) {
	s.T.Helper()
	if running := s.Daemon.Docker(s.T, "ps", "-q"); running != "" {
		s.T.Fatalf("the port of the core is in use, and these containers run: %s", running)
	}
	s.Daemon.Kill(s.T)
	s.Daemon.Start(s.T)
	s.Daemon.Docker(s.T, "start", s.Daemon.FindContainer(s.T, s.Dir, "patchbay"))
}

// TestSupervisedCoreIsKilled: a core that is killed at any step of an operation is not missing at its end. One that is killed before
// it has answered is a core that cannot start. Cores that answer late leave time for a kill on a busy machine.
func TestSupervisedCoreIsKilled(t *testing.T) {
	forEachCompose(t, func(s *kit.Supervised) {
		former := requireOneCore(s, "at first", readImage(s))
		killFormer := func(step string) {
			waitForUpgradeStep(s, step)
			killContainers(former)
		}
		for _, step := range []string{"pull", "check_image", "apply"} {
			withstandsUpgrades(s, killFormer, step)
			former = requireOneCore(s, "after "+step, readImage(s))
		}
		pushImage(s.T, s, "latest", answeringLate("2.9.0"))
		beginUpgrade(s, "latest", "apply")
		waitForState(s, "succeeded")
		killAll := func(step string) {
			waitForUpgradeStep(s, step)
			killContainers(strings.Fields(dockertest.Docker(s.T, "ps", "-q", "--filter",
				"label=com.docker.compose.project="+filepath.Base(s.Dir)))...)
		}
		withstandsRollbacks(s, killAll, answeringLate("3"), "wait_healthy")
		withstandsRollbacks(s, killAll, crashing("3"), "rollback", "rollback_wait_healthy")
		withstandsWhileItWaits(s, func(b *busyCore, _ string) {
			b.Kill()
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

// waitForUpgradeStep waits until an operation has come to a step.
func waitForUpgradeStep(s *kit.Supervised, step string) {
	s.T.Helper()
	path := filepath.Join(s.Core.Dir, "data", "supervisor", "self-upgrade.json")
	deadline := kit.DeadlineAfter(time.Minute)
	for text := []byte(nil); !strings.Contains(string(text), `"step": "`+step+`"`); time.Sleep(time.Millisecond) {
		var err error
		if text, err = os.ReadFile(path); err != nil || time.Now().After(deadline) {
			s.T.Fatalf("the operation did not come to %s: %v\n%s", step, err, text)
		}
		text = text[:min(len(text), strings.Index(string(text)+`"logs"`, `"logs"`))]
	}
}
