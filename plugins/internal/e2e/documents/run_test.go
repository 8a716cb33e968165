package documents

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// runPages are the pages for operators whose commands TestRunPageCommandsRun runs, in this order.
var runPages = []string{
	"accounts.md", "configuration.md", "install.md", "observability.md", "operations.md", "reverse-proxy.md", "sizing.md", "faq.md",
	"supervisor.md", "troubleshooting.md", "uninstall.md", "upgrade.md", "backup.md", "replicas.md",
}

// TestRunPageCommandsRun runs every block of sh on the pages for operators as it stands, but for addresses. Blocks of console are for
// what a test cannot do, such as installing a package.
func TestRunPageCommandsRun(t *testing.T) {
	t.Parallel()
	admin := testkit.FreeAddress(t)
	r := newReader(t, "SVC_ADMIN_ADDR="+admin, "TMPDIR="+t.TempDir())
	// An answer of 400 and more is a failure.
	kit.Must(t, os.WriteFile(filepath.Join(r.Dir, ".curlrc"), []byte("fail\n"), 0o600))
	kit.Must(t, os.Mkdir(filepath.Join(r.Dir, "docs"), 0o700))
	kit.Must(t, os.WriteFile(filepath.Join(r.Dir, "plugin.hcl.json"), []byte(kit.CodeBlock(t, "configuration.md", "json")), 0o600))
	run := func(page, block string) {
		t.Helper()
		t.Logf("%s:\n%s", page, r.shell("PATH=$PWD/bin:$PATH\n"+strings.ReplaceAll(block, "127.0.0.1:50885", admin)))
	}
	ran, restores := 0, []string{}
	for _, page := range runPages {
		for _, block := range shellBlocks(t, filepath.Join("core/docs", page)) {
			ran++
			if strings.Contains(block, "patchbay restore") {
				restores = append(restores, block)
				continue
			}
			run(page, block)
		}
	}
	// A restore needs a core that has stopped, and an empty data directory unless it is forced.
	r.Stop()
	kit.Must(t, os.Rename(filepath.Join(r.Dir, "data"), filepath.Join(r.Dir, "data.before")))
	for _, block := range restores {
		run("restore", block)
	}
	if ran < 10 || len(restores) == 0 {
		t.Errorf("the pages for operators have %d blocks of commands, %d of them restores; have they moved?", ran, len(restores))
	}
}

// TestPagesForOperatorsAreRun checks that the tests run the commands of each page that index.md lists for those who run Patchbay.
func TestPagesForOperatorsAreRun(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(kit.Root(), "core/docs/index.md"))
	kit.Must(t, err)
	_, run, _ := strings.Cut(string(text), "\n## Run\n")
	run, _, _ = strings.Cut(run, "\n## ")
	links := regexp.MustCompile(`\]\(([a-z-]+\.md)\)`).FindAllStringSubmatch(run, -1)
	if len(links) < 9 {
		t.Errorf("index.md lists %d pages below Run", len(links))
	}
	for _, l := range links {
		if !slices.Contains(runPages, l[1]) && !strings.HasPrefix(l[1], "reference-") {
			t.Errorf("no test runs the commands of %s: add it to runPages", l[1])
		}
	}
}
