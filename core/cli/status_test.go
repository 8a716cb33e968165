package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/cli"
)

// TestExitStatuses: 2 for a mistake in arguments or configuration, 1 for everything else that fails.
func TestExitStatuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := write("good.hcl", "search \"local\" \"docs\" {\n  config { folders = [\".\"] }\n}\nservice \"search\" { backend = search.docs }\n")
	bad := write("bad.hcl", "service \"search\" { backend = 7 }\nnonsense {}\n")
	broken := write("broken.hcl", "service \"search\" {\n")
	tests := []struct {
		args   string
		want   int
		stderr string
	}{
		{"", 0, ""},
		{"version", 0, ""},
		{"help token", 0, ""},
		{"nonsense", 2, "nonsense"},
		{"token nonsense", 2, "nonsense"},
		{"token create -nonsense", 2, "nonsense"},
		{"version extra", 2, "takes no arguments"},
		{"token disable", 2, "takes 1 argument"},
		{"key add -config " + good, 2, "no key"},
		{"config check -config " + bad, 2, "bad.hcl line"},
		{"config check -config=" + broken, 2, "broken.hcl line"},
		{"config show --config " + bad, 2, "bad.hcl line"},
		{"config check -config " + filepath.Join(dir, "missing.hcl"), 2, "missing.hcl"},
		{"token create -config " + bad, 2, "bad.hcl line"},
		{"serve -config " + bad, 2, "bad.hcl line"},
		{"token create -config " + good, 0, ""},
		{"token disable zzzz -config " + good, 1, "no access token"},
		{"user disable nobody@example.com -config " + good, 1, "no user"},
		{"health -url http://127.0.0.1:1/readyz", 1, "no answer"},
	}
	for _, tt := range tests {
		t.Run(strings.ReplaceAll(tt.args, dir, ""), func(t *testing.T) {
			var out, errs bytes.Buffer
			got := cli.Main(strings.Fields(tt.args), strings.NewReader(""), &out, &errs)
			if got != tt.want || !strings.Contains(errs.String(), tt.stderr) {
				t.Errorf("status %d, want %d; %s", got, tt.want, errs.String())
			}
		})
	}
}
