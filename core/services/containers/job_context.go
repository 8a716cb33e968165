package containers

import (
	"context"
	"errors"
	"time"

	"github.com/patchbay-dev/patchbay/core/queue"
)

// jobContext is the key of the context of a job in one that outlasts it.
type jobContext struct{}

// outlastJob returns a context for what is carried out to its end also when the job is cancelled. isHandover still tells of the job.
func outlastJob(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithValue(context.WithoutCancel(ctx), jobContext{}, ctx), limit)
}

// isHandover tells that the core ends, or another worker has the job: nothing may be undone, the job goes on from its journal.
func isHandover(ctx context.Context) bool {
	if job, ok := ctx.Value(jobContext{}).(context.Context); ok && isHandover(job) {
		return true
	}
	cause := context.Cause(ctx)
	return errors.Is(cause, queue.ErrStopping) || errors.Is(cause, queue.ErrLost)
}
