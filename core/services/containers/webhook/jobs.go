package webhook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// SyncJob names the job that synchronises webhooks.
type SyncJob struct {
	OK     bool   `json:"ok" example:"true"`
	JobID  string `json:"jobId" example:"job_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
	Status string `json:"status" enum:"queued,running"`
	Reused bool   `json:"reused" doc:"The job was under way already."`
}

// SyncAllHooks has the webhooks of all selected repositories brought in line. A job that is under way is reused.
func (w *Webhooks) SyncAllHooks(ctx context.Context) (SyncJob, error) {
	if _, err := w.newSyncer(ctx); err != nil {
		return SyncJob{}, err
	}
	_, selected, err := w.store.countRepos(ctx)
	if err != nil {
		return SyncJob{}, fmt.Errorf("count the repositories: %w", err)
	}
	if selected == 0 {
		return SyncJob{}, noneSelected()
	}
	job, reused, err := w.queue.SubmitJob(ctx, work.Submission{Kind: work.JobHookSyncAll, Key: "all", Payload: newHookJob(OpSync, "")})
	return SyncJob{OK: true, JobID: job.ID, Status: string(job.State), Reused: reused}, err
}

func noneSelected() error {
	return fault.New(fault.InvalidArgument, "No repository is selected.").With("reason", "none_selected")
}

// SyncRepoHook has the webhook of one repository brought in line. A job for it that is under way is reused; while its
// webhook is being taken away, this is a fault.Conflict.
func (w *Webhooks) SyncRepoHook(ctx context.Context, full string) (out SyncJob, err error) {
	name, err := repoName(full)
	if err != nil {
		return out, err
	}
	if _, err := w.newSyncer(ctx); err != nil {
		return out, err
	}
	open, err := w.openHookJobs(ctx)
	if err != nil {
		return out, err
	}
	holders, err := w.queue.Holders(ctx, []string{unregisterLock(name)})
	if err != nil {
		return out, fmt.Errorf("read the jobs of a repository: %w", err)
	}
	err = w.store.change(ctx, "synchronise a repository", func(ctx context.Context) error {
		row, err := w.store.trackedRepo(ctx, name)
		if err != nil {
			return fmt.Errorf("read a repository: %w", err)
		}
		if row == nil {
			return fault.New(fault.NotFound, notTracked, name)
		}
		if job, held := holders[unregisterLock(name)]; held {
			return pendingRemovalError(job.ID)
		}
		row.settleState(open)
		if row.Removing || row.LastOp == hookUnregister && (row.WebhookState == StateQueued || row.WebhookState == hookRunning) {
			return pendingRemovalError(row.JobID)
		}
		if !row.Selected {
			return record.InvalidField("fullName", "The repository %s is not selected.", name).With("reason", "not_selected")
		}
		job, reused, err := w.queue.SubmitJob(ctx, work.Submission{Kind: work.JobHookSyncRepo, Key: name, Payload: newHookJob(OpSync, name)})
		if err != nil {
			return err
		}
		out = SyncJob{OK: true, JobID: job.ID, Status: string(job.State), Reused: reused}
		if reused {
			return nil
		}
		return w.store.updateRepos(ctx, []string{name},
			map[string]any{"job_id": job.ID, "webhook_state": StateQueued, "last_op": OpSync, "last_error": ""})
	})
	return out, err
}

func pendingRemovalError(jobID string) error {
	return fault.New(fault.Conflict, "The webhook of this repository is being removed.").With("reason",
		"unregister_in_progress").With("existingJobId", jobID)
}

// SyncRequest asks for a synchronisation that the caller waits for.
type SyncRequest struct {
	// DryRun only tells what would be done.
	DryRun bool
	// Repos are the selected repositories to look at; none means all.
	Repos []string
	// Conflicts say which of several webhooks stay.
	Conflicts []ConflictChoice
}

// SyncHooks brings webhooks in line and waits for that.
func (w *Webhooks) SyncHooks(ctx context.Context, req SyncRequest) ([]SyncResult, error) {
	choices := map[string]*ConflictChoice{}
	for i, c := range req.Conflicts {
		name, err := repoName(c.Repo)
		if err != nil {
			return nil, err
		}
		if c.Keep == "" || len(c.Delete) == 0 || slices.Contains(c.Delete, c.Keep) || choices[name] != nil {
			return nil, record.InvalidField("resolveConflicts", "Name for %s, once, the webhook to keep and others to delete.", name)
		}
		choices[name] = &req.Conflicts[i]
	}
	h, err := w.newSyncer(ctx)
	if err != nil {
		return nil, err
	}
	names, err := w.selectedNames(ctx, req.Repos)
	if err != nil {
		return nil, err
	}
	for name := range choices {
		if !slices.Contains(names, name) {
			return nil, record.InvalidField("resolveConflicts", "The repository %s is not among those that are synchronised.", name)
		}
	}
	return h.forEachRepo(ctx, names, nil, func(ctx context.Context, name string) (SyncResult, error) {
		return h.syncRepo(ctx, name, OpSync, req.DryRun, choices[name])
	})
}

// selectedNames are the selected repositories, or those that are asked for, if all of them are selected.
func (w *Webhooks) selectedNames(ctx context.Context, asked []string) ([]string, error) {
	rows, err := w.store.selectedRepos(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the repositories: %w", err)
	}
	var all, out []string
	for _, r := range rows {
		all = append(all, r.Name)
	}
	for _, full := range asked {
		name, err := repoName(full)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(all, name) {
			return nil, record.InvalidField("repos", "The repository %s is not selected.", name).With("reason", "not_selected")
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	if len(asked) == 0 {
		out = all
	}
	if len(out) == 0 {
		return nil, noneSelected()
	}
	return out, nil
}

// forEachRepo calls do for repositories, several at once, and returns the results in their order. An error of do ends it.
func (h *syncer) forEachRepo(ctx context.Context, names []string, r *work.Reporter,
	do func(context.Context, string) (SyncResult, error)) ([]SyncResult, error) {
	out := make([]SyncResult, len(names))
	var mu sync.Mutex
	done := 0
	g, run := errgroup.WithContext(ctx)
	g.SetLimit(hookParallel)
	for i, name := range names {
		g.Go(func() error {
			res, err := do(run, name)
			if err != nil {
				return err
			}
			out[i] = res
			if r == nil {
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			done++
			reportResult(ctx, r, &res)
			r.UpdateProgress(ctx, func(p *work.ProgressState) {
				p.Phase, p.Message, p.CurrentTarget = "apply", res.Repo+": webhook "+res.Action, res.Repo
				p.Current, p.Total, p.Percent = done, len(names), done*99/len(names)
			})
			return nil
		})
	}
	return out, g.Wait()
}

func reportResult(ctx context.Context, r *work.Reporter, res *SyncResult) {
	switch res.Action {
	case ActionError:
		r.LogError(ctx, "%s: the webhook failed: %s", res.Repo, res.Message)
	case ActionConflict:
		r.LogWarning(ctx, "%s: the webhook conflicts: %s", res.Repo, res.Message)
	default:
		r.LogInfo(ctx, "%s: webhook %s", res.Repo, res.Action)
	}
}

// newHookJob returns the payload of a job that a person asks for.
func newHookJob(op, repo string) Payload {
	return Payload{Subject: work.Subject{Scope: work.ScopeAll, Reason: work.ReasonUI}, Op: op, Repo: repo}
}

// HookSummary is the summary of a job about webhooks.
type HookSummary struct {
	Op       string       `json:"op" enum:"register,unregister,audit_all,sync"`
	Repo     string       `json:"repo,omitempty" doc:"The only repository, where there is one."`
	Total    int          `json:"total"`
	Created  int          `json:"created"`
	Updated  int          `json:"updated"`
	Noop     int          `json:"noop"`
	Removed  int          `json:"removed"`
	Conflict int          `json:"conflict"`
	Error    int          `json:"error"`
	Repos    []SyncResult `json:"repos"`
	Skipped  string       `json:"skippedReason,omitempty" doc:"Why nothing was done."`
}

func summarizeHooks(op string, results []SyncResult) HookSummary {
	out := HookSummary{Op: op, Total: len(results), Repos: append([]SyncResult{}, results...)}
	for _, r := range results {
		switch r.Action {
		case ActionCreated:
			out.Created++
		case ActionUpdated:
			out.Updated++
		case ActionNoop:
			out.Noop++
		case hookRemoved:
			out.Removed++
		case ActionConflict:
			out.Conflict++
		case ActionError:
			out.Error++
		}
	}
	if len(results) == 1 {
		out.Repo = results[0].Repo
	}
	return out
}

// jobResult returns the summary as the result of a job, with an error if every repository failed.
func (h HookSummary) jobResult() (any, error) {
	if h.Total == 0 || h.Error < h.Total {
		return h, nil
	}
	return h, fault.New(fault.Conflict, "%s: %s", h.Repos[0].Repo, h.Repos[0].Message)
}

func (h *syncer) syncEach(ctx context.Context, names []string, op string, r *work.Reporter) (any, error) {
	results, err := h.forEachRepo(ctx, names, r, func(ctx context.Context, name string) (SyncResult, error) {
		return h.syncRepo(ctx, name, op, false, nil)
	})
	if err != nil {
		return nil, err
	}
	return summarizeHooks(op, results).jobResult()
}

// jobRepos are the repositories of a job: the one that it names, or those that were told to wait for it.
func (w *Webhooks) jobRepos(ctx context.Context, job *queue.Job, spec Payload) (out []string, err error) {
	if spec.Repo != "" {
		return []string{spec.Repo}, nil
	}
	rows, err := w.store.reposOfJob(ctx, job.ID)
	if err != nil {
		return nil, fmt.Errorf("read the repositories of a job: %w", err)
	}
	for _, r := range rows {
		out = append(out, r.Name)
	}
	return out, nil
}

// recordHookFailure stores an error that kept a job from all of its repositories, and returns it.
func (w *Webhooks) recordHookFailure(ctx context.Context, names []string, failed error) error {
	var f *fault.Error
	if !errors.As(failed, &f) {
		return failed
	}
	err := w.store.Tx(ctx, "note a failure", func(ctx context.Context) error {
		return w.store.updateRepos(ctx, names, map[string]any{"webhook_state": StateError, "last_error": f.Message, "removing": false})
	})
	return errors.Join(failed, err)
}
