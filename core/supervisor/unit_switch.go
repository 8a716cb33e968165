package supervisor

import (
	"context"
	"fmt"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/supervisor/systemd"
)

// stopTimeout is how long a restart may take besides the time that a core has to answer: the former one has to end first.
const stopTimeout = 2 * time.Minute

// installTarget implements deployment.
func (d *unit) installTarget(ctx context.Context, r *run) error {
	return d.putIntoUse(ctx, r, r.op.Target)
}

// restoreFormer implements deployment.
func (d *unit) restoreFormer(ctx context.Context, r *run) error {
	return d.putIntoUse(ctx, r, r.op.Previous)
}

// putIntoUse has the link name the binaries of an image, and the unit run them. It does what is still to be done: after an interruption
// the link and the process tell how far it had come. What somebody else has put into use meanwhile is left alone.
func (d *unit) putIntoUse(ctx context.Context, r *run, i Image) error {
	folder, err := d.store.Current()
	if err != nil {
		return err
	}
	if folder != r.op.Target.Ref && folder != r.op.Previous.Ref {
		return fault.New(fault.Conflict, "Something else switched to %s in the meantime.", folder).With("reason", "changed_since")
	}
	if err := d.store.Use(i.Ref, i.ID); err != nil {
		return err
	}
	status, err := d.systemd.Status(ctx)
	if err != nil {
		return err
	}
	if status.Running() && d.checkProcess(status, i.Ref) == nil {
		return r.recordLine("info", fmt.Sprintf("The unit %s runs %s already", d.cfg.Unit, describeBinaries(i)))
	}
	bounded, cancel := context.WithTimeout(ctx, d.s.cfg.HealthTimeout+stopTimeout)
	defer cancel()
	return d.systemd.Restart(bounded)
}

// watchCore implements deployment: the unit must be active without having been started again, run the core of the image, and answer with
// its version.
func (d *unit) watchCore(_ *run, want Image) func(ctx context.Context) (version, state string, err error) {
	var first *systemd.Status
	return func(ctx context.Context) (version, state string, err error) {
		status, err := d.systemd.Status(ctx)
		if err != nil {
			return "", "", err
		}
		if first == nil {
			first = &status
		}
		if state, err := d.checkStatus(status, *first, want); state != "" || err != nil {
			return "", state, err
		}
		version, err = d.askCore(ctx)
		return checkAnswer(version, err, want)
	}
}

// checkStatus returns what the unit is waiting for, "" if it runs, or an error if it will not come to run an image.
func (d *unit) checkStatus(status, first systemd.Status, want Image) (state string, err error) {
	switch {
	case status.Active == "failed" || status.Active == "inactive":
		return "", fault.New(fault.Conflict, "The unit %s ended: %s, exit code %d.", d.cfg.Unit, status.Result, status.ExitStatus)
	case status.Sub == "auto-restart" || status.Restarts > first.Restarts:
		return "", fault.New(fault.Conflict, "The unit %s keeps restarting: %s, exit code %d.", d.cfg.Unit, status.Result, status.ExitStatus)
	case status.Active != "active" || status.MainPID == 0:
		return "the unit is " + status.Active, nil
	}
	return "", d.checkProcess(status, want.Ref)
}
