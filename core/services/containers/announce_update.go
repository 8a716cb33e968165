package containers

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/news"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// updateEvent is what the notification about the end of an update tells.
func (s *Service) updateEvent(ctx context.Context, job *queue.Job) (news.JobEvent, error) {
	view := jobView(job)
	out := news.JobEvent{
		ID: job.ID, Type: view.Type, Scope: view.Scope, Status: view.Status, Reason: view.Reason, CreatedBy: view.CreatedBy,
		CreatedAt: job.CreatedAt, StartedAt: job.StartedAt, FinishedAt: job.FinishedAt, StackID: view.StackID, ServiceID: view.ServiceID,
	}
	inv, err := s.loadInventory(ctx)
	if err != nil {
		return out, err
	}
	changes, err := s.repo.changesOfJob(ctx, job.ID)
	if err != nil {
		return out, fmt.Errorf("read the journal: %w", err)
	}
	var spec updateJob
	var sum UpdateSummary
	_ = job.Decode(&spec)
	_ = json.Unmarshal(job.Result, &sum)
	for _, t := range spec.Targets {
		out.Affected = append(out.Affected, inv.versionChange(t.ServiceID, changes)...)
	}
	for _, st := range sum.Stacks {
		for _, id := range st.Update.ChangedServices {
			out.Changed = append(out.Changed, inv.versionChange(id, changes)...)
		}
		out.Failed = append(out.Failed, inv.versionChange(st.Update.FailedService, changes)...)
		for _, f := range st.Update.AlsoFailed {
			out.Failed = append(out.Failed, inv.versionChange(f.ServiceID, changes)...)
		}
	}
	if why := sum.Deciding(); why != nil {
		out.Excerpt = why.LastError
	}
	if why := view.ResultReason; why != nil {
		out.Canceled = why.failure.code == failedCanceled
		out.Failure = why.failure.inWords(s.settings().Locale)
		if out.Excerpt = cmp.Or(out.Excerpt, why.Detail); out.Canceled {
			// The text above it says so already, in the reader's language.
			out.Excerpt = ""
		}
	}
	if len(sum.Stacks) == 0 {
		inv.addUnsummarized(&out, spec.Targets, changes)
	}
	return out, nil
}

// addUnsummarized adds what the journal has of a job that ended without a summary, as when the core ended in it again and again.
func (inv *inventory) addUnsummarized(out *news.JobEvent, targets []Target, changes map[string]record.Change) {
	for _, t := range targets {
		switch c := changes[t.ServiceID]; c.Status {
		case record.ChangeSuccess:
			out.Changed = append(out.Changed, inv.versionChange(t.ServiceID, changes)...)
		case record.ChangeFailed, record.ChangeRolledBack:
			out.Failed, out.Excerpt = append(out.Failed, inv.versionChange(t.ServiceID, changes)...), c.Error
		}
	}
}

// versionChange is a service with the versions between which a job has moved it, or was to; none for a service that is gone.
func (inv *inventory) versionChange(id string, changes map[string]record.Change) []news.VersionChange {
	named := inv.appendNamed(nil, id)
	if len(named) == 0 {
		return nil
	}
	svc := inv.services[id]
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
	out.CurrentDisplay, out.CandidateDisplay = readableVersion(from, svc.Tag), readableVersion(to, svc.Tag)
	if out.CurrentDisplay == out.CandidateDisplay {
		// A new build of the same version: that it is the same tells nothing.
		out.CurrentDisplay, out.CandidateDisplay = "", ""
	}
	return []news.VersionChange{out}
}

// appendNamed adds a service to a list.
func (inv *inventory) appendNamed(to []news.Service, id string) []news.Service {
	svc := inv.services[id]
	if svc == nil {
		return to
	}
	out := news.Service{StackID: svc.StackID, ServiceID: svc.ID, ServiceName: svc.Name}
	if st := inv.stacks[svc.StackID]; st != nil {
		out.StackName = st.Project
	}
	return append(to, out)
}
