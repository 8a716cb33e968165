package containers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
)

// jobRunner runs the jobs of one type, whose payload is a P.
type jobRunner[P any] func(ctx context.Context, job *queue.Job, payload P, r *report) (any, error)

// newHandler returns the handler of a type of job.
func newHandler[P any](now func() time.Time, kind string, limit int, timeout time.Duration, run jobRunner[P]) queue.Handler {
	return queue.Handler{
		Type: jobPrefix + kind, Safe: true, Limit: limit, Timeout: timeout,
		Run: func(ctx context.Context, job *queue.Job, p queue.Progress) (any, error) {
			var payload P
			if err := job.Decode(&payload); err != nil {
				return nil, fmt.Errorf("read the job: %w", err)
			}
			r := newReport(now, job, p)
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
