package supervisor

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/event"
)

// awaitTurn waits until no other core of the database is being upgraded, and has this one take no new work. A core that cannot be asked
// does not stop the upgrade.
func (r *run) awaitTurn(ctx context.Context) error {
	if r.s.cfg.Core == nil {
		return nil
	}
	for last := ""; ; {
		other, err := r.askTurn(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return r.recordLine("warn", "The core does not say whether another one is being upgraded, and is replaced anyway: "+jobsFailure(err))
		case other == "":
			r.op.Turn = true
			return r.s.journal.Put(*r.op)
		case other != last:
			last = other
			if err := r.enterStep(StepTurn, "Waiting for the upgrade of the core "+other); err != nil {
				return err
			}
		}
		if err := event.Sleep(ctx, lookEvery); err != nil {
			return err
		}
	}
}

// askTurn asks the core once.
func (r *run) askTurn(ctx context.Context) (other string, err error) {
	bounded, cancel := context.WithTimeout(ctx, coreAnswer)
	defer cancel()
	return r.s.cfg.Core.BeginUpgrade(bounded)
}

// endTurn lets the next core be upgraded once the operation has ended. Where the core does not answer, its turn ends by itself.
func (r *run) endTurn(ctx context.Context) {
	if !r.op.Turn || ctx.Err() != nil {
		return
	}
	bounded, cancel := context.WithTimeout(ctx, coreAnswer)
	defer cancel()
	if err := r.s.cfg.Core.EndUpgrade(bounded); err != nil {
		r.noteLine("warn", "Other cores wait for up to 15 minutes, since the core does not say that its upgrade has ended: "+jobsFailure(err))
	}
}
