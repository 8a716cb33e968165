package change

import (
	"context"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// Store holds the queries about the journal of changes. It decides nothing.
type Store struct{ *record.Store }

// BeginChange writes a new record, or returns the one that the same job has for the service already.
func (r *Store) BeginChange(ctx context.Context, rec *record.Change) (*record.Change, error) {
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

func (r *Store) saveChange(ctx context.Context, rec *record.Change) error {
	return r.Write(ctx, "write the journal", func(_ context.Context, w *gorm.DB) error { return w.Save(rec).Error })
}

// finishChange ends a change. A success makes what was the candidate run: the candidate goes, unless a check has found a
// newer one meanwhile.
func (r *Store) finishChange(ctx context.Context, rec *record.Change, serviceID string, now int64) error {
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

func (r *Store) changeByID(ctx context.Context, id string) (record.Change, error) {
	return record.FindOne[record.Change](r.DB(ctx).Where("id = ?", id), "There is no such change.")
}

// LastChange is the newest change of a service that is in force; nil without one. A change that failed is in force where
// its image runs all the same, since nothing has brought the former one back.
func (r *Store) LastChange(ctx context.Context, svc *record.Service) (*record.Change, error) {
	var rows []record.Change
	err := r.DB(ctx).Where("service_id = ? AND (status = ? OR status = ? AND to_image = ? AND to_image <> '' AND from_image <> '' AND from_image <> to_image)",
		svc.ID, record.ChangeSuccess, record.ChangeFailed, svc.RuntimeImage).Order("started_at DESC, id DESC").Limit(1).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// ChangesOf are the newest changes of a service.
func (r *Store) ChangesOf(ctx context.Context, serviceID string, limit int) (out []record.Change, err error) {
	err = r.DB(ctx).Where("service_id = ?", serviceID).Order("started_at DESC, id DESC").Limit(limit).Find(&out).Error
	return out, err
}

// changesOfJob are the changes of a job, by service.
func (r *Store) changesOfJob(ctx context.Context, jobID string) (map[string]record.Change, error) {
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

// OpenChanges are the changes of a job that have not ended and do not wait for the engine.
func (r *Store) OpenChanges(ctx context.Context, jobID string) (out []record.Change, err error) {
	err = r.DB(ctx).Where("job_id = ? AND status = ? AND waits_since = 0", jobID, record.ChangeRunning).Order("started_at, id").Find(&out).Error
	return out, err
}

// ChangeOf is the change of a service by a job, nil without one.
func (r *Store) ChangeOf(ctx context.Context, jobID, serviceID string) (*record.Change, error) {
	var rows []record.Change
	err := r.DB(ctx).Where("job_id = ? AND service_id = ?", jobID, serviceID).Limit(1).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// waitingChanges are the changes that wait for the engine.
func (r *Store) waitingChanges(ctx context.Context) (out []record.Change, err error) {
	err = r.DB(ctx).Where("status = ? AND waits_since > 0", record.ChangeRunning).Order("started_at, id").Find(&out).Error
	return out, err
}

// waitingChange is the change of a service that waits for the engine, nil without one.
func (r *Store) waitingChange(ctx context.Context, serviceID string) (*record.Change, error) {
	var rows []record.Change
	err := r.DB(ctx).Where("service_id = ? AND status = ? AND waits_since > 0", serviceID, record.ChangeRunning).Limit(1).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// adoptChange makes a change that waits one of a job.
func (r *Store) adoptChange(ctx context.Context, id, jobID string) (*record.Change, error) {
	var rec record.Change
	err := r.Write(ctx, "take a change over", func(_ context.Context, w *gorm.DB) error {
		columns := map[string]any{"job_id": jobID, "waits_since": 0}
		if err := w.Model(&record.Change{}).Where("id = ? AND waits_since > 0", id).Updates(columns).Error; err != nil {
			return err
		}
		return w.Where("id = ? AND job_id = ?", id, jobID).Take(&rec).Error
	})
	if err != nil {
		return nil, fmt.Errorf("take a change over: %w", err)
	}
	return &rec, nil
}

// jobsOfOpenChanges returns the ids of the jobs with changes that have not ended.
func (r *Store) jobsOfOpenChanges(ctx context.Context) (ids []string, err error) {
	err = r.DB(ctx).Model(&record.Change{}).Distinct("job_id").Where("status = ? AND waits_since = 0", record.ChangeRunning).Order("job_id").Pluck("job_id", &ids).Error
	return ids, err
}
