package cli_test

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/cli"
	"github.com/patchbay-dev/patchbay/core/operator"
)

// brokenCore is a core whose search service and whose plugin cannot work.
type brokenCore struct{}

func (brokenCore) plugin() operator.Plugin {
	return operator.Plugin{Ref: "search.main", Plugin: "testplugin", State: "failed", Message: "the file\nis gone \x1b[31m"}
}

// Status implements operator.Core.
func (b brokenCore) Status(context.Context) (operator.Status, error) {
	return operator.Status{Version: "7", Services: []operator.ServiceStatus{{Name: "search", Message: "the audit cannot be written"}},
		Plugins: b.List()}, nil
}

// Reload implements operator.Core.
func (brokenCore) Reload(context.Context) operator.Reload { return operator.Reload{} }

// BeginUpgrade implements operator.Core.
func (brokenCore) BeginUpgrade(context.Context) (operator.Upgrade, error) {
	return operator.Upgrade{}, nil
}

// EndUpgrade implements operator.Core.
func (brokenCore) EndUpgrade(context.Context) error { return nil }

// List implements operator.Plugins.
func (b brokenCore) List() []operator.Plugin { return []operator.Plugin{b.plugin()} }

// Restart implements operator.Plugins.
func (b brokenCore) Restart(context.Context, string) (operator.Plugin, error) { return b.plugin(), nil }

// LogsAfter implements operator.Plugins.
func (brokenCore) LogsAfter(string, any, int64) (operator.Lines, error) { return operator.Lines{}, nil }

// Record implements operator.Audit.
func (brokenCore) Record(context.Context, string, string, error) error { return nil }

// TestBrokenCore: the exit status is 1 for a core that is not ready and for a plugin that does not serve, and what they say is printed
// on one line, without what a terminal would obey.
func TestBrokenCore(t *testing.T) {
	path := filepath.Join(t.TempDir(), operator.SocketName)
	served, err := operator.Serve(operator.Config{Paths: []string{path}, Core: brokenCore{}, Plugins: brokenCore{}, Audit: brokenCore{},
		Logger: hclog.NewNullLogger()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(served.Close)
	for _, tt := range []struct {
		args           string
		want           int
		stdout, stderr string
	}{
		{"status", 1, "the audit cannot be written", "the core is not ready"},
		{"status -o json", 1, `"ready": false`, "the core is not ready"},
		{"plugin status", 0, "the file is gone  [31m", ""},
		{"plugin status search.main", 1, "failed", "search.main does not serve: failed: the file is gone  [31m"},
		{"plugin restart search.main", 1, "", "search.main does not serve: failed"},
		{"reload", 2, "", "the old configuration stays"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			var out, errs bytes.Buffer
			got := cli.Main(append(strings.Fields(tt.args), "-socket", path), strings.NewReader(""), &out, &errs)
			if got != tt.want || !strings.Contains(out.String(), tt.stdout) || !strings.Contains(errs.String(), tt.stderr) {
				t.Errorf("status %d, want %d: %s %s", got, tt.want, &out, &errs)
			}
		})
	}
}
