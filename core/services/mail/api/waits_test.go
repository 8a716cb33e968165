package api

import (
	"strings"
	"testing"
)

// TestWaitsOfUser: a user may have 500 waits open, and is told what is open.
func TestWaitsOfUser(t *testing.T) {
	waits := newMessageHandlers(Config{}).waits
	for range maxWaitsEach {
		release, err := waits.Acquire("ada")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(release)
	}
	_, err := waits.Acquire("ada")
	if err == nil || !strings.Contains(err.Error(), "500 requests that wait for messages open") {
		t.Errorf("got %v", err)
	}
}
