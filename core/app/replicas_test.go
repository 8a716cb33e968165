package app

import (
	"path/filepath"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/settings"
)

// TestNoWritesWithReplicas: the console does not change the file of one of several nodes.
func TestNoWritesWithReplicas(t *testing.T) {
	a := &App{store: testkit.SharedStore(t, testkit.Postgres(t)), cfg: Config{Path: filepath.Join(t.TempDir(), "plugin.hcl")}}
	a.inUse.Store(&settings.Settings{Core: settings.Core{ConsoleWrites: true}})
	if got := (&providers{app: a}).Writing().ReadOnly; got != "replicas" {
		t.Errorf("read only because of %q", got)
	}
}
