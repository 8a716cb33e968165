package backup

import (
	"context"
	"fmt"
	"os"

	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// RemoveDue deletes the files of backups that are due, except the newest of each mount, and only while the whole stack
// runs and no job works on it.
func (k *Backups) RemoveDue(ctx context.Context) error {
	inv, err := k.cfg.Projects.LoadInventory(ctx)
	if err != nil {
		return err
	}
	idle := map[string]bool{}
	for last := (Record{}); ; {
		due, err := k.Store.ListDue(ctx, k.now(), &last)
		if err != nil {
			return fmt.Errorf("read the backups: %w", err)
		}
		for i := range due {
			b := &due[i]
			if _, known := idle[b.StackID]; !known {
				if idle[b.StackID], err = k.isStable(ctx, inv, b.StackID); err != nil {
					return err
				}
			}
			if !idle[b.StackID] {
				continue
			}
			if err := k.removeBackup(ctx, b); err != nil {
				return err
			}
		}
		if len(due) < DueSlice || ctx.Err() != nil {
			return context.Cause(ctx)
		}
		last = due[len(due)-1]
	}
}

// isStable reports whether a stack runs and no change of it is under way. A stack that is gone is stable.
func (k *Backups) isStable(ctx context.Context, inv *project.Inventory, stackID string) (bool, error) {
	states, locks := map[string]record.LifecycleState{}, []string{}
	for _, svc := range inv.MembersOf(stackID) {
		states[svc.ID] = svc.State
		locks = append(locks, work.ServiceLock(svc.ID))
	}
	if len(states) == 0 {
		return true, nil
	}
	holders, err := k.cfg.Jobs.Holders(ctx, locks)
	if err != nil {
		return false, fmt.Errorf("read the active jobs: %w", err)
	}
	return len(holders) == 0 && project.SumStates(states) == record.StateRunning, nil
}

func (k *Backups) removeBackup(ctx context.Context, b *Record) error {
	if err := os.Remove(b.Path); err != nil && !os.IsNotExist(err) {
		k.cfg.Logger.Warn("cannot delete a backup", "backup", b.ID, "error", err)
		return nil
	}
	b.DeletedAt = k.now()
	if err := k.Store.SaveBackup(ctx, b); err != nil {
		return fmt.Errorf("write a backup: %w", err)
	}
	return nil
}
