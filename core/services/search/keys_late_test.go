package search

import (
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/search/keys"
	"github.com/patchbay-dev/patchbay/core/store"
)

// TestKeysAreReadBeforeAChangeThatIsHeardFirst: what was read before a key was deleted or restored, and comes after it, counts no more.
func TestKeysAreReadBeforeAChangeThatIsHeardFirst(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		e := newEnvOn(t, testkit.OpenStore(t, cfg, Migrations()), withKeys)
		id := e.addKeys("one")[0]
		read := func() []keys.KeyRecord {
			records, err := e.svc.Keys.Store.KeysSince(t.Context(), 0)
			testkit.Must(t, err)
			return records
		}
		before := read()
		testkit.Must(t, e.svc.DeleteKey(t.Context(), id))
		e.svc.LoadKeys(before)
		if _, ok := e.svc.Pool().FindValue(id); ok {
			t.Error("the key is used after it was deleted")
		}
		before = read()
		e.addKeys("one")
		e.svc.LoadKeys(before)
		if _, ok := e.svc.Pool().FindValue(id); !ok {
			t.Error("the key is not used after it was restored")
		}
	})
}

// TestKeyIsFoundInvalidAfterADecision: nobody is told of a key that a person took out of use before the answer is stored.
func TestKeyIsFoundInvalidAfterADecision(t *testing.T) {
	e := newEnv(t, withKeys, notifies)
	a := e.alerts()
	for name, decide := range map[string]func(id string) error{
		"disabled":    func(id string) error { return e.svc.SetKeyEnabled(t.Context(), id, false) },
		"quarantined": func(id string) error { return e.svc.QuarantineKey(t.Context(), id, "published") },
		"deleted":     func(id string) error { return e.svc.DeleteKey(t.Context(), id) },
	} {
		id := e.addKeys("key-of-" + name)[0]
		testkit.Must(t, decide(id))
		e.svc.KeyChanged(id, keys.KeyInvalid, "status 401", time.Time{}, e.clock.Now().Add(time.Minute))
		e.svc.Keys.Wait()
		if told := a.take(); len(told) != 0 {
			t.Errorf("%s: told %v", name, told)
		}
	}
}
