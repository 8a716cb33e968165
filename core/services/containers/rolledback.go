package containers

import (
	"cmp"
	"context"
	"slices"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// RolledBack tells how a candidate was applied before and taken back.
type RolledBack struct {
	JobID string   `json:"jobId" doc:"The job that brought the former image back."`
	At    api.Time `json:"at"`
	// Manual reports whether a person asked for the rollback.
	Manual bool   `json:"manual,omitempty" doc:"Somebody rolled the service back; otherwise its update failed."`
	Error  string `json:"error,omitempty" doc:"Why the update failed."`
}

// LeftOut is a service that an update of a stack or of everything does not include, because its candidate was rolled back.
type LeftOut struct {
	ServiceID string `json:"serviceId" example:"svc_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
	StackID   string `json:"stackId" example:"stk_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
	Name      string `json:"name" example:"blog / web"`
	Digest    string `json:"digest"`
	Reason    string `json:"reason" enum:"rolled_back"`
	JobID     string `json:"jobId" doc:"The job that brought the former image back."`
}

// rollbackRecord is the newest change of a service that concerns its candidate.
type rollbackRecord struct {
	ServiceID  string
	JobID      string
	Kind       string
	Status     string
	Error      string
	Digest     string
	FinishedAt int64
}

// rolledBackCandidates returns the changes by which the candidates of services were rolled back, by service. An update
// that was canceled says nothing about its version, and one that succeeded later clears it.
func (r *repository) rolledBackCandidates(ctx context.Context) (map[string]rollbackRecord, error) {
	var rows []rollbackRecord
	err := r.DB(ctx).Raw(`SELECT c.service_id, c.job_id, c.kind, c.status, c.error, s.candidate_digest AS digest, c.finished_at
		FROM containers_services s JOIN containers_changes c ON c.service_id = s.id
		WHERE s.candidate_digest <> ''
		AND (c.kind = ? AND c.to_digest = s.candidate_digest AND (c.status = ? OR c.status = ? AND c.reason <> ?)
			OR c.kind = ? AND c.from_digest = s.candidate_digest AND c.status = ?)
		ORDER BY c.started_at, c.id`, record.ChangeUpdate, record.ChangeSuccess, record.ChangeRolledBack, failure.Canceled, record.ChangeRollback, record.ChangeSuccess).Scan(&rows).Error
	out := map[string]rollbackRecord{}
	for _, row := range rows {
		delete(out, row.ServiceID)
		if row.Kind == record.ChangeRollback || row.Status == record.ChangeRolledBack {
			out[row.ServiceID] = row
		}
	}
	return out, err
}

// rollbackOf returns how the candidate of a service was rolled back, or nil if it was not.
func (inv *inventory) rollbackOf(svc *record.Service) *RolledBack {
	rec, ok := inv.rolledBack[svc.ID]
	if !ok || rec.Digest != svc.CandidateDigest {
		return nil
	}
	return &RolledBack{JobID: rec.JobID, At: api.TimeOfMillis(rec.FinishedAt), Manual: rec.Kind == record.ChangeRollback, Error: rec.Error}
}

// leftOut returns the services that an update does not include only because their candidates were rolled back, by name. An
// update of one service leaves none out.
func (inv *inventory) leftOut(spec *updateJob) (out []LeftOut) {
	if spec.Scope == work.ScopeService {
		return nil
	}
	for _, svc := range inv.services {
		mark := inv.rollbackOf(svc)
		isTarget := slices.ContainsFunc(spec.Targets, func(t Target) bool { return t.ServiceID == svc.ID })
		if mark == nil || isTarget || spec.Scope == work.ScopeStack && svc.StackID != spec.StackID || !inv.isApplicable(svc, spec.AllowArchMismatch) {
			continue
		}
		out = append(out, LeftOut{
			ServiceID: svc.ID, StackID: svc.StackID, Name: inv.stacks[svc.StackID].Project + " / " + svc.Name, Digest: svc.CandidateDigest, Reason: record.ChangeRolledBack, JobID: mark.JobID,
		})
	}
	slices.SortFunc(out, func(a, b LeftOut) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// reportLeftOut writes the services that an update leaves out into the log of its job.
func reportLeftOut(ctx context.Context, r *work.Reporter, list []LeftOut) {
	for _, l := range list {
		r.Warn(ctx, "%s: left out, since %s was rolled back before; update it by itself, or ignore that version", l.Name, record.ShortDigest(l.Digest))
	}
}
