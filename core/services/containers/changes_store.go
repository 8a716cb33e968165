package containers

import (
	"context"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// repository holds the queries. It decides nothing.
type repository struct{ *record.Store }

// beginChange writes a new record, or returns the one that the same job has for the service already.
func (r *repository) beginChange(ctx context.Context, rec *record.Change) (*record.Change, error) {
	err := r.Write(ctx, "begin a change", func(ctx context.Context, w *gorm.DB) error {
		if err := w.Clauses(clause.OnConflict{DoNothing: true}).Create(rec).Error; err != nil {
			return err
		}
		var kept record.Change
		if err := w.Where("job_id = ? AND service_id = ?", rec.JobID, rec.ServiceID).Take(&kept).Error; err != nil {
			return err
		}
		rec = &kept
		return nil
	})
	return rec, err
}

func (r *repository) saveChange(ctx context.Context, rec *record.Change) error {
	return r.Write(ctx, "write the journal", func(_ context.Context, w *gorm.DB) error { return w.Save(rec).Error })
}

// finishChange ends a change. A success makes what was the candidate run: the candidate goes, unless a check has found a
// newer one meanwhile.
func (r *repository) finishChange(ctx context.Context, rec *record.Change, serviceID string, now int64) error {
	return r.Write(ctx, "end a change", func(ctx context.Context, w *gorm.DB) error {
		if err := w.Save(rec).Error; err != nil {
			return err
		}
		columns := map[string]any{"generation": gorm.Expr("generation + 1"), "updated_at": now}
		if err := w.Model(&record.Service{}).Where("id = ?", serviceID).Updates(columns).Error; err != nil {
			return err
		}
		if rec.Status != record.ChangeSuccess {
			return nil
		}
		return w.Model(&record.Service{}).Where("id = ? AND candidate_digest = ?", serviceID, rec.ToDigest).Updates(record.NoCandidate()).Error
	})
}

func (r *repository) changeByID(ctx context.Context, id string) (record.Change, error) {
	return record.FindOne[record.Change](r.DB(ctx).Where("id = ?", id), "There is no such change.")
}

// lastChange is the newest change of a service that is in force; nil without one. A change that failed is in force where
// its image runs all the same, since nothing has brought the former one back.
func (r *repository) lastChange(ctx context.Context, svc *record.Service) (*record.Change, error) {
	var rows []record.Change
	err := r.DB(ctx).Where("service_id = ? AND (status = ? OR status = ? AND to_image = ? AND to_image <> '' AND from_image <> '' AND from_image <> to_image)",
		svc.ID, record.ChangeSuccess, record.ChangeFailed, svc.RuntimeImage).Order("started_at DESC, id DESC").Limit(1).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// changesOf are the newest changes of a service.
func (r *repository) changesOf(ctx context.Context, serviceID string, limit int) (out []record.Change, err error) {
	err = r.DB(ctx).Where("service_id = ?", serviceID).Order("started_at DESC, id DESC").Limit(limit).Find(&out).Error
	return out, err
}

// changesOfJob are the changes of a job, by service.
func (r *repository) changesOfJob(ctx context.Context, jobID string) (map[string]record.Change, error) {
	var rows []record.Change
	if err := r.DB(ctx).Where("job_id = ?", jobID).Find(&rows).Error; err != nil {
		return nil, err
	}
	out := make(map[string]record.Change, len(rows))
	for _, c := range rows {
		out[c.ServiceID] = c
	}
	return out, nil
}
