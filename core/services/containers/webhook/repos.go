package webhook

import (
	"context"
	"fmt"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// openHookJobs are the jobs about webhooks that have not ended, with their states.
func (w *Webhooks) openHookJobs(ctx context.Context) (map[string]string, error) {
	out, cursor := map[string]string{}, ""
	for {
		jobs, next, err := w.queue.List(ctx, queue.Filter{Types: work.QualifiedTypes(hookJobTypes()),
			States: []queue.State{queue.Queued, queue.Running}}, cursor, 200)
		if err != nil {
			return nil, fmt.Errorf("read the jobs about webhooks: %w", err)
		}
		for _, j := range jobs {
			out[j.ID] = string(j.State)
		}
		if cursor = next; next == "" {
			return out, nil
		}
	}
}

// RepoPage is a page of tracked repositories.
type RepoPage struct {
	Page     int           `json:"page"`
	PerPage  int           `json:"perPage"`
	Total    int64         `json:"total" doc:"All tracked repositories."`
	Filtered int64         `json:"filteredTotal" doc:"Those that fit the filter."`
	Selected int64         `json:"selectedTotal"`
	Repos    []TrackedRepo `json:"repos"`
}

// TrackedRepos reads a page of tracked repositories, by name. Pages count from 1.
func (w *Webhooks) TrackedRepos(ctx context.Context, f RepoFilter, page, perPage int) (RepoPage, error) {
	out := RepoPage{Page: page, PerPage: perPage, Repos: []TrackedRepo{}}
	var err error
	if out.Total, out.Selected, err = w.store.countRepos(ctx); err != nil {
		return out, fmt.Errorf("count the repositories: %w", err)
	}
	rows, filtered, err := w.store.pageRepos(ctx, f, (page-1)*perPage, perPage)
	if err != nil {
		return out, fmt.Errorf("read the repositories: %w", err)
	}
	open, err := w.openHookJobs(ctx)
	if err != nil {
		return out, err
	}
	out.Filtered = filtered
	for i := range rows {
		rows[i].settleState(open)
		out.Repos = append(out.Repos, rows[i].toTrackedRepo())
	}
	return out, nil
}

const notTracked = "The repository %s is not tracked."

// SelectRepo says whether a repository's webhook is kept. While the integration is on, a job brings the code host in line;
// its id is empty if nothing changes.
func (w *Webhooks) SelectRepo(ctx context.Context, full string, selected bool) (jobID string, err error) {
	name, err := repoName(full)
	if err != nil {
		return "", err
	}
	stored, err := w.storedHooks(ctx)
	if err != nil {
		return "", err
	}
	err = w.store.change(ctx, "select a repository", func(ctx context.Context) error {
		row, err := w.store.trackedRepo(ctx, name)
		if err != nil {
			return fmt.Errorf("read a repository: %w", err)
		}
		if row == nil {
			return record.InvalidField("fullName", notTracked, name)
		}
		jobID, err = w.changeSelected(ctx, []repoRecord{*row}, selected, stored.Enabled)
		return err
	})
	return jobID, err
}

// BulkSelect says so for all repositories that fit a filter, and returns how many it changed. With
// dryRun it only tells how many would change, which is how many webhooks would be made or deleted.
func (w *Webhooks) BulkSelect(ctx context.Context, f RepoFilter, selected, dryRun bool) (affected int, err error) {
	stored, err := w.storedHooks(ctx)
	if err != nil {
		return 0, err
	}
	err = w.store.change(ctx, "select repositories", func(ctx context.Context) error {
		rows, err := w.store.unlikeRepos(ctx, f, selected)
		if err != nil {
			return fmt.Errorf("read the repositories: %w", err)
		}
		affected = len(rows)
		if dryRun {
			return nil
		}
		_, err = w.changeSelected(ctx, rows, selected, stored.Enabled)
		return err
	})
	return affected, err
}

// applySelections brings repositories to what a list says; those that are not tracked yet are from then on.
func (w *Webhooks) applySelections(ctx context.Context, list []selection, enabled bool) error {
	if len(list) == 0 {
		return nil
	}
	rows, err := w.store.trackedRepos(ctx)
	if err != nil {
		return fmt.Errorf("read the repositories: %w", err)
	}
	known := map[string]repoRecord{}
	for _, r := range rows {
		known[r.Name] = r
	}
	var fresh []repoRecord
	byChoice := map[bool][]repoRecord{}
	for _, sel := range list {
		row, ok := known[sel.name]
		if !ok {
			row = repoRecord{Name: sel.name, FullName: sel.full, WebhookState: StateUnknown, CreatedAt: w.now()}
			fresh = append(fresh, row)
		}
		byChoice[sel.selected] = append(byChoice[sel.selected], row)
	}
	if err := w.store.addRepos(ctx, fresh); err != nil {
		return fmt.Errorf("track repositories: %w", err)
	}
	for _, choice := range []bool{false, true} {
		if _, err := w.changeSelected(ctx, byChoice[choice], choice, enabled); err != nil {
			return err
		}
	}
	return nil
}

// changeSelected selects repositories or not, and makes one job for those that it changes if the integration is on.
func (w *Webhooks) changeSelected(ctx context.Context, rows []repoRecord, selected, enabled bool) (jobID string, err error) {
	var names []string
	for _, r := range rows {
		if r.Selected != selected || r.Removing && selected {
			names = append(names, r.Name)
		}
	}
	if len(names) == 0 {
		return "", nil
	}
	columns := map[string]any{"selected": selected}
	if selected {
		columns["removing"] = false
	}
	if err := w.store.updateRepos(ctx, names, columns); err != nil {
		return "", fmt.Errorf("select repositories: %w", err)
	}
	if !enabled {
		return "", nil
	}
	op := hookUnregister
	if selected {
		op = OpRegister
	}
	return w.submitHook(ctx, op, names)
}

func unregisterLock(name string) string { return "containers/unregister/" + name }

// submitHook makes the job that does something with the webhooks of repositories, and has the repositories wait for it.
func (w *Webhooks) submitHook(ctx context.Context, op string, names []string) (jobID string, err error) {
	sub, payload := work.Submission{Kind: work.JobHook}, newHookJob(op, "")
	if len(names) == 1 {
		payload.Repo, sub.Key = names[0], op+"/"+names[0]
		if op == hookUnregister {
			sub.Locks = []string{unregisterLock(names[0])}
		}
	}
	sub.Payload = payload
	job, _, err := w.queue.SubmitJob(ctx, sub)
	if err != nil {
		return "", err
	}
	err = w.store.updateRepos(ctx, names, map[string]any{"job_id": job.ID, "webhook_state": StateQueued, "last_op": op, "last_error": ""})
	if err != nil {
		return "", fmt.Errorf("note the job of repositories: %w", err)
	}
	return job.ID, nil
}

// DeleteRepo ends the tracking of a repository: a job takes its webhook away, and then forgets it.
func (w *Webhooks) DeleteRepo(ctx context.Context, full string) (jobID string, err error) {
	name, err := repoName(full)
	if err != nil {
		return "", err
	}
	err = w.store.change(ctx, "delete a repository", func(ctx context.Context) error {
		row, err := w.store.trackedRepo(ctx, name)
		if err != nil {
			return fmt.Errorf("read a repository: %w", err)
		}
		if row == nil {
			return record.InvalidField("fullName", notTracked, name)
		}
		if err := w.store.updateRepos(ctx, []string{name}, map[string]any{"selected": false, "removing": true}); err != nil {
			return fmt.Errorf("mark a repository: %w", err)
		}
		jobID, err = w.submitHook(ctx, hookUnregister, []string{name})
		return err
	})
	return jobID, err
}

// HookOverview sums the webhooks up.
type HookOverview struct {
	Summary      HookCounts `json:"summary"`
	JobsQueued   int        `json:"jobsQueued"`
	JobsRunning  int        `json:"jobsRunning"`
	RunningJobID string     `json:"runningJobId,omitempty"`
	LastAuditAt  api.Time   `json:"lastAuditAt,omitempty,omitzero"`
}

// HookCounts are the tracked repositories by the states of their webhooks.
type HookCounts struct {
	Tracked  int `json:"tracked"`
	OK       int `json:"ok"`
	Missing  int `json:"missing"`
	Error    int `json:"error"`
	Conflict int `json:"conflict"`
	Queued   int `json:"queued"`
	Running  int `json:"running"`
	Unknown  int `json:"unknown"`
}

func (c *HookCounts) countState(state string) {
	field := map[string]*int{StateOK: &c.OK, StateMissing: &c.Missing, StateError: &c.Error, StateConflict: &c.Conflict,
		StateQueued: &c.Queued, hookRunning: &c.Running}[state]
	if field == nil {
		field = &c.Unknown
	}
	*field++
	c.Tracked++
}

// HookOverview counts the webhooks by their states.
func (w *Webhooks) HookOverview(ctx context.Context) (out HookOverview, err error) {
	rows, err := w.store.trackedRepos(ctx)
	if err != nil {
		return out, fmt.Errorf("read the repositories: %w", err)
	}
	open, err := w.openHookJobs(ctx)
	if err != nil {
		return out, err
	}
	for id, state := range open {
		if state == string(queue.Queued) {
			out.JobsQueued++
			continue
		}
		out.JobsRunning++
		out.RunningJobID = max(out.RunningJobID, id)
	}
	var audit int64
	for i := range rows {
		rows[i].settleState(open)
		audit = max(audit, rows[i].LastAuditAt)
		out.Summary.countState(rows[i].WebhookState)
	}
	out.LastAuditAt = api.TimeOfMillis(audit)
	return out, nil
}
