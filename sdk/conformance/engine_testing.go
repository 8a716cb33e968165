package conformance

import (
	"testing"

	"github.com/patchbay-dev/patchbay/sdk/framework"
)

// TestEngine is TestSearch for the engine kind.
func TestEngine(t *testing.T, p framework.Plugin, cfg EngineConfig) {
	t.Helper()
	subtests(t, runEngine(t, p, cfg))
}

func runEngine(t *testing.T, p framework.Plugin, cfg EngineConfig) Report {
	t.Helper()
	conn, logs := load(t, p)
	if cfg.BaseDir == "" {
		cfg.BaseDir = t.TempDir()
	}
	if cfg.Logs == nil {
		cfg.Logs = logs
	}
	return Engine(t.Context(), conn, cfg)
}
