package queue

import "context"

// Checkpoints have a table of their own, so that the frequent changes of a job's row do not write them again.
const (
	sqlCheckpoint = `INSERT INTO job_checkpoints (job_id, data) VALUES (?, ?) ON CONFLICT (job_id) DO UPDATE SET data = excluded.data`
	sqlResume     = `SELECT data FROM job_checkpoints WHERE job_id = ?`
)

// readCheckpoint reads the checkpoint of an earlier attempt into r.
func (q *Queue) readCheckpoint(ctx context.Context, r *row) error {
	var found []string
	if err := q.store.DB(ctx).Raw(sqlResume, r.ID).Scan(&found).Error; err != nil {
		return err
	}
	if len(found) > 0 {
		r.Checkpoint = found[0]
	}
	return nil
}
