package mail

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/dnstest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// TestLexiconExample runs the contract against the plugin in Python, and through it against a real PowerDNS.
func TestLexiconExample(t *testing.T) {
	t.Parallel()
	kit.RequirePython(t)
	err := exec.Command(kit.PythonPath, "-c", "import lexicon.config, dns.resolver").Run()
	testkit.Require(t, "python3-lexicon", err == nil, "install Debian's package python3-lexicon")
	s := dnstest.StartPowerDNS(t, "example.com")
	settings := filepath.Join(t.TempDir(), "settings.json")
	text := fmt.Sprintf(`{"vendor":"powerdns","zones":["example.com"],"auth_token":%q,"options":{"pdns_server":%q},"resolvers":[%q],"zone_file_values":true}`, s.Key, s.URL, s.Addr)
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(kit.Built.Core, "plugin", "test", "-settings", settings, "-sample", "zone=example.com", kit.PythonPath,
		filepath.Join(kit.Root(), "examples", "dns-lexicon", "plugin.py"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("plugin test: %v", err)
	}
	kit.Contains(t, string(out), "ok    describe", "ok    zones", "ok    local-names", "ok    records", "ok    mail-records", "ok    credential")
}
