package containers

import (
	"context"
	"fmt"

	"github.com/patchbay-dev/patchbay/core/queue"
)

// purgeOldRecords deletes expired samples, snapshots, events of deliveries and notices, and backups of stacks that are
// stable, and ends the changes of jobs that have ended. It does not compact the database.
func (s *Service) purgeOldRecords(ctx context.Context, _ *queue.Job, _ queue.Progress) (any, error) {
	if err := s.Usage.DeleteOld(ctx); err != nil {
		return nil, err
	}
	if err := s.Inbox.DeleteOld(ctx); err != nil {
		return nil, err
	}
	if err := s.CollectGarbage(ctx); err != nil {
		return nil, fmt.Errorf("delete old snapshots: %w", err)
	}
	if err := s.Notices.DeleteOld(ctx); err != nil {
		return nil, fmt.Errorf("delete old notices: %w", err)
	}
	if err := s.EndLeftOpen(ctx); err != nil {
		return nil, fmt.Errorf("end abandoned changes: %w", err)
	}
	return nil, s.RemoveDue(ctx)
}
