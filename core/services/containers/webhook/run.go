package webhook

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// RunHookSyncAll brings the webhooks of all selected repositories in line.
func (w *Webhooks) RunHookSyncAll(ctx context.Context, _ *queue.Job, _ Payload, r *work.Reporter) (any, error) {
	h, err := w.newSyncer(ctx)
	if err != nil {
		return nil, err
	}
	names, err := w.selectedNames(ctx, nil)
	if err != nil {
		return nil, err
	}
	return h.syncEach(ctx, names, OpSync, r)
}

// RunHookSyncRepo brings the webhook of one repository in line.
func (w *Webhooks) RunHookSyncRepo(ctx context.Context, _ *queue.Job, spec Payload, r *work.Reporter) (any, error) {
	h, err := w.newSyncer(ctx)
	if err != nil {
		return nil, w.recordHookFailure(ctx, []string{spec.Repo}, err)
	}
	return h.syncEach(ctx, []string{spec.Repo}, OpSync, r)
}

// RunHook does what the operation of a job says: register, unregister or audit_all.
func (w *Webhooks) RunHook(ctx context.Context, job *queue.Job, spec Payload, r *work.Reporter) (any, error) {
	if spec.Op == OpAuditAll {
		return w.auditHooks(ctx, r)
	}
	names, err := w.jobRepos(ctx, job, spec)
	if err != nil {
		return nil, err
	}
	if spec.Op == hookUnregister {
		return w.unregisterHooks(ctx, names, r)
	}
	h, err := w.newSyncer(ctx)
	if err != nil {
		return nil, w.recordHookFailure(ctx, names, err)
	}
	return h.syncEach(ctx, names, OpRegister, r)
}
