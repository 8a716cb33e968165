package proxy

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/patchbay-dev/patchbay/core/services/search/internal/searchtest"
)

// TestCacheStaysWithinItsBound compares the cache with a list.
func TestCacheStaysWithinItsBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const room = 5
		c := newCache(room * (entryOverhead + 10))
		var order []byte
		touch := func(b byte) bool {
			for i, o := range order {
				if o == b {
					order = append(append(order[:i:i], order[i+1:]...), b)
					return true
				}
			}
			return false
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			b := byte(rapid.IntRange(0, 9).Draw(t, "key"))
			if rapid.Bool().Draw(t, "put") {
				c.put(&cachedAnswer{key: cacheKey{b}, storedAt: searchtest.Noon, body: make([]byte, 10)})
				if !touch(b) {
					order = append(order, b)
				}
				if len(order) > room {
					order = order[1:]
				}
			} else if got, want := c.get(cacheKey{b}, searchtest.Noon, time.Hour) != nil, touch(b); got != want {
				t.Fatalf("key %d: found %v, want %v", b, got, want)
			}
			if c.size != len(order)*(entryOverhead+10) || len(c.byKey) != len(order) {
				t.Fatalf("%d bytes in %d entries, want %d", c.size, len(c.byKey), len(order))
			}
		}
	})
}
