package supervisor

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
)

// TestUpgradeWaitsForOtherCores: a core is not replaced while another one is being upgraded. It begins its upgrade before and ends it
// afterwards, also if the former core had to be brought back. A core that cannot be asked is replaced.
func TestUpgradeWaitsForOtherCores(t *testing.T) {
	for name, tt := range map[string]struct {
		core        *coreJobs
		broken      bool
		begun, over int
		want        Status
		says        string
	}{
		"others are upgraded": {&coreJobs{answers: [][]string{nil}, others: []string{"core-2", "core-2", "core-3"}}, false, 4, 1, Succeeded,
			"Waiting for the upgrade of the core core-3"},
		"nobody is":          {&coreJobs{answers: [][]string{nil}}, false, 1, 1, Succeeded, ""},
		"it is rolled back":  {&coreJobs{answers: [][]string{nil}}, true, 1, 1, RolledBack, ""},
		"it cannot be asked": {&coreJobs{err: errors.New("the running core does not know this command")}, false, 1, 0, Succeeded, "is replaced anyway"},
	} {
		t.Run(name, func(t *testing.T) {
			s, sup := superviseAsking(t, tt.core, time.Minute)
			if tt.broken {
				s.engine.ScriptImage(imageOfVersion("2").ID, fake.Exited(1))
			}
			if _, err := sup.Begin(Request{Mode: Apply, RollbackOnFailure: true}); err != nil {
				t.Fatal(err)
			}
			o := ended(t, sup, tt.want)
			sup.work.Wait()
			if tt.core.begun != tt.begun || tt.core.over != tt.over {
				t.Errorf("begun %d times and ended %d times, want %d and %d: %+v", tt.core.begun, tt.core.over, tt.begun, tt.over, o.Logs)
			}
			if tt.says != "" && !slices.ContainsFunc(o.Logs, func(l LogLine) bool { return strings.Contains(l.Message, tt.says) }) {
				t.Errorf("the log does not say %q: %+v", tt.says, o.Logs)
			}
		})
	}
}

// TestTurnIsShownWhileItLasts: the page of a core that waits for no other says nothing of it.
func TestTurnIsShownWhileItLasts(t *testing.T) {
	for step, want := range map[Step]bool{StepCheck: false, StepTurn: true, StepJobs: false, StepDone: false} {
		steps := trackSteps(&Operation{Step: step, Status: Running})
		at := slices.IndexFunc(steps, func(s trackedStep) bool { return s.step == StepTurn })
		if (at >= 0) != want || want && (steps[at].current != "step" || steps[at-1].class != "done" || steps[at+1].step != StepJobs) {
			t.Errorf("at %s the steps are %+v", step, steps)
		}
	}
}
