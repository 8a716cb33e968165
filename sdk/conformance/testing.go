package conformance

import (
	"bytes"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"

	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/plugintest"
)

// TestSearch loads a plugin inside the test and runs the suite; each check is a subtest. The log is watched at the level
// trace.
func TestSearch(t *testing.T, p framework.Plugin, cfg SearchConfig) {
	t.Helper()
	subtests(t, runSearch(t, p, cfg))
}

// TestNotify is TestSearch for the notify kind.
func TestNotify(t *testing.T, p framework.Plugin, cfg NotifyConfig) {
	t.Helper()
	subtests(t, runNotify(t, p, cfg))
}

// TestRegistry is TestSearch for the registry kind.
func TestRegistry(t *testing.T, p framework.Plugin, cfg RegistryConfig) {
	t.Helper()
	subtests(t, runRegistry(t, p, cfg))
}

// TestCodeHost is TestSearch for the codehost kind.
func TestCodeHost(t *testing.T, p framework.Plugin, cfg CodeHostConfig) {
	t.Helper()
	subtests(t, runCodeHost(t, p, cfg))
}

func subtests(t *testing.T, rep Report) {
	t.Helper()
	for _, res := range rep.Results {
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
	conn, logs := load(t, p)
	if cfg.DataDir == "" {
		cfg.DataDir = t.TempDir()
	}
	if cfg.BaseDir == "" {
		cfg.BaseDir = t.TempDir()
	}
	if cfg.Logs == nil {
		cfg.Logs = logs
	}
	return Search(t.Context(), conn, cfg)
}

func runNotify(t *testing.T, p framework.Plugin, cfg NotifyConfig) Report {
	t.Helper()
	conn, logs := load(t, p)
	if cfg.BaseDir == "" {
		cfg.BaseDir = t.TempDir()
	}
	if cfg.Logs == nil {
		cfg.Logs = logs
	}
	return Notify(t.Context(), conn, cfg)
}

func runRegistry(t *testing.T, p framework.Plugin, cfg RegistryConfig) Report {
	t.Helper()
	conn, logs := load(t, p)
	if cfg.BaseDir == "" {
		cfg.BaseDir = t.TempDir()
	}
	if cfg.Logs == nil {
		cfg.Logs = logs
	}
	return Registry(t.Context(), conn, cfg)
}

func runCodeHost(t *testing.T, p framework.Plugin, cfg CodeHostConfig) Report {
	t.Helper()
	conn, logs := load(t, p)
	if cfg.BaseDir == "" {
		cfg.BaseDir = t.TempDir()
	}
	if cfg.Logs == nil {
		cfg.Logs = logs
	}
	return CodeHost(t.Context(), conn, cfg)
}

// load serves a plugin until the test ends and returns what it has logged.
func load(t *testing.T, p framework.Plugin) (grpc.ClientConnInterface, func() string) {
	t.Helper()
	out := &buffer{}
	l := plugintest.LoadWith(t, p, hclog.New(&hclog.LoggerOptions{Output: out, Level: hclog.Trace}))
	return l.Conn, out.String
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
