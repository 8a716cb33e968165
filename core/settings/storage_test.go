package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/config"
)

// TestMigrationCopy: a PostgreSQL database is copied into the data directory before its schema changes unless that is switched off, and
// whoever lacks the programs for it is told before an upgrade.
func TestMigrationCopy(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for name, c := range map[string]struct {
		setting, env string
		without      bool
	}{
		"default": {}, "off": {setting: "migration_copy = false", without: true}, "off by the environment": {env: "false", without: true},
	} {
		path := filepath.Join(t.TempDir(), "plugin.hcl")
		text := "storage \"postgres\" {\n  url = \"postgres://localhost/x\"\n  " + c.setting + "\n}\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		env := func(name string) (string, bool) { return c.env, name == "SVC_MIGRATION_COPY" && c.env != "" }
		set, diags, err := Source{Path: path, Env: env}.Read()
		if err != nil || diags.HasErrors() {
			t.Fatal(err, diags.Err())
		}
		if set.Store.MigrateWithoutCopy != c.without || set.Store.CopyPath != filepath.Join(filepath.Dir(path), "data", "patchbay.pgdump") {
			t.Errorf("%s: %+v", name, set.Store)
		}
		warned := false
		for _, d := range diags {
			warned = warned || d.Severity == config.Warning && strings.Contains(d.Summary+d.Detail, "postgresql-client")
		}
		if warned == c.without {
			t.Errorf("%s: the findings are %v", name, diags)
		}
	}
}
