package app

import (
	"context"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/tracing"
	"github.com/patchbay-dev/patchbay/sdk/tracing/otlp"
)

// traceEnd is how long the end of the core waits for its last spans to be sent.
const traceEnd = 5 * time.Second

const (
	traceName       = "OTEL_SERVICE_NAME"
	traceAttributes = "OTEL_RESOURCE_ATTRIBUTES"
)

// traceService names the core in its spans.
func (c Config) traceService() tracing.Service {
	return tracing.Service{Name: "patchbay", Version: c.Version}
}

// openTraces begins to send spans, if the variables OTEL_… ask for it. One that cannot be followed is no reason not to start.
func (a *App) openTraces(ctx context.Context) {
	log := a.log.ResetNamed("traces")
	a.redact.Add(traceSecrets(os.Getenv)...)
	exporter, err := otlp.Open(ctx, a.cfg.traceService(), func(err error) { log.Warn("cannot send spans", "error", err) })
	if err != nil {
		log.Warn("tracing off", "error", err)
	}
	if exporter == nil {
		return
	}
	a.tracer = exporter.Tracer(tracing.Scope)
	a.traceEnv = pluginTraceEnv(os.Environ(), otlp.ServiceName(ctx, a.cfg.traceService()))
	a.closers = append(a.closers, func() {
		ctx, cancel := context.WithTimeout(context.Background(), traceEnd)
		defer cancel()
		if err := exporter.Shutdown(ctx); err != nil {
			log.Warn("cannot send the last spans", "error", err)
		}
	})
}

// traceSecrets returns what may be secret in the headers that are sent to the collector.
func traceSecrets(env func(string) string) (secrets []string) {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"} {
		for pair := range strings.SplitSeq(env(name), ",") {
			_, value, _ := strings.Cut(pair, "=")
			if plain, err := url.PathUnescape(value); err == nil {
				value = plain
			}
			// The scheme of an Authorization header is no secret.
			if words := strings.Fields(value); len(words) > 0 {
				secrets = append(secrets, words[len(words)-1])
			}
		}
	}
	return secrets
}

// pluginTraceEnv returns a function that returns the variables by which the processes of a plugin are traced like the core:
// all of the core's OTEL_… with a service name of their own, and the plugin as an attribute.
func pluginTraceEnv(environ []string, service string) func(plugin string) []string {
	var shared []string
	attributes := ""
	for _, pair := range environ {
		switch name, value, _ := strings.Cut(pair, "="); {
		case name == traceName:
		case name == traceAttributes && value != "":
			attributes = value + ","
		case strings.HasPrefix(name, "OTEL_"):
			shared = append(shared, pair)
		}
	}
	shared = append(shared, traceName+"="+service+"-plugin")
	return func(plugin string) []string {
		return append(shared[:len(shared):len(shared)], traceAttributes+"="+attributes+"patchbay.plugin="+url.PathEscape(plugin))
	}
}
