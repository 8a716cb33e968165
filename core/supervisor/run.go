package supervisor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/plugin/client"
)

// run is the work on one operation.
type run struct {
	s  *Supervisor
	op *Operation
}

// work does the steps of the operation from the one that it stands at. When ctx ends, nothing more is written: the next start
// goes on.
func (r *run) work(ctx context.Context) {
	if r.op.Step == StepRollback || r.op.Step == StepRollbackWait {
		r.rollBack(ctx)
		return
	}
	if !r.op.changed() && len(r.op.Logs) > 0 {
		// Nothing was changed yet, and what was found then may be out of date.
		r.note("warn", "The supervisor was interrupted; beginning again")
		r.restoreName(ctx)
	} else if r.op.changed() {
		r.note("warn", "The supervisor was interrupted; going on")
	}
	err := r.upgrade(ctx)
	switch {
	case ctx.Err() != nil:
	case err == nil:
	case r.op.changed() && r.op.Request.RollbackOnFailure:
		r.op.Failure = client.FailureText(err)
		r.note("error", r.op.Failure)
		r.rollBack(ctx)
	default:
		if !r.op.changed() {
			r.restoreName(ctx)
		}
		r.finish(Failed, client.FailureText(err), "error")
	}
}

// upgrade does the steps of an upgrade.
func (r *run) upgrade(ctx context.Context) error {
	if !r.op.changed() {
		if done, err := r.prepare(ctx); done || err != nil {
			return err
		}
	}
	if err := r.enter(StepApply, "Replacing the core"); err != nil {
		return err
	}
	if err := r.recreate(ctx, r.op.Target, r.overrideFor(r.op.Target)); err != nil {
		return err
	}
	if err := r.enter(StepWait, "Waiting until the new core answers"); err != nil {
		return err
	}
	version, err := r.awaitCore(ctx, r.op.Target)
	if err != nil {
		return err
	}
	r.op.Target.Version = version
	r.finish(Succeeded, "The core runs version "+version, "info")
	return nil
}

// prepare does what changes nothing: it finds the core and pulls the image. The operation may have ended then.
func (r *run) prepare(ctx context.Context) (ended bool, err error) {
	if err := r.enter(StepPrecheck, "Looking at what runs"); err != nil {
		return false, err
	}
	if err := r.s.awaitEngine(ctx); err != nil {
		return false, err
	}
	if err := r.lookAtCore(ctx); err != nil {
		return false, err
	}
	if err := r.enter(StepPull, "Pulling "+r.op.Target.Ref); err != nil {
		return false, err
	}
	if err := r.pull(ctx); err != nil {
		return false, err
	}
	switch {
	case r.op.Target.ID == r.op.Previous.ID:
		r.finish(Succeeded, "The core runs this image already", "info")
		return true, nil
	case r.op.Request.Mode == DryRun:
		r.finish(Succeeded, r.describePlan(), "info")
		return true, nil
	}
	return false, nil
}

// describePlan tells what an upgrade would do.
func (r *run) describePlan() string {
	text := fmt.Sprintf("Would replace %s by %s in the service %s of the project %s", describeImage(r.op.Previous), describeImage(r.op.Target), r.op.Place.Service, r.op.Place.Project)
	if r.overrideFor(r.op.Target) != "" {
		text += ", by an override of its image"
	}
	return text
}

// describeImage names an image for people.
func describeImage(i Image) string {
	parts := []string{}
	if i.Version != "" {
		parts = append(parts, "version "+i.Version)
	}
	if i.Tag != "" {
		parts = append(parts, "tag "+i.Tag)
	}
	id := strings.TrimPrefix(i.ID, "sha256:")
	return strings.Join(append(parts, "image "+id[:min(12, len(id))]), ", ")
}

// rollBack brings the former image back, and the name and the override that it had.
func (r *run) rollBack(ctx context.Context) {
	err := r.enter(StepRollback, "Bringing the former core back")
	if err == nil {
		err = r.s.awaitEngine(ctx)
	}
	if err == nil {
		r.restoreName(ctx)
		err = r.recreate(ctx, r.op.Previous, r.op.Place.Override)
	}
	if err == nil {
		err = r.enter(StepRollbackWait, "Waiting until the former core answers")
	}
	if err == nil {
		_, err = r.awaitCore(ctx, r.op.Previous)
	}
	switch {
	case ctx.Err() != nil:
	case err != nil:
		r.finish(Failed, "The former core could not be brought back: "+client.FailureText(err), "error")
	default:
		r.finish(RolledBack, "The former core runs again. "+r.op.Failure, "warn")
	}
}

// enter stores that a step begins.
func (r *run) enter(step Step, message string) error {
	r.op.Step, r.op.Message = step, message
	return r.record("info", message)
}

// finish stores the end of the operation. If that is not possible, the next start finds it running, and looks at the engine
// again.
func (r *run) finish(status Status, message, level string) {
	r.op.Status, r.op.Message = status, message
	if status != Failed {
		r.op.Step = StepDone
	}
	r.note(level, message)
}

// note is record for what may be lost.
func (r *run) note(level, message string) {
	if err := r.record(level, message); err != nil {
		r.s.log.Error("the state file was not written", "operation", r.op.ID, "error", err)
	}
}

// record adds a line to the log of the operation and stores the operation.
func (r *run) record(level, message string) error {
	r.op.Updated = time.Now().UTC()
	r.op.addLog(r.op.Updated, level, message)
	r.s.log.Log(hclogLevel(level), message, "operation", r.op.ID, "step", string(r.op.Step))
	if err := r.s.journal.Put(*r.op); err != nil {
		return fmt.Errorf("store the step: %w", err)
	}
	return nil
}
