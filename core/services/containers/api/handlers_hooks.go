package api

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/containers/webhook"
)

// hookHandlers answers requests about package webhooks.
type hookHandlers struct {
	hooks hooks
	inbox deliveries
}

func (h *hookHandlers) getHookSettings(ctx context.Context, _ *struct{}) (*api.Out[webhook.HookSettings], error) {
	return api.AnswerWith(h.hooks.HookSettings(ctx))
}

func (h *hookHandlers) putHookSettings(ctx context.Context, in *struct{ Body webhook.HookChange }) (*api.OKAnswer, error) {
	return api.Done(h.hooks.ChangeHookSettings(ctx, in.Body))
}

func (h *hookHandlers) listRepos(ctx context.Context, in *struct {
	Page     int    `query:"page" minimum:"1" maximum:"100000" default:"1"`
	PerPage  int    `query:"perPage" minimum:"1" maximum:"200" default:"50"`
	Query    string `query:"q" maxLength:"200" doc:"Looked for in names."`
	Selected string `query:"selectedFilter" enum:"all,selected,unselected" default:"all"`
}) (*api.Out[webhook.RepoPage], error) {
	return api.AnswerWith(h.hooks.TrackedRepos(ctx, webhook.RepoFilter{Query: in.Query, Selected: in.Selected}, in.Page, in.PerPage))
}

// HookJob is the answer of an endpoint that may make a job.
type HookJob struct {
	OK    bool   `json:"ok" example:"true"`
	JobID string `json:"jobId,omitempty" doc:"Left out if there is nothing to do." example:"job_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
}

func (h *hookHandlers) postRepoSelected(ctx context.Context, in *struct{ Body webhook.RepoSelected }) (*api.Out[HookJob], error) {
	id, err := h.hooks.SelectRepo(ctx, in.Body.FullName, in.Body.Selected)
	return api.AnswerWith(HookJob{true, id}, err)
}

// RepoNamed names a repository.
type RepoNamed struct {
	FullName string `json:"fullName" maxLength:"300" example:"ann/blog"`
}

func (h *hookHandlers) postRepoDelete(ctx context.Context, in *struct{ Body RepoNamed }) (*api.Out[HookJob], error) {
	id, err := h.hooks.DeleteRepo(ctx, in.Body.FullName)
	return api.AnswerWith(HookJob{true, id}, err)
}

// BulkSelection selects the repositories that fit a filter, or not.
type BulkSelection struct {
	Query    string `json:"q" required:"false" maxLength:"200" doc:"Looked for in names."`
	Filter   string `json:"selectedFilter" required:"false" enum:"all,selected,unselected"`
	Selected bool   `json:"selected" doc:"What they are to be."`
	DryRun   bool   `json:"dryRun" required:"false" doc:"Only tell how many would change, which is how many webhooks would be made or deleted."`

	// A misspelt filter would select everything.
	_ struct{} `additionalProperties:"false"`
}

// Affected tells how many were changed.
type Affected struct {
	OK       bool `json:"ok" example:"true"`
	Affected int  `json:"affected"`
}

func (h *hookHandlers) postBulkSelected(ctx context.Context, in *struct{ Body BulkSelection }) (*api.Out[Affected], error) {
	n, err := h.hooks.BulkSelect(ctx, webhook.RepoFilter{Query: in.Body.Query, Selected: in.Body.Filter}, in.Body.Selected,
		in.Body.DryRun)
	return api.AnswerWith(Affected{true, n}, err)
}

// TargetAdded is a target that repositories are tracked by from now on.
type TargetAdded struct {
	OK         bool     `json:"ok" example:"true"`
	Kind       string   `json:"kind" enum:"repo,owner"`
	Owner      string   `json:"owner" example:"ann"`
	ReposAdded int      `json:"reposAdded"`
	Warnings   []string `json:"warnings"`
}

func (h *hookHandlers) postTarget(ctx context.Context, in *struct{ Body webhook.HookInput }) (*api.Out[TargetAdded], error) {
	t, n, err := h.hooks.AddTarget(ctx, in.Body.Input)
	return api.AnswerWith(TargetAdded{true, t.Kind, t.Owner, n, t.Warnings}, err)
}

func (h *hookHandlers) postTargetRemove(ctx context.Context, in *struct{ Body webhook.HookInput }) (*api.OKAnswer, error) {
	return api.Done(h.hooks.RemoveTarget(ctx, in.Body.Input))
}

func (h *hookHandlers) postResolve(ctx context.Context,
	in *struct{ Body webhook.HookInput }) (*api.Out[webhook.RepoCandidates], error) {
	return api.AnswerWith(h.hooks.ResolveInput(ctx, in.Body.Input))
}

func (h *hookHandlers) getHookOverview(ctx context.Context, _ *struct{}) (*api.Out[webhook.HookOverview], error) {
	return api.AnswerWith(h.hooks.HookOverview(ctx))
}

func (h *hookHandlers) listDeliveries(ctx context.Context, in *struct {
	Page     int    `query:"page" minimum:"1" maximum:"100000" default:"1"`
	PerPage  int    `query:"perPage" minimum:"1" maximum:"200" default:"50"`
	Decision string `query:"decision" enum:"processed,ignored,rejected"`
	Query    string `query:"q" maxLength:"200" doc:"Looked for in ids, repositories, owners and reasons."`
}) (*api.Out[webhook.DeliveryPage], error) {
	return api.AnswerWith(h.inbox.Deliveries(ctx, webhook.DeliveryFilter{Decision: in.Decision, Query: in.Query}, in.Page, in.PerPage))
}

func (h *hookHandlers) postSyncAll(ctx context.Context, _ *struct{}) (*api.Out[webhook.SyncJob], error) {
	return api.AnswerWith(h.hooks.SyncAllHooks(ctx))
}

func (h *hookHandlers) postSyncRepo(ctx context.Context, in *struct{ Body RepoNamed }) (*api.Out[webhook.SyncJob], error) {
	return api.AnswerWith(h.hooks.SyncRepoHook(ctx, in.Body.FullName))
}

// SyncBody asks for a synchronisation that the caller waits for.
type SyncBody struct {
	DryRun    bool                     `json:"dryRun" required:"false" doc:"Only tell what would be done."`
	Repos     []string                 `json:"repos" required:"false" maxItems:"2000" doc:"Selected repositories; all of them if it is left out." example:"[\"ann/blog\"]"`
	Conflicts []webhook.ConflictChoice `json:"resolveConflicts" required:"false" maxItems:"200" doc:"Which of several webhooks with the callback URL stays."`
}

// SyncResults is what was done with the webhooks.
type SyncResults struct {
	OK      bool                 `json:"ok" example:"true"`
	Results []webhook.SyncResult `json:"results"`
}

func (h *hookHandlers) postSync(ctx context.Context, in *struct {
	Body *SyncBody `required:"false"`
}) (*api.Out[SyncResults], error) {
	req := webhook.SyncRequest{}
	if in.Body != nil {
		req = webhook.SyncRequest{DryRun: in.Body.DryRun, Repos: in.Body.Repos, Conflicts: in.Body.Conflicts}
	}
	res, err := h.hooks.SyncHooks(ctx, req)
	return api.AnswerWith(SyncResults{true, append([]webhook.SyncResult{}, res...)}, err)
}
