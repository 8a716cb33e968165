package search

import (
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

// TestKeysAreReadBeforeAChangeThatIsHeardFirst: what was read before a key was deleted or restored, and comes after it, counts no more.
func TestKeysAreReadBeforeAChangeThatIsHeardFirst(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		e := newEnvOn(t, testkit.OpenStore(t, cfg, Migrations()), withKeys)
		id := e.addKeys("one")[0]
		read := func() []keyRecord {
			records, err := e.svc.repo.keysSince(t.Context(), 0)
			testkit.Must(t, err)
			return records
		}
		before := read()
		testkit.Must(t, e.svc.DeleteKey(t.Context(), id))
		e.svc.loadKeys(before)
		if _, ok := e.svc.pool.findValue(id); ok {
			t.Error("the key is used after it was deleted")
		}
		before = read()
		e.addKeys("one")
		e.svc.loadKeys(before)
		if _, ok := e.svc.pool.findValue(id); !ok {
			t.Error("the key is not used after it was restored")
		}
	})
}
