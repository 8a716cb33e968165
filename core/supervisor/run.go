package supervisor

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/plugin/client"
)

// run is the work on one operation.
type run struct {
	s  *Supervisor
	op *Operation
}

// runSteps does the steps of the operation from the one that it stands at. When ctx ends, nothing more is written: the next start
// goes on.
func (r *run) runSteps(ctx context.Context) {
	defer r.endTurn(ctx)
	if r.op.Step == StepRollback || r.op.Step == StepRollbackWait {
		r.rollBack(ctx)
		return
	}
	if !r.op.mayHaveChanged() && len(r.op.Logs) > 0 {
		// Nothing was changed yet, and what was found then may be out of date.
		r.noteLine("warn", "The supervisor was interrupted; beginning again")
		r.s.deployment.discardTarget(ctx, r)
	} else if r.op.mayHaveChanged() {
		r.noteLine("warn", "The supervisor was interrupted; going on")
	}
	err := r.replaceCore(ctx)
	switch {
	case ctx.Err() != nil:
	case err == nil:
	case r.op.mayHaveChanged() && r.op.Request.RollbackOnFailure:
		r.op.Failure = client.FailureText(err)
		r.noteLine("error", r.op.Failure)
		r.rollBack(ctx)
	default:
		if !r.op.mayHaveChanged() {
			r.s.deployment.discardTarget(ctx, r)
		}
		r.endOperation(Failed, client.FailureText(err), "error")
	}
}

// replaceCore does the steps of an upgrade.
func (r *run) replaceCore(ctx context.Context) error {
	if !r.op.mayHaveChanged() {
		if done, err := r.prepareTarget(ctx); done || err != nil {
			return err
		}
		if err := r.awaitTurn(ctx); err != nil {
			return err
		}
		if err := r.awaitJobs(ctx); err != nil {
			return err
		}
	}
	if err := r.enterStep(StepApply, "Replacing the core"); err != nil {
		return err
	}
	if err := r.s.deployment.installTarget(ctx, r); err != nil {
		return err
	}
	if err := r.enterStep(StepWait, "Waiting until the new core answers"); err != nil {
		return err
	}
	version, err := r.awaitCore(ctx, r.op.Target)
	if err != nil {
		return err
	}
	r.op.Target.Version = version
	r.endOperation(Succeeded, "The core runs version "+version, "info")
	return nil
}

// prepareTarget does what changes nothing: it finds the core, fetches the target and has it tell its version. The operation may have
// ended then.
func (r *run) prepareTarget(ctx context.Context) (ended bool, err error) {
	if err := r.enterStep(StepPrecheck, "Looking at what runs"); err != nil {
		return false, err
	}
	if err := r.s.deployment.awaitDriver(ctx); err != nil {
		return false, err
	}
	if err := r.s.deployment.lookAtCore(ctx, r); err != nil {
		return false, err
	}
	if err := r.s.deployment.fetchTarget(ctx, r); err != nil {
		return false, err
	}
	if r.op.Target.ID == r.op.Previous.ID {
		r.endOperation(Succeeded, "The core runs this version already", "info")
		return true, nil
	}
	if err := r.s.deployment.tryTarget(ctx, r); err != nil {
		return false, err
	}
	if r.op.Request.Mode == DryRun {
		r.endOperation(Succeeded, r.s.deployment.describePlan(r.op), "info")
		return true, nil
	}
	return false, nil
}

// rollbackAttempts is how often a rollback starts the former core: it may be killed, or taken away, before it answers.
const rollbackAttempts = 3

// rollBack brings the former core back.
func (r *run) rollBack(ctx context.Context) {
	err := r.restoreFormer(ctx)
	for attempt := 1; err != nil && ctx.Err() == nil && attempt < rollbackAttempts; attempt++ {
		r.noteLine("warn", client.FailureText(err))
		err = r.restoreFormer(ctx)
	}
	switch {
	case ctx.Err() != nil:
	case err != nil:
		r.endOperation(Failed, "The former core could not be brought back: "+client.FailureText(err), "error")
	default:
		r.endOperation(RolledBack, "The former core runs again. "+r.op.Failure, "warn")
	}
}

// restoreFormer puts the former core back in its place and waits until it answers.
func (r *run) restoreFormer(ctx context.Context) error {
	if err := r.enterStep(StepRollback, "Bringing the former core back"); err != nil {
		return err
	}
	if err := r.s.deployment.awaitDriver(ctx); err != nil {
		return err
	}
	if err := r.s.deployment.restoreFormer(ctx, r); err != nil {
		return err
	}
	if err := r.enterStep(StepRollbackWait, "Waiting until the former core answers"); err != nil {
		return err
	}
	_, err := r.awaitCore(ctx, r.op.Previous)
	return err
}

// enterStep stores that a step begins.
func (r *run) enterStep(step Step, message string) error {
	r.op.Step, r.op.Message = step, message
	return r.recordLine("info", message)
}

// endOperation stores the end of the operation. If that is not possible, the next start finds it running, and looks again
// at what there is.
func (r *run) endOperation(status Status, message, level string) {
	r.op.Status, r.op.Message = status, message
	if status != Failed {
		r.op.Step = StepDone
	}
	r.noteLine(level, message)
	r.s.deployment.removeUnused(r)
}

// noteLine is recordLine for what may be lost.
func (r *run) noteLine(level, message string) {
	if err := r.recordLine(level, message); err != nil {
		r.s.log.Error("cannot write the state file", "operation", r.op.ID, "error", err)
	}
}

// recordLine adds a line to the log of the operation and stores the operation.
func (r *run) recordLine(level, message string) error {
	r.op.Updated = time.Now().UTC()
	r.op.addLog(r.op.Updated, level, message)
	r.s.log.Log(hclog.LevelFromString(level), message, "operation", r.op.ID, "step", string(r.op.Step))
	if err := r.s.journal.Put(*r.op); err != nil {
		return fmt.Errorf("store the step: %w", err)
	}
	return nil
}
