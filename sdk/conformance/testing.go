package conformance

import (
	"bytes"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/plugintest"
)

// TestSearch loads a plugin inside the test and runs the suite; each check is a subtest. The log is watched at the level
// trace.
func TestSearch(t *testing.T, p framework.Plugin, cfg SearchConfig) {
	t.Helper()
	for _, res := range runSearch(t, p, cfg).Results {
		t.Run(res.Name(), func(t *testing.T) {
			if res.Skipped != "" {
				t.Skip(res.Skipped)
			}
			if res.Err != nil {
				t.Error(res.Err)
			}
		})
	}
}

func runSearch(t *testing.T, p framework.Plugin, cfg SearchConfig) Report {
	t.Helper()
	var out buffer
	l := plugintest.LoadWith(t, p, hclog.New(&hclog.LoggerOptions{Output: &out, Level: hclog.Trace}))
	if cfg.DataDir == "" {
		cfg.DataDir = t.TempDir()
	}
	if cfg.BaseDir == "" {
		cfg.BaseDir = t.TempDir()
	}
	if cfg.Logs == nil {
		cfg.Logs = out.String
	}
	return Search(t.Context(), l.Conn, cfg)
}

// buffer is a bytes.Buffer for several goroutines.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String is what was written so far.
func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
