package app

import (
	"path/filepath"
	"testing"
	"time"

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

// TestUpgradesOneAtATime: a core drains when its upgrade begins. Another one has to wait, also while the first is away, until the first says
// that its upgrade has ended.
func TestUpgradesOneAtATime(t *testing.T) {
	url := testkit.Postgres(t)
	open := func(id string) (operatorCore, func()) {
		st := testkit.SharedStore(t, url)
		c := testkit.OpenCluster(t, st, id, true)
		return operatorCore{&App{store: st, cluster: c}}, c.Close
	}
	first, stop := open("core-1")
	second, _ := open("core-2")
	begin := func(o operatorCore, want string) {
		t.Helper()
		if got, err := o.BeginUpgrade(t.Context()); err != nil || got.WaitsFor != want {
			t.Errorf("%s waits for %q, want %q: %v", o.app.cluster.ID(), got.WaitsFor, want, err)
		}
	}
	begin(first, "")
	testkit.Eventually(t, time.Minute, first.app.cluster.Draining, "the first core drains")
	begin(second, "core-1")
	begin(first, "")
	stop()
	begin(second, "core-1")
	if second.app.cluster.Draining() {
		t.Error("the core that waits drains")
	}
	first, _ = open("core-1")
	testkit.Must(t, first.EndUpgrade(t.Context()))
	begin(second, "")
	testkit.Must(t, second.EndUpgrade(t.Context()))
	if err := second.app.cluster.Refresh(t.Context()); err != nil || second.app.cluster.Draining() {
		t.Errorf("after its upgrade the core drains: %v", err)
	}
}
