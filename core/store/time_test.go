package store_test

import (
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/store"
)

// TestIsWithin: a time that another writer has stored while this one waited is no sign of a wrong clock.
func TestIsWithin(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for ahead, want := range map[time.Duration]bool{
		-2 * time.Hour: false, -time.Hour: false, -time.Hour + time.Millisecond: true, 0: true, time.Millisecond: true, time.Minute: true,
		time.Minute + time.Millisecond: false, 10 * 365 * 24 * time.Hour: false,
	} {
		if got := store.IsWithin(now, store.Millis(now.Add(ahead)), time.Hour); got != want {
			t.Errorf("%s ahead: got %v", ahead, got)
		}
	}
}
