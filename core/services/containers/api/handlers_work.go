package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/containers"
	"github.com/patchbay-dev/patchbay/core/services/containers/backup"
	"github.com/patchbay-dev/patchbay/core/services/containers/candidate"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
)

// workHandlers answers requests about checks, updates and jobs.
type workHandlers struct{ s workService }

func (h *workHandlers) postDiscovery(ctx context.Context, _ *struct{}) (*api.Out[JobID], error) {
	return answerJob(h.s.Discover(ctx))
}

// ProjectList is a list of projects.
type ProjectList struct {
	Projects []project.Project `json:"projects"`
}

func (h *workHandlers) listProjects(ctx context.Context, in *archivedQuery) (*api.Out[ProjectList], error) {
	list, err := h.s.ListProjects(ctx, in.Archived)
	return api.AnswerWith(ProjectList{list}, err)
}

func (h *workHandlers) archiveProject(ctx context.Context, in *ProjectPath) (*api.OKAnswer, error) {
	return api.Done(h.s.ArchiveProject(ctx, in.Project, true))
}

func (h *workHandlers) restoreProject(ctx context.Context, in *ProjectPath) (*api.OKAnswer, error) {
	return api.Done(h.s.ArchiveProject(ctx, in.Project, false))
}

// AcceptMoveInput names a project and the files that its stack is to have.
type AcceptMoveInput struct {
	ProjectPath
	Body struct {
		WorkingDir  string   `json:"workingDir" minLength:"1" maxLength:"4096" doc:"As move of the project shows it." example:"/srv/blog"`
		ConfigFiles []string `json:"configFiles" minItems:"1" maxItems:"100" doc:"As move of the project shows them." example:"[\"/srv/blog/compose.yaml\"]"`
	}
}

func (h *workHandlers) acceptMove(ctx context.Context, in *AcceptMoveInput) (*api.Out[JobID], error) {
	return answerJob(h.s.AcceptMove(ctx, in.Project, in.Body.WorkingDir, in.Body.ConfigFiles))
}

// ScanBody asks for a check or a scan.
type ScanBody struct {
	Scope     string `json:"scope" enum:"all,stack,service"`
	StackID   string `json:"stackId" required:"false" maxLength:"64" doc:"With scope=stack."`
	ServiceID string `json:"serviceId" required:"false" maxLength:"64" doc:"With scope=service."`
	Reason    string `json:"reason" required:"false" enum:"ui,webhook,schedule" doc:"Why; ui if it is left out."`
}

func (b ScanBody) toRequest() project.ScanRequest {
	return project.ScanRequest(b)
}

type scanInput struct{ Body ScanBody }

// CheckID names the check that was made, which is a job.
type CheckID struct {
	CheckID string `json:"checkId" example:"job_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
	JobID   string `json:"jobId" doc:"The same." example:"job_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
}

func (h *workHandlers) postCheck(ctx context.Context, in *scanInput) (*api.Out[CheckID], error) {
	id, err := h.s.Check(ctx, in.Body.toRequest())
	return api.AnswerWith(CheckID{id, id}, err)
}

func (h *workHandlers) postRuntimeScan(ctx context.Context, in *scanInput) (*api.Out[JobID], error) {
	return answerJob(h.s.RuntimeScan(ctx, in.Body.toRequest()))
}

// UpdateBody asks for an update.
type UpdateBody struct {
	Scope             string       `json:"scope" enum:"all,stack,service"`
	StackID           string       `json:"stackId" required:"false" maxLength:"64" doc:"With scope=stack."`
	ServiceID         string       `json:"serviceId" required:"false" maxLength:"64" doc:"With scope=service."`
	TargetTag         string       `json:"targetTag" required:"false" maxLength:"200" doc:"With scope=service: the tag that the project names."`
	TargetDigest      string       `json:"targetDigest" required:"false" maxLength:"100" doc:"With scope=service: the digest of the candidate."`
	PullTags          *[]string    `json:"pullTags" required:"false" maxItems:"21" doc:"With scope=service: further tags to pull; may be empty."`
	Targets           []TargetBody `json:"targets" required:"false" maxItems:"2000" doc:"With scope=stack and scope=all."`
	Mode              string       `json:"mode" required:"false" enum:"apply,dry-run" doc:"apply if it is left out."`
	AllowArchMismatch bool         `json:"allowArchMismatch" required:"false" doc:"Take along what is not made for this host."`
	AllowDrift        bool         `json:"allowDrift" required:"false" doc:"Take along differences between what runs and what the project's files say. Without it they refuse the update with the reason drift. A variable that would lose its value refuses it in any case, with the reason unresolved_variables."`
	BackupMode        string       `json:"backupMode" required:"false" enum:"inherit,skip,force" doc:"Whether mounts are backed up before; inherit, if it is left out, leaves that to the settings."`
	Reason            string       `json:"reason" required:"false" enum:"ui,manual,webhook,schedule"`
}

// TargetBody is a target as it is asked for.
type TargetBody struct {
	ServiceID    string    `json:"serviceId" required:"false" maxLength:"64"`
	TargetTag    string    `json:"targetTag" required:"false" maxLength:"200"`
	TargetDigest string    `json:"targetDigest" required:"false" maxLength:"100"`
	PullTags     *[]string `json:"pullTags" required:"false" maxItems:"21"`
}

func (b UpdateBody) toRequest() change.UpdateRequest {
	out := change.UpdateRequest{
		Scope: b.Scope, StackID: strings.TrimSpace(b.StackID), ServiceID: strings.TrimSpace(b.ServiceID),
		TargetTag:    strings.TrimSpace(b.TargetTag),
		TargetDigest: strings.TrimSpace(b.TargetDigest), PullTags: b.PullTags, Mode: b.Mode, AllowArchMismatch: b.AllowArchMismatch,
		AllowDrift: b.AllowDrift, BackupMode: b.BackupMode, Reason: b.Reason,
	}
	for _, t := range b.Targets {
		target := project.Target{ServiceID: t.ServiceID, TargetTag: t.TargetTag, TargetDigest: t.TargetDigest}
		if t.PullTags != nil {
			target.PullTags = append([]string{}, *t.PullTags...)
		}
		out.Targets = append(out.Targets, target)
	}
	return out
}

func (h *workHandlers) postUpdate(ctx context.Context, in *struct{ Body UpdateBody }) (*api.Out[JobID], error) {
	return answerJob(h.s.Update(ctx, in.Body.toRequest()))
}

func (h *workHandlers) getRollbackTarget(ctx context.Context, in *ServicePath) (*api.Out[change.RollbackTarget], error) {
	return api.AnswerWith(h.s.RollbackTarget(ctx, in.ID))
}

// RollbackBody may accompany a rollback.
type RollbackBody struct {
	AllowDrift bool `json:"allowDrift" required:"false" doc:"As in an update." example:"false"`
}

func (h *workHandlers) postRollback(ctx context.Context, in *struct {
	ServicePath
	Body *RollbackBody
}) (*api.Out[JobID], error) {
	return answerJob(h.s.Rollback(ctx, in.ID, in.Body != nil && in.Body.AllowDrift))
}

// BackupList is a list of backups.
type BackupList struct {
	Backups []backup.Backup `json:"backups"`
}

func (h *workHandlers) listBackups(ctx context.Context, in *ServicePath) (*api.Out[BackupList], error) {
	list, err := h.s.ListBackups(ctx, in.ID)
	return api.AnswerWith(BackupList{list}, err)
}

func (h *workHandlers) postRestore(ctx context.Context, in *struct {
	ID string `path:"backup_id" maxLength:"64" example:"bkp_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
}) (*api.Out[JobID], error) {
	return answerJob(h.s.Restore(ctx, in.ID))
}

// JobList is a page of jobs, the newest first.
type JobList struct {
	Jobs       []containers.Job `json:"jobs"`
	NextCursor string           `json:"nextCursor,omitempty" doc:"The cursor of the next page; left out on the last."`
}

type jobQuery struct {
	Cursor    string `query:"cursor" doc:"nextCursor of the page before."`
	Limit     int    `query:"limit" minimum:"1" maximum:"200" default:"100"`
	Type      string `query:"type" maxLength:"500" doc:"Types, separated by commas." example:"check,update"`
	Status    string `query:"status" maxLength:"200" doc:"States, separated by commas." example:"queued,running"`
	StackID   string `query:"stackId" maxLength:"64"`
	ServiceID string `query:"serviceId" maxLength:"64"`
}

func splitCommas(text string) (out []string) {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

func (h *workHandlers) listJobs(ctx context.Context, in *jobQuery) (*api.Out[JobList], error) {
	list, next, err := h.s.ListJobs(ctx, containers.JobFilter{
		Types: splitCommas(in.Type), Status: splitCommas(in.Status), StackID: in.StackID, ServiceID: in.ServiceID, Limit: in.Limit,
		Cursor: in.Cursor,
	})
	return api.AnswerWith(JobList{list, next}, err)
}

// JobPath names a job.
type JobPath struct {
	ID string `path:"job_id" maxLength:"64" example:"job_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
}

// JobBody is one job.
type JobBody struct {
	Job containers.JobDetail `json:"job"`
}

func (h *workHandlers) getJob(ctx context.Context, in *JobPath) (*api.Out[JobBody], error) {
	j, err := h.s.JobDetail(ctx, in.ID)
	return api.AnswerWith(JobBody{j}, err)
}

// CanceledJob is a job that was asked to stop.
type CanceledJob struct {
	Job containers.Job `json:"job"`
}

func (h *workHandlers) cancelJob(ctx context.Context, in *JobPath) (*api.Out[CanceledJob], error) {
	j, err := h.s.CancelJob(ctx, in.ID)
	return api.AnswerWith(CanceledJob{j}, err)
}

// DigestTagsBody is a snapshot, or that it is being made.
type DigestTagsBody struct {
	Status       string              `json:"status" enum:"ready,pending"`
	Digest       string              `json:"digest"`
	RetryAfterMS int                 `json:"retryAfterMs,omitempty" doc:"When to ask again, while it is pending."`
	Snapshot     *candidate.Snapshot `json:"snapshot,omitempty"`
}

type digestTagsAnswer struct {
	Status int
	Body   DigestTagsBody
}

func (h *workHandlers) getDigestTags(ctx context.Context, in *struct {
	ServicePath
	Digest string `query:"digest" maxLength:"100" doc:"The digest that runs, or that of the candidate; the first if it is left out."`
}) (*digestTagsAnswer, error) {
	digest, snap, err := h.s.DigestTags(ctx, in.ID, in.Digest)
	if err != nil {
		return nil, err
	}
	if snap == nil {
		return &digestTagsAnswer{http.StatusAccepted, DigestTagsBody{Status: "pending", Digest: digest, RetryAfterMS: 800}}, nil
	}
	return &digestTagsAnswer{http.StatusOK, DigestTagsBody{Status: "ready", Digest: digest, Snapshot: snap}}, nil
}

// RefreshBody asks for a digest.
type RefreshBody struct {
	Digest string `json:"digest" maxLength:"100" example:"sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"`
}

// RefreshAnswer tells that a digest is looked at.
type RefreshAnswer struct {
	Status    string `json:"status" enum:"pending"`
	ServiceID string `json:"serviceId"`
	ImageRepo string `json:"imageRepo"`
	Digest    string `json:"digest"`
	Reason    string `json:"reason" enum:"force,running"`
}

func (h *workHandlers) refreshInference(ctx context.Context, in *struct {
	ServicePath
	Body RefreshBody
}) (*api.Out[RefreshAnswer], error) {
	ref, why, err := h.s.RefreshInference(ctx, in.ID, in.Body.Digest)
	return api.AnswerWith(RefreshAnswer{"pending", in.ID, ref.Repo(), in.Body.Digest, why}, err)
}

func (h *workHandlers) getInference(ctx context.Context, in *struct {
	Query   string `query:"q" maxLength:"200" doc:"Looked for in repositories, digests and versions."`
	Status  string `query:"status" enum:"missing,queued,running,ready,stale,all_failed"`
	Page    int    `query:"page" minimum:"1" maximum:"100000" default:"1"`
	PerPage int    `query:"perPage" minimum:"1" maximum:"200" default:"50"`
}) (*api.Out[candidate.InferenceOverview], error) {
	return api.AnswerWith(h.s.InferenceOverview(ctx,
		candidate.InferenceQuery{Query: in.Query, Status: in.Status, Page: in.Page, PerPage: in.PerPage}))
}
