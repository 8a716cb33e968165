package supervisor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
)

// Core is the core that runs, as its operators' socket shows it.
type Core interface {
	// CoreVersion returns the version of the core. An error says why it cannot be asked, or that it is not ready.
	CoreVersion(ctx context.Context) (string, error)
	// RunningJobs returns the types of the jobs that run at the core, one entry for each job. An error says why the core cannot be asked.
	RunningJobs(ctx context.Context) ([]string, error)
	// BeginUpgrade has the core take no new work, or returns the name of another core of its database that is being upgraded. An error says
	// why the core cannot be asked.
	BeginUpgrade(ctx context.Context) (waitsFor string, err error)
	// EndUpgrade has the core take work again, and lets another one be upgraded.
	EndUpgrade(ctx context.Context) error
}

// coreAnswer bounds one question to the core.
const coreAnswer = 5 * time.Second

// awaitJobs waits until no job of the core runs, at most as long as the settings say. What runs then, or a core that cannot be asked,
// does not stop the upgrade: the next core goes on with jobs that were interrupted.
func (r *run) awaitJobs(ctx context.Context) error {
	if r.s.cfg.JobsTimeout <= 0 || r.s.cfg.Core == nil {
		return nil
	}
	if err := r.enterStep(StepJobs, "Waiting for jobs of the core"); err != nil {
		return err
	}
	for began, last := time.Now(), ""; ; {
		running, err := r.askJobs(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return r.recordLine("warn", "The core does not say whether jobs run, and is replaced anyway: "+jobsFailure(err))
		case len(running) == 0:
			return r.recordLine("info", "No job of the core runs")
		case time.Since(began) > r.s.cfg.JobsTimeout:
			return r.recordLine("warn", fmt.Sprintf("After %s there still runs: %s. It goes on when the new core has started.", r.s.cfg.JobsTimeout,
				countJobs(running)))
		}
		if text := countJobs(running); text != last {
			last = text
			if err := r.enterStep(StepJobs, "Waiting for jobs of the core: "+text); err != nil {
				return err
			}
		}
		if err := event.Sleep(ctx, lookEvery); err != nil {
			return err
		}
	}
}

// askJobs asks the core once.
func (r *run) askJobs(ctx context.Context) ([]string, error) {
	bounded, cancel := context.WithTimeout(ctx, coreAnswer)
	defer cancel()
	return r.s.cfg.Core.RunningJobs(bounded)
}

// jobsFailure returns what an error of Core says to the operator.
func jobsFailure(err error) string {
	if fault.CodeOf(err) == fault.Internal {
		return err.Error()
	}
	return client.FailureText(err)
}

// countJobs names jobs by their types, such as "2 × containers.update".
func countJobs(types []string) string {
	counts := map[string]int{}
	for _, t := range types {
		counts[t]++
	}
	out := lists.ConvertAll(slices.Sorted(maps.Keys(counts)), func(t string) string { return fmt.Sprintf("%d × %s", counts[t], t) })
	return strings.Join(out, ", ")
}
