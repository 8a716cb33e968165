package work

import (
	"context"
	"errors"
	"time"

	"github.com/patchbay-dev/patchbay/core/queue"
)

// jobContext is the key of the context of a job in one that outlasts it.
type jobContext struct{}

// OutlastJob returns a context for what is carried out to its end also when the job is cancelled. IsHandover still tells of the job.
func OutlastJob(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithValue(context.WithoutCancel(ctx), jobContext{}, ctx), limit)
}

// IsHandover tells that the core ends, or another worker has the job: nothing may be undone, the job goes on from its journal.
func IsHandover(ctx context.Context) bool {
	if job, ok := ctx.Value(jobContext{}).(context.Context); ok && IsHandover(job) {
		return true
	}
	cause := context.Cause(ctx)
	return errors.Is(cause, queue.ErrStopping) || errors.Is(cause, queue.ErrLost)
}
