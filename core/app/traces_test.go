package app

import (
	"slices"
	"testing"
)

func TestPluginTraceEnv(t *testing.T) {
	env := pluginTraceEnv([]string{
		"HOME=/root", "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318", "OTEL_SERVICE_NAME=hub", "OTEL_RESOURCE_ATTRIBUTES=a=b",
		"NOT_OTEL_X=1",
	}, "hub")
	for plugin, want := range map[string]string{"docs": "docs", "my plugin,x=y": "my%20plugin%2Cx=y"} {
		got := env(plugin)
		if !slices.Equal(got, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318", "OTEL_SERVICE_NAME=hub-plugin",
			"OTEL_RESOURCE_ATTRIBUTES=a=b,patchbay.plugin=" + want}) {
			t.Errorf("the plugin %q gets %q", plugin, got)
		}
	}
}

func TestTraceSecrets(t *testing.T) {
	got := traceSecrets(func(name string) string {
		return map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20one,x-key=two",
			"OTEL_EXPORTER_OTLP_TRACES_HEADERS": "x-key = three"}[name]
	})
	if !slices.Equal(got, []string{"one", "two", "three"}) {
		t.Errorf("the secrets are %q", got)
	}
}
