package containers

import (
	"context"
	"fmt"
	"os"

	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// dueSlice is how many backups are looked at in one go.
const dueSlice = 1000

// removeBackups deletes the files of backups that are due, except the newest of each mount, and only while the whole stack
// runs and no job works on it.
func (s *Service) removeBackups(ctx context.Context) error {
	inv, err := s.LoadInventory(ctx)
	if err != nil {
		return err
	}
	idle := map[string]bool{}
	for last := (backupRecord{}); ; {
		due, err := s.repo.dueBackups(ctx, s.now(), &last)
		if err != nil {
			return fmt.Errorf("read the backups: %w", err)
		}
		for i := range due {
			b := &due[i]
			if _, known := idle[b.StackID]; !known {
				if idle[b.StackID], err = s.isStable(ctx, inv, b.StackID); err != nil {
					return err
				}
			}
			if !idle[b.StackID] {
				continue
			}
			if err := s.removeBackup(ctx, b); err != nil {
				return err
			}
		}
		if len(due) < dueSlice || ctx.Err() != nil {
			return context.Cause(ctx)
		}
		last = due[len(due)-1]
	}
}

// isStable reports whether a stack runs and no change of it is under way. A stack that is gone is stable.
func (s *Service) isStable(ctx context.Context, inv *project.Inventory, stackID string) (bool, error) {
	states, locks := map[string]record.LifecycleState{}, []string{}
	for _, svc := range inv.MembersOf(stackID) {
		states[svc.ID] = svc.State
		locks = append(locks, work.ServiceLock(svc.ID))
	}
	if len(states) == 0 {
		return true, nil
	}
	holders, err := s.queue.Holders(ctx, locks)
	if err != nil {
		return false, fmt.Errorf("read the active jobs: %w", err)
	}
	return len(holders) == 0 && project.SumStates(states) == record.StateRunning, nil
}

func (s *Service) removeBackup(ctx context.Context, b *backupRecord) error {
	if err := os.Remove(b.Path); err != nil && !os.IsNotExist(err) {
		s.log.Warn("a backup could not be deleted", "backup", b.ID, "error", err)
		return nil
	}
	b.DeletedAt = s.now()
	if err := s.repo.saveBackup(ctx, b); err != nil {
		return fmt.Errorf("write a backup: %w", err)
	}
	return nil
}

// sqlDue gives the backups that are past their time and not the newest of their mount, in the order of their times and ids.
const sqlDue = `SELECT * FROM containers_backups b WHERE b.deleted_at = 0 AND b.cleanup_after > 0 AND b.cleanup_after <= ? AND b.status = ?
	AND (b.cleanup_after > ? OR b.cleanup_after = ? AND b.id > ?)
	AND EXISTS (SELECT 1 FROM containers_backups n WHERE n.service_id = b.service_id AND n.kind = b.kind AND n.target = b.target AND n.status = b.status
		AND n.deleted_at = 0 AND (n.created_at > b.created_at OR n.created_at = b.created_at AND n.id > b.id))
	ORDER BY b.cleanup_after, b.id LIMIT ?`

func (r *repository) dueBackups(ctx context.Context, now int64, after *backupRecord) (out []backupRecord, err error) {
	err = r.DB(ctx).Raw(sqlDue, now, backupSuccess, after.CleanupAfter, after.CleanupAfter, after.ID, dueSlice).Scan(&out).Error
	return out, err
}
