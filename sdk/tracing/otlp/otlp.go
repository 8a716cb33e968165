// Package otlp sends spans by OTLP over HTTP, as the standard environment variables OTEL_… say. It is a package of its own
// so that a plugin that is not traced does not contain it.
package otlp

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/patchbay-dev/patchbay/sdk/tracing"
)

// reportEvery is the least time between two reports about spans that could not be sent.
const reportEvery = 5 * time.Minute

// Open is a tracing.Open. It returns a provider that sends its spans, or nil if the environment does not ask for one: it does by naming an
// endpoint or by OTEL_TRACES_EXPORTER=otlp, unless OTEL_SDK_DISABLED is true. No connection is made before the first span
// has ended. report is called for failures, at most once in five minutes, from any goroutine. An error is about a setting
// that cannot be followed.
func Open(ctx context.Context, service tracing.Service, report func(error)) (tracing.Exporter, error) {
	if asked, err := isAskedFor(os.Getenv); err != nil || !asked {
		return nil, err
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("set up the export of traces: %w", err)
	}
	res, err := newResource(ctx, service)
	if err != nil {
		return nil, fmt.Errorf("set up the export of traces: read OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	limited := &reporter{report: report, now: time.Now}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(limited.reportError))
	return sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(res)), nil
}

// newResource returns the resource of all spans. What the environment says of it wins.
func newResource(ctx context.Context, service tracing.Service) (*resource.Resource, error) {
	return resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", service.Name), attribute.String("service.version", service.Version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
}

// ServiceName returns the name of a service whose environment is this process's.
func ServiceName(ctx context.Context, service tracing.Service) string {
	if res, err := newResource(ctx, service); err == nil {
		if name, ok := res.Set().Value("service.name"); ok {
			return name.AsString()
		}
	}
	return service.Name
}

// isAskedFor reports whether the environment asks for traces. It is an error to ask for what this package cannot do.
func isAskedFor(env func(string) string) (bool, error) {
	value := func(names ...string) string {
		for _, name := range names {
			if v := strings.ToLower(strings.TrimSpace(env(name))); v != "" {
				return v
			}
		}
		return ""
	}
	if value("OTEL_SDK_DISABLED") == "true" {
		return false, nil
	}
	switch exporter := value("OTEL_TRACES_EXPORTER"); exporter {
	case "none":
		return false, nil
	case "otlp":
	case "":
		if value("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT") == "" {
			return false, nil
		}
	default:
		return false, fmt.Errorf("OTEL_TRACES_EXPORTER is %q: traces are sent by otlp or none", exporter)
	}
	if p := value("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"); p != "" && p != "http/protobuf" {
		return false, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %q: traces are sent by http/protobuf only", p)
	}
	return true, nil
}

// reporter passes on the first failure, and the first one after each pause.
type reporter struct {
	report func(error)
	now    func() time.Time

	mu   sync.Mutex
	last time.Time
}

func (r *reporter) reportError(err error) {
	r.mu.Lock()
	now := r.now()
	due := r.last.IsZero() || now.Sub(r.last) >= reportEvery
	if due {
		r.last = now
	}
	r.mu.Unlock()
	if due {
		r.report(err)
	}
}
