package containers

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/queue"
)

const headerWebhookSecret = "X-Svc-Webhook-Secret"

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
func (s *Service) hooksAPI(*api.API) {}
func (s *Service) checkHooks(context.Context) ReportCheck {
	return na(naSwitch, "Package webhooks are switched off.")
}
