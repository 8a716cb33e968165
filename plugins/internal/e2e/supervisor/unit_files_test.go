package supervisor

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// TestUnitFiles has systemd check the units that are shipped, with the drop-in of a core that is supervised.
func TestUnitFiles(t *testing.T) {
	t.Parallel()
	_, err := exec.LookPath("systemd-analyze")
	testkit.Require(t, "systemd-analyze", err == nil, "install systemd")
	dir, shipped := t.TempDir(), filepath.Join(kit.Root(), "examples/deploy/systemd")
	// The programs must be there for systemd to accept a unit.
	programs := strings.NewReplacer("/usr/bin/patchbay", kit.Built.Core, "/opt/patchbay/current/patchbay", kit.Built.Core)
	for from, to := range map[string]string{
		"patchbay.service": "patchbay.service", "patchbay-supervisor.service": "patchbay-supervisor.service",
		"supervised.conf": "patchbay.service.d/supervised.conf",
	} {
		text, err := os.ReadFile(filepath.Join(shipped, from))
		kit.Must(t, err)
		kit.Must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, to)), 0o755))
		kit.Must(t, os.WriteFile(filepath.Join(dir, to), []byte(programs.Replace(string(text))), 0o644))
	}
	for _, unit := range []string{"patchbay.service", "patchbay-supervisor.service"} {
		if out := kit.RunHost(t, dir, "systemd-analyze", "verify", "--man=no", "--recursive-errors=no",
			filepath.Join(dir, unit)); strings.Contains(out, "patchbay") {
			t.Errorf("%s: %s", unit, out)
		}
	}
}

// TestUnitNeedsKey: without a key that signs, or with wrong settings, the configuration is refused and the setting named.
func TestUnitNeedsKey(t *testing.T) {
	t.Parallel()
	const key = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"
	for name, settings := range map[string]string{
		"":           `public_key = "` + key + `"`,
		"public_key": ``,
		"public_ke":  `public_key = "RWQ"`,
		"unit":       "unit = \"--now\"\n public_key = \"" + key + `"`,
		"dir":        "dir = \"versions\"\n public_key = \"" + key + `"`,
		"max_bytes":  "max_bytes = 1\n public_key = \"" + key + `"`,
	} {
		c := kit.NewCore(t, "storage \"sqlite\" {}\nsupervisor {\n  systemd {\n    url = \"https://example.com/{tag}/\"\n    "+settings+"\n  }\n}\n")
		out := c.Run("", "config", "check")
		if name == "" && out.Status != 0 || name != "" && (out.Status != 2 || !strings.Contains(out.Stdout+out.Stderr, name)) {
			t.Errorf("%q: status %d\n%s%s", name, out.Status, out.Stdout, out.Stderr)
		}
	}
}
