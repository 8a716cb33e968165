package otlp

import (
	"errors"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/tracing"
)

func TestIsAskedFor(t *testing.T) {
	endpoint := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}
	for _, c := range []struct {
		env         map[string]string
		base        map[string]string
		asked, fail bool
	}{
		{},
		{base: endpoint, asked: true},
		{env: map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4318/v1/traces"}, asked: true},
		{env: map[string]string{"OTEL_TRACES_EXPORTER": "otlp"}, asked: true},
		{env: map[string]string{"OTEL_TRACES_EXPORTER": "none"}, base: endpoint},
		{env: map[string]string{"OTEL_TRACES_EXPORTER": "zipkin"}, base: endpoint, fail: true},
		{env: map[string]string{"OTEL_SDK_DISABLED": "TRUE"}, base: endpoint},
		{env: map[string]string{"OTEL_SDK_DISABLED": "false"}, base: endpoint, asked: true},
		{env: map[string]string{"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, base: endpoint, fail: true},
		{env: map[string]string{"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}},
		{env: map[string]string{"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf"}, base: endpoint,
			asked: true},
	} {
		asked, err := isAskedFor(func(name string) string {
			if v := c.env[name]; v != "" {
				return v
			}
			return c.base[name]
		})
		if asked != c.asked || (err != nil) != c.fail {
			t.Errorf("%v with %v: %v, %v", c.env, c.base, asked, err)
		}
	}
}

func TestOpenWithoutBeingAsked(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "")
	exporter, err := Open(t.Context(), tracing.Service{Name: "x"}, nil)
	if exporter != nil || err != nil {
		t.Errorf("the exporter is %v, %v", exporter, err)
	}
}

func TestServiceName(t *testing.T) {
	service := tracing.Service{Name: "patchbay"}
	for _, c := range []struct{ name, attributes, want string }{
		{"", "", "patchbay"}, {"hub", "service.name=other", "hub"}, {"", "service.name=other,a=b", "other"},
	} {
		t.Setenv("OTEL_SERVICE_NAME", c.name)
		t.Setenv("OTEL_RESOURCE_ATTRIBUTES", c.attributes)
		if got := ServiceName(t.Context(), service); got != c.want {
			t.Errorf("%q, %q: the service is %q, want %q", c.name, c.attributes, got, c.want)
		}
	}
}

func TestReportsAreRare(t *testing.T) {
	now, reports := time.Unix(1000, 0), 0
	r := &reporter{report: func(error) { reports++ }, now: func() time.Time { return now }}
	for range 5 {
		r.reportError(errors.New("no collector"))
	}
	if now = now.Add(reportEvery); reports != 1 {
		t.Errorf("%d reports at once", reports)
	}
	r.reportError(errors.New("no collector"))
	if reports != 2 {
		t.Errorf("%d reports after a pause", reports)
	}
}
