package keys

import (
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/services/search/internal/searchtest"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// TestKeyIsMarkedBeforeThePoolHearsOfADecision: the pool does not use a key that was disabled or found invalid before the answer that
// it has heard of first.
func TestKeyIsMarkedBeforeThePoolHearsOfADecision(t *testing.T) {
	for _, state := range []KeyState{KeyDisabled, KeyInvalid} {
		c := searchtest.NewClock(searchtest.Noon)
		p := poolOf(c, "a")
		decided := &key{id: "a", value: "value-a", state: state, updated: c.Now().UnixMilli()}
		c.Advance(time.Second)
		p.ApplyVerdict("a", verdict(sdk.KeyRateLimited, 0))
		p.loadKeys([]*key{decided}, nil)
		c.Advance(time.Hour)
		if got := picked(t, p, "t"); got != "" {
			t.Errorf("%s: the key is used again", state)
		}
		// What was read before the key was let in again does not count.
		p.loadKeys([]*key{{id: "a", value: "value-a", state: KeyActive, updated: c.Now().UnixMilli()}}, nil)
		p.loadKeys([]*key{{id: "a", value: "value-a", state: state, updated: decided.updated}}, nil)
		if got := picked(t, p, "t"); got != "a" {
			t.Errorf("%s: the key is not used", state)
		}
	}
}
