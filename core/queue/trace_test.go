package queue_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/tracing"
)

// logText keeps what a logger writes.
type logText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// hasLine reports whether some line has all of the parts.
func (l *logText) hasLine(parts ...string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		found := 0
		for _, part := range parts {
			if strings.Contains(line, part) {
				found++
			}
		}
		if found == len(parts) {
			return true
		}
	}
	return false
}

func TestJobsAreTraced(t *testing.T) {
	forEachDialect(t, func(t *testing.T, st *store.Store) {
		seen := tracetest.NewSpanRecorder()
		cfg := config(st)
		log := &logText{}
		cfg.Logger = hclog.New(&hclog.LoggerOptions{Output: log})
		cfg.Tracer = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(seen)).Tracer(tracing.Scope)
		inside := make(chan string, 1)
		cfg.Handlers = []queue.Handler{
			handler("fine", func(ctx context.Context) (any, error) {
				inside <- tracing.SpanOf(ctx).TraceID()
				return nil, nil
			}),
			handler("wrong", func(context.Context) (any, error) { return nil, fault.New(fault.NotFound, "Nothing is there.") }),
			handler("odd", func(context.Context) (any, error) { return nil, errors.New("private") }),
			handler("panic", func(context.Context) (any, error) { panic("private") }),
		}
		q := run(t, build(t, cfg))
		for kind, want := range map[string]string{"fine": "", "wrong": "not_found", "odd": "internal", "panic": "panic"} {
			seen.Reset()
			job := submit(t, q, queue.Submission{Type: kind})
			testkit.Eventually(t, patience, func() bool { return len(seen.Ended()) == 1 }, "the job has a span")
			span, attributes := seen.Ended()[0], map[string]string{}
			for _, kv := range span.Attributes() {
				attributes[string(kv.Key)] = kv.Value.String()
			}
			if span.Name() != "job "+kind || attributes["patchbay.job.id"] != job.ID || attributes["patchbay.job.attempt"] != "1" ||
				attributes["error.type"] != want {
				t.Errorf("%s: the span is %q, %v", kind, span.Name(), attributes)
			}
			for _, line := range map[string][]string{"wrong": {"job attempt failed"},
				"panic": {"job attempt failed", "panic in a job"}}[kind] {
				testkit.Eventually(t, patience, func() bool { return log.hasLine(line, job.ID, "trace_id="+span.SpanContext().TraceID().String()) },
					"the log has the trace of: "+line)
			}
			if kind == "fine" {
				if got := <-inside; got != span.SpanContext().TraceID().String() {
					t.Errorf("the handler belongs to the trace %q", got)
				}
			}
		}
	})
}
