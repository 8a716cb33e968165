package webhook

import (
	"context"
	"errors"
	"fmt"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

// hookRemoved is the result of taking a webhook away.
const hookRemoved = "removed"

// unregisterHooks deletes webhooks and the repositories that are being removed. If the integration is incomplete, so that the
// code host cannot be asked, the webhooks stay there and are not answered.
func (w *Webhooks) unregisterHooks(ctx context.Context, names []string, r *work.Reporter) (any, error) {
	cfg, err := w.hookConfig(ctx)
	if err != nil {
		return nil, err
	}
	h := &syncer{hooks: w, host: w.cfg.CodeHost(), cfg: cfg}
	results, err := h.forEachRepo(ctx, names, r,
		func(ctx context.Context, name string) (SyncResult, error) { return h.removeHook(ctx, name, r) })
	if err != nil {
		return nil, err
	}
	return summarizeHooks(hookUnregister, results).jobResult()
}

// removeHook deletes the webhook of one repository, unless it was selected again meanwhile.
func (h *syncer) removeHook(ctx context.Context, name string, r *work.Reporter) (SyncResult, error) {
	res := SyncResult{Repo: name, Action: hookRemoved}
	unlock, err := h.hooks.cfg.Locks.LockKey(ctx, "/"+settingHooks+"/"+name)
	if err != nil {
		return res, err
	}
	defer unlock()
	row, err := h.hooks.store.trackedRepo(ctx, name)
	if err != nil {
		return res, fmt.Errorf("read a repository: %w", err)
	}
	if row == nil || row.Selected {
		res.Action, res.Message = ActionNoop, "The repository was selected again, or is gone."
		return res, nil
	}
	res.Repo = row.FullName
	if h.host == nil || h.cfg.PAT == "" {
		r.LogWarning(ctx, "%s: the code host cannot be asked; a webhook may be left there", res.Repo)
		return res, h.recordRemoved(ctx, name)
	}
	if err := h.hooks.store.updateRepo(ctx, name, map[string]any{"webhook_state": hookRunning}); err != nil {
		return res, err
	}
	err = retryCodeHost(ctx, func() error { return h.takeAway(ctx, row) })
	switch {
	case ctx.Err() != nil:
		err := h.hooks.store.updateRepo(context.WithoutCancel(ctx), name, map[string]any{"webhook_state": row.WebhookState})
		return res, errors.Join(context.Cause(ctx), err)
	case err == nil || client.CauseOf(err) == client.CauseMissing:
		return res, h.recordRemoved(ctx, name)
	case !h.cfg.Enabled:
		r.LogWarning(ctx, "%s: the webhook was left on the code host: %s", res.Repo, h.cfg.cleanText(failure.Text(err)))
		return res, h.recordRemoved(ctx, name)
	}
	res.Action, res.Message = ActionError, h.cfg.cleanText(failure.Text(err))
	return res, h.hooks.store.updateRepo(ctx, name, map[string]any{"webhook_state": StateError, "last_error": res.Message, "removing": false})
}

// takeAway deletes all webhooks of a repository that are ours.
func (h *syncer) takeAway(ctx context.Context, row *repoRecord) error {
	hooks, err := h.host.Hooks(ctx, h.cfg.PAT, row.FullName)
	if err != nil {
		return err
	}
	for _, k := range h.ownHooks(row, hooks) {
		if err := h.deleteHook(ctx, row, k.ID); err != nil {
			return err
		}
	}
	return nil
}

// recordRemoved stores that a webhook is gone, and deletes a repository that is being removed.
func (h *syncer) recordRemoved(ctx context.Context, name string) error {
	gone, err := h.hooks.store.forgetRepo(ctx, name)
	if err != nil || gone {
		return err
	}
	return h.hooks.store.updateRepo(ctx, name,
		map[string]any{"webhook_state": StateUnknown, "hook_id": "", "last_error": "", "last_sync_at": h.hooks.now()})
}

// AuditSummary is the summary of an audit.
type AuditSummary struct {
	Op       string      `json:"op" enum:"audit_all"`
	Total    int         `json:"total"`
	OK       int         `json:"ok"`
	Missing  int         `json:"missing"`
	Conflict int         `json:"conflict"`
	Error    int         `json:"error"`
	Repos    []AuditRepo `json:"repos" doc:"The repositories that are not ok."`
	Skipped  string      `json:"skippedReason,omitempty" doc:"Why nothing was looked at."`
}

// AuditRepo is what an audit found wrong with one repository.
type AuditRepo struct {
	Repo   string `json:"repo" example:"ann/blog"`
	Status string `json:"status" enum:"missing,conflict,error"`
	Error  string `json:"error,omitempty"`
}

// auditHooks looks at the webhooks of all selected repositories and notes what it finds. It repairs nothing.
func (w *Webhooks) auditHooks(ctx context.Context, r *work.Reporter) (any, error) {
	out := AuditSummary{Op: OpAuditAll, Repos: []AuditRepo{}}
	h, err := w.newSyncer(ctx)
	if why := skipReason(err); why != "" {
		out.Skipped = why
		r.LogInfo(ctx, "nothing was checked: %s", why)
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	rows, err := w.store.selectedRepos(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the repositories: %w", err)
	}
	var names []string
	for _, row := range rows {
		names = append(names, row.Name)
	}
	results, err := h.forEachRepo(ctx, names, r, h.auditRepo)
	if err != nil {
		return nil, err
	}
	for _, res := range results {
		out.countResult(res)
	}
	return out, nil
}

func (a *AuditSummary) countResult(res SyncResult) {
	a.Total++
	switch res.Action {
	case StateMissing:
		a.Missing++
	case StateConflict:
		a.Conflict++
	case StateError:
		a.Error++
	default:
		a.OK++
		return
	}
	a.Repos = append(a.Repos, AuditRepo{Repo: res.Repo, Status: res.Action, Error: res.Message})
}

// auditRepo checks the webhook of one repository. The action of the result is the state.
func (h *syncer) auditRepo(ctx context.Context, name string) (res SyncResult, err error) {
	res = SyncResult{Repo: name}
	unlock, err := h.hooks.cfg.Locks.LockKey(ctx, "/"+settingHooks+"/"+name)
	if err != nil {
		return res, err
	}
	defer unlock()
	row, err := h.hooks.store.trackedRepo(ctx, name)
	if err != nil {
		return res, fmt.Errorf("read a repository: %w", err)
	}
	if row == nil || !row.Selected {
		res.Action = StateOK
		return res, nil
	}
	var found SyncResult
	failed := retryCodeHost(ctx, func() (err error) { found, err = h.planSync(ctx, row); return err })
	if ctx.Err() != nil {
		return res, context.Cause(ctx)
	}
	res.Repo = row.FullName
	switch {
	case failed != nil:
		res.Action, res.Message = StateError, h.cfg.cleanText(failure.Text(failed))
	case found.Action == ActionCreated:
		res.Action, res.Message = StateMissing, "There is no webhook for "+codehost.EventPackage+" events."
	case found.Action == ActionConflict:
		res.Action, res.Message = StateConflict, found.Message
	case found.Action == ActionUpdated:
		res.Action, res.Message = StateError, "The webhook is not as it should be: its events, content type, address or state differ."
	default:
		res.Action = StateOK
	}
	columns := map[string]any{"webhook_state": res.Action, "last_error": res.Message, "last_op": OpAuditAll, "last_audit_at": h.hooks.now()}
	if found.HookID != "" {
		columns["hook_id"] = found.HookID
	}
	if err := h.hooks.store.updateRepo(ctx, name, columns); err != nil {
		return res, fmt.Errorf("note the webhook of %s: %w", name, err)
	}
	return res, nil
}

// skipReason returns why a scheduled audit is skipped because of err, or "" for other errors.
func skipReason(err error) string {
	var f *fault.Error
	if !errors.As(err, &f) {
		return ""
	}
	why, _ := f.Ext["reason"].(string)
	return why
}
