package project

import (
	"context"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// Store holds the queries about projects. It decides nothing.
type Store struct{ *record.Store }

// settledServices are the generations of the services that no change works on.
func (r *Store) settledServices(ctx context.Context) (map[string]int64, error) {
	var rows []struct {
		ID         string
		Generation int64
	}
	err := r.DB(ctx).Raw("SELECT id, generation FROM containers_services WHERE id NOT IN (SELECT service_id FROM containers_changes WHERE status = 'running' AND waits_since = 0)").Scan(&rows).Error
	out := make(map[string]int64, len(rows))
	for _, row := range rows {
		out[row.ID] = row.Generation
	}
	return out, err
}

// rolledBackCandidates returns the changes by which the candidates of services were rolled back, by service. An update
// that was canceled says nothing about its version, and one that succeeded later clears it.
func (r *Store) rolledBackCandidates(ctx context.Context) (map[string]rollbackRecord, error) {
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

// dropCandidate makes a service have no candidate, unless a check has found another one meanwhile.
func (r *Store) dropCandidate(ctx context.Context, svc *record.Service) error {
	return r.Write(ctx, "drop a candidate", func(_ context.Context, w *gorm.DB) error {
		return w.Model(&record.Service{}).Where("id = ? AND candidate_digest = ? AND generation = ?", svc.ID, svc.CandidateDigest,
			svc.Generation).Updates(record.NoCandidate()).Error
	})
}

// ArchiveMissing archives a stack of which every file is gone, unless a person has archived it.
func (r *Store) ArchiveMissing(ctx context.Context, id string, now int64) error {
	return r.Write(ctx, "archive a stack", func(_ context.Context, w *gorm.DB) error {
		return w.Model(&record.Stack{}).Where("id = ? AND archived_at = 0", id).
			Updates(map[string]any{"archived_at": now, "archived_reason": record.ArchivedMissing, "updated_at": now}).Error
	})
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
