package work

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// ActiveJob is a job that works on a service.
type ActiveJob struct {
	ID     string `json:"id" example:"job_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
	Type   string `json:"type" example:"update"`
	Status string `json:"status" enum:"queued,running"`
	Action string `json:"action,omitempty" enum:"start,stop,restart"`
}

// ActiveJobs are the jobs that hold locks of services, the running before the queued.
func (q *Queue) ActiveJobs(ctx context.Context, ids []string) ([]ActiveJob, error) {
	locks := lists.ConvertAll(ids, ServiceLock)
	held, err := q.Holders(ctx, locks)
	if err != nil {
		return nil, fmt.Errorf("read the active jobs: %w", err)
	}
	out := []ActiveJob{}
	for _, job := range held {
		if slices.ContainsFunc(out, func(a ActiveJob) bool { return a.ID == job.ID }) {
			continue
		}
		var payload struct{ Action string }
		_ = job.Decode(&payload)
		out = append(out, ActiveJob{ID: job.ID, Type: PublicType(job.Type), Status: string(job.State), Action: payload.Action})
	}
	slices.SortFunc(out, func(a, b ActiveJob) int {
		if a.Status != b.Status {
			return record.BoolToInt(a.Status == string(queue.Queued)) - record.BoolToInt(b.Status == string(queue.Queued))
		}
		return -cmp.Compare(a.ID, b.ID)
	})
	return out, nil
}
