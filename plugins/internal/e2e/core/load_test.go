package core

import (
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// requireNoFailure fails the test when there was any answer but a success.
func requireNoFailure(t *testing.T, l *kit.Load) {
	t.Helper()
	if failed := l.Failures(); len(failed) > 0 {
		t.Errorf("%d requests were lost, the first: %s", len(failed), failed[0])
	}
}
