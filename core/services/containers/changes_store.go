package containers

import (
	"context"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// beginChange writes a new record, or returns the one that the same job has for the service already.
func (r *repository) beginChange(ctx context.Context, rec *changeRecord) (*changeRecord, error) {
	err := r.write(ctx, "begin a change", func(ctx context.Context, w *gorm.DB) error {
		if err := w.Clauses(clause.OnConflict{DoNothing: true}).Create(rec).Error; err != nil {
			return err
		}
		var kept changeRecord
		if err := w.Where("job_id = ? AND service_id = ?", rec.JobID, rec.ServiceID).Take(&kept).Error; err != nil {
			return err
		}
		rec = &kept
		return nil
	})
	return rec, err
}

func (r *repository) saveChange(ctx context.Context, rec *changeRecord) error {
	return r.write(ctx, "write the journal", func(_ context.Context, w *gorm.DB) error { return w.Save(rec).Error })
}

// finishChange ends a change. A success makes what was the candidate run: the candidate goes, unless a check has found a
// newer one meanwhile.
func (r *repository) finishChange(ctx context.Context, rec *changeRecord, serviceID string, now int64) error {
	return r.write(ctx, "end a change", func(ctx context.Context, w *gorm.DB) error {
		if err := w.Save(rec).Error; err != nil {
			return err
		}
		columns := map[string]any{"generation": gorm.Expr("generation + 1"), "updated_at": now}
		if err := w.Model(&serviceRecord{}).Where("id = ?", serviceID).Updates(columns).Error; err != nil {
			return err
		}
		if rec.Status != changeSuccess {
			return nil
		}
		return w.Model(&serviceRecord{}).Where("id = ? AND candidate_digest = ?", serviceID, rec.ToDigest).Updates(noCandidate()).Error
	})
}

// dropCandidate makes a service have no candidate, unless a check has found another one meanwhile.
func (r *repository) dropCandidate(ctx context.Context, svc *serviceRecord) error {
	return r.write(ctx, "drop a candidate", func(_ context.Context, w *gorm.DB) error {
		return w.Model(&serviceRecord{}).Where("id = ? AND candidate_digest = ? AND generation = ?", svc.ID, svc.CandidateDigest, svc.Generation).Updates(noCandidate()).Error
	})
}

// noCandidate are the columns of a service without one.
func noCandidate() map[string]any {
	return map[string]any{"candidate_digest": "", "candidate_tag": "", "candidate_match": "", "candidate_arch": "null", "candidate_version": "", "candidate_since": 0}
}

func (r *repository) changeByID(ctx context.Context, id string) (changeRecord, error) {
	return takeOne[changeRecord](r.DB(ctx).Where("id = ?", id), "There is no such change.")
}

// lastChange is the newest change of a service that is in force; nil without one. A change that failed is in force where
// its image runs all the same, since nothing has brought the former one back.
func (r *repository) lastChange(ctx context.Context, svc *serviceRecord) (*changeRecord, error) {
	var rows []changeRecord
	err := r.DB(ctx).Where("service_id = ? AND (status = ? OR status = ? AND to_image = ? AND to_image <> '' AND from_image <> '' AND from_image <> to_image)",
		svc.ID, changeSuccess, changeFailed, svc.RuntimeImage).Order("started_at DESC, id DESC").Limit(1).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// changesOf are the newest changes of a service.
func (r *repository) changesOf(ctx context.Context, serviceID string, limit int) (out []changeRecord, err error) {
	err = r.DB(ctx).Where("service_id = ?", serviceID).Order("started_at DESC, id DESC").Limit(limit).Find(&out).Error
	return out, err
}

// changesOfJob are the changes of a job, by service.
func (r *repository) changesOfJob(ctx context.Context, jobID string) (map[string]changeRecord, error) {
	var rows []changeRecord
	if err := r.DB(ctx).Where("job_id = ?", jobID).Find(&rows).Error; err != nil {
		return nil, err
	}
	out := make(map[string]changeRecord, len(rows))
	for _, c := range rows {
		out[c.ServiceID] = c
	}
	return out, nil
}

// settledServices are the generations of the services that no change works on.
func (r *repository) settledServices(ctx context.Context) (map[string]int64, error) {
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
