package plugintest

import (
	"testing"
	"time"
)

const graceStop = 5 * time.Second

// testWriter sends a plugin's log to the test's.
type testWriter struct{ t testing.TB }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Helper()
	w.t.Logf("%s", p)
	return len(p), nil
}
