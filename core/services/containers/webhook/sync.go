package webhook

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/texts"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

const (
	// hookTries is how often a call to the code host is made that fails for a passing reason.
	hookTries = 3
	// hookPause is the first pause between two tries; it doubles.
	hookPause = 300 * time.Millisecond
	// Patience is the longest pause that a code host may ask for.
	Patience = time.Minute
	// hookParallel is how many repositories are worked on at once.
	hookParallel = 5
	// hookAnswerLimit bounds the wait for the answer to the making of a webhook, which goes on without the caller.
	hookAnswerLimit = 2 * time.Minute
)

// retryCodeHost calls try, and again if it failed with a transient error: after the pause that the code host asks for, unless
// that is too long, else after one that doubles.
func retryCodeHost(ctx context.Context, try func() error) error {
	pause := hookPause
	for n := 1; ; n++ {
		err := try()
		cause := client.CauseOf(err)
		passes := cause == client.CauseLimited || cause == client.CauseUnreachable || fault.CodeOf(err) == fault.PluginUnavailable
		if err == nil || n == hookTries || !passes {
			return err
		}
		wait := pause + rand.N(pause/3)
		if after := fault.As(err).RetryAfter; after > Patience {
			return err
		} else if after > 0 {
			wait = after
		}
		if stop := event.Sleep(ctx, wait); stop != nil {
			return stop
		}
		pause *= 2
	}
}

// syncer works on the webhooks of repositories with the settings of one moment.
type syncer struct {
	hooks *Webhooks
	host  client.CodeHost
	cfg   secrets
}

// newSyncer returns a syncer. If a setting is missing, the error is a fault.InvalidArgument with a reason.
func (w *Webhooks) newSyncer(ctx context.Context) (*syncer, error) {
	cfg, err := w.hookConfig(ctx)
	if err != nil {
		return nil, err
	}
	h := &syncer{hooks: w, host: w.cfg.CodeHost(), cfg: cfg}
	switch {
	case !cfg.Enabled:
		return nil, hookFault(WhyDisabled)
	case h.host == nil:
		return nil, hookFault(WhyNoHost)
	case cfg.PAT == "":
		return nil, hookFault(WhyNoToken)
	}
	return h, checkCallback(cfg.CallbackURL)
}

// The results of a synchronisation.
const (
	ActionNoop     = "noop"
	ActionCreated  = "created"
	ActionUpdated  = "updated"
	ActionConflict = "conflict"
	ActionError    = "error"
)

// SyncResult is what was done with the webhook of one repository.
type SyncResult struct {
	Repo          string         `json:"repo" example:"ann/blog"`
	Action        string         `json:"action" enum:"noop,created,updated,conflict,error"`
	HookID        string         `json:"hookId,omitempty" example:"4711"`
	ConflictHooks []ConflictHook `json:"conflictHooks,omitempty" doc:"The webhooks that are there more than once."`
	Message       string         `json:"message,omitempty"`
}

// ConflictHook is one of several webhooks with the same callback URL.
type ConflictHook struct {
	ID     string   `json:"id" example:"4711"`
	URL    string   `json:"url"`
	Events []string `json:"events"`
	Active bool     `json:"active"`
}

// ConflictChoice says which of several webhooks of a repository stays.
type ConflictChoice struct {
	Repo   string   `json:"repo" maxLength:"300" example:"ann/blog"`
	Keep   string   `json:"keepHookId" maxLength:"100" example:"4711"`
	Delete []string `json:"deleteHookIds" minItems:"1" maxItems:"100" example:"[\"4712\"]"`
}

func (h *syncer) hookSpec() codehost.HookSpec {
	return codehost.HookSpec{URL: h.cfg.CallbackURL, Secret: h.cfg.Secret, Events: []string{codehost.EventPackage}, Active: true}
}

// hookMatches reports whether a hook is as it should be, as far as the code host shows it.
func (h *syncer) hookMatches(k *codehost.Hook) bool {
	return k.URL == h.cfg.CallbackURL && k.Active && k.ContentType == "json" && slices.Equal(k.Events, []string{codehost.EventPackage})
}

// ownHooks returns the hooks with our callback URL. If there is none, it returns the one that we made for another callback
// URL.
func (h *syncer) ownHooks(row *repoRecord, hooks []codehost.Hook) (out []codehost.Hook) {
	for _, k := range hooks {
		if k.URL == h.cfg.CallbackURL {
			out = append(out, k)
		}
	}
	if len(out) > 0 || row.HookID == "" {
		return out
	}
	for _, k := range hooks {
		if k.ID == row.HookID && strings.HasSuffix(k.URL, CallbackPath) {
			out = append(out, k)
		}
	}
	return out
}

// planSync lists a repository's hooks and returns what is to be done.
func (h *syncer) planSync(ctx context.Context, row *repoRecord) (res SyncResult, err error) {
	res = SyncResult{Repo: row.FullName}
	hooks, err := h.host.Hooks(ctx, h.cfg.PAT, row.FullName)
	if err != nil {
		return res, err
	}
	ours := h.ownHooks(row, hooks)
	switch {
	case len(ours) == 0:
		res.Action = ActionCreated
	case len(ours) > 1:
		res.Action, res.Message = ActionConflict, fmt.Sprintf("%d webhooks have the callback URL.", len(ours))
		for _, k := range ours {
			res.ConflictHooks = append(res.ConflictHooks,
				ConflictHook{ID: k.ID, URL: k.URL, Events: append([]string{}, k.Events...), Active: k.Active})
		}
	case h.hookMatches(&ours[0]):
		res.Action, res.HookID = ActionNoop, ours[0].ID
	default:
		res.Action, res.HookID = ActionUpdated, ours[0].ID
	}
	return res, nil
}

// ensureHook creates or corrects a repository's webhook. It may be repeated, since it lists the hooks first.
func (h *syncer) ensureHook(ctx context.Context, row *repoRecord, dry bool) (res SyncResult, err error) {
	if res, err = h.planSync(ctx, row); err != nil || dry {
		return res, err
	}
	if res.Action == ActionCreated || res.Action == ActionUpdated {
		if err := h.hooks.pace.Wait(ctx); err != nil {
			return res, fmt.Errorf("wait to change a webhook: %w", err)
		}
	}
	var hook *codehost.Hook
	switch res.Action {
	case ActionCreated:
		// The code host finishes what it has begun also when nobody waits for it: without the answer the id would not be known.
		wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), hookAnswerLimit)
		defer cancel()
		hook, err = h.host.CreateHook(wait, h.cfg.PAT, row.FullName, h.hookSpec())
	case ActionUpdated:
		hook, err = h.host.UpdateHook(ctx, h.cfg.PAT, row.FullName, res.HookID, h.hookSpec())
	}
	if hook != nil {
		res.HookID = hook.ID
	}
	return res, err
}

// resolveConflict deletes the webhooks that a person chose to lose, if they are duplicates of ours. Each call is retried by itself: after
// one that was deleted those that are left may be no duplicates any more.
func (h *syncer) resolveConflict(ctx context.Context, row *repoRecord, choice ConflictChoice) error {
	var found SyncResult
	if err := retryCodeHost(ctx, func() (err error) { found, err = h.planSync(ctx, row); return err }); err != nil {
		return err
	}
	known := func(id string) bool {
		return slices.ContainsFunc(found.ConflictHooks, func(k ConflictHook) bool { return k.ID == id })
	}
	for _, id := range append([]string{choice.Keep}, choice.Delete...) {
		if !known(id) {
			return record.InvalidField("resolveConflicts", "The webhook %s is none of the duplicates.", texts.Limit(id, 100))
		}
	}
	for _, id := range choice.Delete {
		if err := retryCodeHost(ctx, func() error { return h.deleteHook(ctx, row, id) }); err != nil {
			return err
		}
	}
	return nil
}

// deleteHook deletes a webhook. One that is gone already is no error.
func (h *syncer) deleteHook(ctx context.Context, row *repoRecord, id string) error {
	if err := h.hooks.pace.Wait(ctx); err != nil {
		return fmt.Errorf("wait to delete a webhook: %w", err)
	}
	if err := h.host.DeleteHook(ctx, h.cfg.PAT, row.FullName, id); err != nil && client.CauseOf(err) != client.CauseMissing {
		return err
	}
	return nil
}

// syncRepo synchronizes the webhook of a selected repository and stores the result, which may be a failure. A returned error
// ends the whole job.
func (h *syncer) syncRepo(ctx context.Context, name, op string, dry bool, choice *ConflictChoice) (SyncResult, error) {
	unlock, err := h.hooks.cfg.Locks.LockKey(ctx, "/"+settingHooks+"/"+name)
	if err != nil {
		return SyncResult{Repo: name}, err
	}
	defer unlock()
	row, err := h.hooks.store.trackedRepo(ctx, name)
	if err != nil {
		return SyncResult{Repo: name}, fmt.Errorf("read a repository: %w", err)
	}
	if row == nil || !row.Selected {
		return SyncResult{Repo: name, Action: ActionNoop, Message: "The repository is not selected any more."}, nil
	}
	if !dry {
		if err := h.hooks.store.updateRepo(ctx, name, map[string]any{"webhook_state": hookRunning}); err != nil {
			return SyncResult{Repo: name}, err
		}
	}
	if choice != nil && !dry {
		err = h.resolveConflict(ctx, row, *choice)
	}
	res := SyncResult{Repo: row.FullName}
	if err == nil {
		err = retryCodeHost(ctx, func() (err error) { res, err = h.ensureHook(ctx, row, dry); return err })
	}
	return h.recordSync(ctx, row, res, err, op, dry)
}

// recordSync stores the outcome of a synchronization.
func (h *syncer) recordSync(ctx context.Context, row *repoRecord, res SyncResult, failed error, op string, dry bool) (SyncResult, error) {
	if failed != nil {
		res.Action, res.Message = ActionError, h.cfg.cleanText(failure.Text(failed))
	}
	if dry {
		return res, context.Cause(ctx)
	}
	columns := map[string]any{"last_op": op, "last_error": "", "last_sync_at": h.hooks.now(), "webhook_state": StateOK, "hook_id": res.HookID}
	switch {
	case ctx.Err() != nil:
		columns = map[string]any{"webhook_state": row.WebhookState}
		if failed == nil && res.HookID != "" {
			// It was made: it is found by its id once the callback URL is another one.
			columns["hook_id"] = res.HookID
		}
	case res.Action == ActionConflict:
		columns["webhook_state"], columns["last_error"] = StateConflict, res.Message
	case res.Action == ActionError:
		columns["webhook_state"], columns["last_error"] = StateError, res.Message
		delete(columns, "hook_id")
	}
	if err := h.hooks.store.updateRepo(context.WithoutCancel(ctx), row.Name, columns); err != nil {
		return res, fmt.Errorf("note the webhook of %s: %w", row.Name, err)
	}
	return res, context.Cause(ctx)
}
