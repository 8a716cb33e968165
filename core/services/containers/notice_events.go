package containers

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/candidate"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/news"
	"github.com/patchbay-dev/patchbay/core/services/containers/notice"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/webhook"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// noticeEvents tells the room of notices what jobs and services are news about.
type noticeEvents struct{ s *Service }

// jobAbout is what decides which notification the end of a job makes, in the payload of whatever type.
type jobAbout struct {
	work.Subject
	Mode string `json:"mode"`
	Op   string `json:"op"`
}

// NotificationKind implements notice.Events.
func (e noticeEvents) NotificationKind(job *queue.Job) string {
	var spec jobAbout
	if job.Decode(&spec) != nil || job.StartedAt.IsZero() {
		return ""
	}
	switch work.PublicType(job.Type) {
	case work.JobUpdate:
		if spec.Mode != change.ModeDryRun {
			return news.JobFinished
		}
	case work.JobCheck:
		if job.State == queue.Success && (spec.Reason == work.ReasonSchedule || spec.Reason == work.ReasonWebhook) {
			return news.NewVersionDiscovered
		}
	case work.JobHook:
		if job.State == queue.Success && spec.Op == webhook.OpAuditAll && spec.Reason == work.ReasonSchedule {
			return news.WebhookAnomaly
		}
	}
	return ""
}

// FinishedUpdate implements notice.Events.
func (e noticeEvents) FinishedUpdate(ctx context.Context, job *queue.Job) (news.JobEvent, error) {
	view := jobView(job)
	out := news.JobEvent{
		ID: job.ID, Type: view.Type, Scope: view.Scope, Status: view.Status, Reason: view.Reason, CreatedBy: view.CreatedBy,
		CreatedAt: job.CreatedAt, StartedAt: job.StartedAt, FinishedAt: job.FinishedAt, StackID: view.StackID, ServiceID: view.ServiceID,
	}
	inv, err := e.s.LoadInventory(ctx)
	if err != nil {
		return out, err
	}
	changes, err := e.s.ChangesOfJob(ctx, job.ID)
	if err != nil {
		return out, fmt.Errorf("read the journal: %w", err)
	}
	var spec change.UpdateJob
	var sum change.UpdateSummary
	_ = job.Decode(&spec)
	_ = json.Unmarshal(job.Result, &sum)
	for _, t := range spec.Targets {
		out.Affected = append(out.Affected, versionChange(inv, t.ServiceID, changes)...)
	}
	for _, st := range sum.Stacks {
		for _, id := range st.Update.ChangedServices {
			out.Changed = append(out.Changed, versionChange(inv, id, changes)...)
		}
		out.Failed = append(out.Failed, versionChange(inv, st.Update.FailedService, changes)...)
		for _, f := range st.Update.AlsoFailed {
			out.Failed = append(out.Failed, versionChange(inv, f.ServiceID, changes)...)
		}
	}
	if why := sum.Deciding(); why != nil {
		out.Excerpt = why.LastError
	}
	if why := view.ResultReason; why != nil {
		out.Canceled = why.failure.Code == failure.Canceled
		out.Failure = why.failure.LocalizedText(e.s.settings().Locale)
		if out.Excerpt = cmp.Or(out.Excerpt, why.Detail); out.Canceled {
			// The text above it says so already, in the reader's language.
			out.Excerpt = ""
		}
	}
	if len(sum.Stacks) == 0 {
		addUnsummarized(inv, &out, spec.Targets, changes)
	}
	return out, nil
}

// addUnsummarized adds what the journal has of a job that ended without a summary, as when the core ended in it again and again.
func addUnsummarized(inv *project.Inventory, out *news.JobEvent, targets []project.Target, changes map[string]record.Change) {
	for _, t := range targets {
		switch c := changes[t.ServiceID]; c.Status {
		case record.ChangeSuccess:
			out.Changed = append(out.Changed, versionChange(inv, t.ServiceID, changes)...)
		case record.ChangeFailed, record.ChangeRolledBack:
			out.Failed, out.Excerpt = append(out.Failed, versionChange(inv, t.ServiceID, changes)...), c.Error
		}
	}
}

// versionChange is a service with the versions between which a job has moved it, or was to; none for a service that is gone.
func versionChange(inv *project.Inventory, id string, changes map[string]record.Change) []news.VersionChange {
	named := appendNamed(inv, nil, id)
	if len(named) == 0 {
		return nil
	}
	svc := inv.Services[id]
	out := news.VersionChange{Service: named[0], CurrentTag: svc.Tag, CandidateTag: svc.Tag}
	c, begun := changes[id]
	if !begun {
		return []news.VersionChange{out}
	}
	from, to := c.FromVersion, c.ToVersion
	for digest, version := range map[string]string{svc.RuntimeDigest: svc.RuntimeVersion, svc.CandidateDigest: svc.CandidateVersion} {
		// The version behind a digest may have been found after the change began.
		if digest != "" && digest == c.FromDigest {
			from = cmp.Or(from, version)
		}
		if digest != "" && digest == c.ToDigest {
			to = cmp.Or(to, version)
		}
	}
	out.CurrentDisplay, out.CandidateDisplay = notice.ReadableVersion(from, svc.Tag), notice.ReadableVersion(to, svc.Tag)
	if out.CurrentDisplay == out.CandidateDisplay {
		// A new build of the same version: that it is the same tells nothing.
		out.CurrentDisplay, out.CandidateDisplay = "", ""
	}
	return []news.VersionChange{out}
}

// appendNamed adds a service to a list.
func appendNamed(inv *project.Inventory, to []news.Service, id string) []news.Service {
	svc := inv.Services[id]
	if svc == nil {
		return to
	}
	out := news.Service{StackID: svc.StackID, ServiceID: svc.ID, ServiceName: svc.Name}
	if st := inv.Stacks[svc.StackID]; st != nil {
		out.StackName = st.Project
	}
	return append(to, out)
}

// WebhookAnomaly implements notice.Events.
func (e noticeEvents) WebhookAnomaly(job *queue.Job) (news.AnomalyEvent, error) {
	var sum webhook.AuditSummary
	if err := json.Unmarshal(job.Result, &sum); err != nil {
		return news.AnomalyEvent{}, fmt.Errorf("read what the audit found: %w", err)
	}
	ev := news.AnomalyEvent{JobID: job.ID, Status: string(job.State), Missing: sum.Missing, Conflict: sum.Conflict, Error: sum.Error}
	for _, r := range sum.Repos {
		ev.Repos = append(ev.Repos, news.AnomalyRepo{FullName: r.Repo, State: r.Status, LastError: r.Error})
	}
	return ev, nil
}

// FoundVersions implements notice.Events.
func (e noticeEvents) FoundVersions(job *queue.Job) (out notice.FoundVersions, err error) {
	var sum candidate.CheckSummary
	if err := json.Unmarshal(job.Result, &sum); err != nil {
		return out, fmt.Errorf("read what the check found: %w", err)
	}
	var spec work.Subject
	_ = job.Decode(&spec)
	out.Reason, out.Scope, out.ServicesChecked = spec.Reason, sum.Scope, sum.ServicesChecked
	for _, v := range sum.NewVersions.Services {
		out.Versions = append(out.Versions, notice.FoundVersion{ServiceID: v.ServiceID, CurrentDigest: v.CurrentDigest,
			CandidateTag: v.CandidateTag, CandidateDigest: v.CandidateDigest})
	}
	return out, nil
}

// AwaitVersions implements notice.Services.
func (e noticeEvents) AwaitVersions(ctx context.Context, digests []string, most time.Duration) {
	e.s.AwaitVersions(ctx, digests, most)
}

// CurrentVersions implements notice.Services.
func (e noticeEvents) CurrentVersions(ctx context.Context, found []notice.FoundVersion) (out []notice.CurrentVersion, err error) {
	inv, err := e.s.LoadInventory(ctx)
	if err != nil {
		return nil, err
	}
	for _, v := range found {
		svc := inv.Services[v.ServiceID]
		if svc == nil || svc.CandidateDigest != v.CandidateDigest || inv.IsArchived(svc) || inv.IgnoringRule(svc) != nil {
			continue
		}
		out = append(out, notice.CurrentVersion{Service: *svc, Named: appendNamed(inv, nil, svc.ID)[0]})
	}
	return out, nil
}

// SomeServices implements notice.Services: the first by their ids that are not archived.
func (e noticeEvents) SomeServices(ctx context.Context, limit int) (out []news.Service, err error) {
	inv, err := e.s.LoadInventory(ctx)
	if err != nil {
		return nil, err
	}
	var ids []string
	for id, svc := range inv.Services {
		if !inv.IsArchived(svc) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids[:min(len(ids), limit)] {
		out = appendNamed(inv, out, id)
	}
	return out, nil
}
