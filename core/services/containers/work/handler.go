package work

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
)

// Runner runs the jobs of one type, whose payload is a P.
type Runner[P any] func(ctx context.Context, job *queue.Job, payload P, r *Reporter) (any, error)

// NewHandler returns the handler of a type of job.
func NewHandler[P any](now func() time.Time, kind string, limit int, timeout time.Duration, run Runner[P]) queue.Handler {
	return queue.Handler{
		Type: Prefix + kind, Safe: true, Limit: limit, Timeout: timeout,
		Run: func(ctx context.Context, job *queue.Job, p queue.Progress) (any, error) {
			var payload P
			if err := job.Decode(&payload); err != nil {
				return nil, fmt.Errorf("read the job: %w", err)
			}
			r := NewReporter(now, job, p)
			out, err := run(ctx, job, payload, r)
			r.endReport(ctx, err)
			return out, explainFailure(err)
		},
	}
}

// explainFailure returns err as an error whose message is meant for people.
func explainFailure(err error) error {
	var f *fault.Error
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if errors.As(err, &f) && f.Code != fault.Internal && f.Code != fault.UpstreamUnavailable && f.Code != fault.PluginUnavailable {
		return err
	}
	if text := failure.Text(err); text != "" && f != nil {
		return fault.Wrap(err, f.Code, "%s", text)
	}
	return err
}
