package supervisor

import (
	"sync/atomic"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// TestFormerCoreIsKilledInTheRollback: a former core that ends before it answers is started again, a few times.
func TestFormerCoreIsKilledInTheRollback(t *testing.T) {
	for name, tt := range map[string]struct {
		kills, recreated int
		want             Status
	}{
		"twice":  {2, 4, RolledBack},
		"always": {1000, 4, Failed},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.engine.Publish(repository+":latest", imageOfVersion("2"))
			s.engine.ScriptImage(imageOfVersion("2").ID, fake.Exited(1))
			var looks atomic.Int64
			s.engine.ScriptImage(imageOfVersion("1").ID, func(d *engine.Detail) {
				if looks.Add(1) <= int64(tt.kills) {
					fake.Exited(137)(d)
				} else {
					fake.Running()(d)
				}
			})
			sup := s.supervise(t, nil)
			if _, err := sup.Begin(Request{Mode: Apply, RollbackOnFailure: true}); err != nil {
				t.Fatal(err)
			}
			o := ended(t, sup, tt.want)
			if got := len(s.engine.CallsOf("compose")); got != tt.recreated {
				t.Errorf("%s: compose ran %d times, want %d: %q", o.Message, got, tt.recreated, s.engine.CallsOf("compose"))
			}
			if got := s.core().ImageID; got != imageOfVersion("1").ID {
				t.Errorf("the core runs %s", got)
			}
		})
	}
}
