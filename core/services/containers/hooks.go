package containers

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/queue"
)

const hookAuditAll = "audit_all"

func (s *Service) runHook(context.Context, *queue.Job, jobSpec, *report) (any, error) {
	return nil, nil
}
func (s *Service) runHookSyncAll(context.Context, *queue.Job, jobSpec, *report) (any, error) {
	return nil, nil
}
func (s *Service) runHookSyncRepo(context.Context, *queue.Job, jobSpec, *report) (any, error) {
	return nil, nil
}
func (s *Service) runReport(context.Context, *queue.Job, queue.Progress) (any, error) {
	return nil, nil
}
