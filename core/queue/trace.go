package queue

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/trace"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/sdk/tracing"
)

// startSpan begins the trace of one run of a job, if jobs are traced. It is a trace of its own: the request that has submitted
// the job may be long over.
func (q *Queue) startSpan(ctx context.Context, job *Job) (context.Context, tracing.Span) {
	if q.cfg.Tracer == nil {
		return ctx, tracing.Span{}
	}
	ctx, span := tracing.StartRoot(ctx, q.cfg.Tracer, trace.SpanKindInternal, "job "+job.Type)
	span.SetString("patchbay.job.type", job.Type)
	span.SetString("patchbay.job.id", job.ID)
	span.SetInt("patchbay.job.attempt", job.Attempt)
	return ctx, span
}

// withTrace returns the arguments of a log line with the id of the run's trace behind them, if it is traced.
func (r *run) withTrace(args ...any) []any {
	if r.traceID == "" {
		return args
	}
	return append(args, "trace_id", r.traceID)
}

// endSpan ends the span of a run with the code of the handler's error.
func endSpan(span tracing.Span, err error) {
	switch {
	case err == nil:
	case errors.Is(err, errPanic):
		span.Fail("panic")
	default:
		span.Fail(string(fault.CodeOf(err)))
	}
	span.End()
}
