package documents

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// usePages are the pages for users and for people who move here.
var usePages = []string{
	"search.md", "search-local.md", "mail.md", "releases.md", "containers.md", "notifications.md", "move-from-tavily.md",
	"move-from-mailpit.md", "move-from-watchtower.md", "move-from-octobox.md",
}

// failingCurl makes curl fail for a call that is refused.
const failingCurl = "curl() { command curl --fail-with-body \"$@\"; }\nset -x\n"

// TestMovePagesRun runs the commands of the pages about moving here from a key pool, and from Octobox, on a newcomer's core.
func TestMovePagesRun(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	kit.Must(t, os.WriteFile(filepath.Join(r.Dir, "keys.txt"), []byte("tvly-first\ntvly-second\n"), 0o600))
	out := r.shell(failingCurl + strings.Join(bashBlocks(t, "core/docs/move-from-tavily.md"), "\n"))
	kit.Contains(t, out, "created", "active", "th-")
	key := strings.TrimSpace(r.User("scripts@example.com", "admin"))
	out = r.shell("KEY=" + key + "\n" + failingCurl + strings.Join(bashBlocks(t, "core/docs/move-from-octobox.md"), "\n"))
	kit.Contains(t, out, `"followed":["golang/go","gin-gonic/gin"]`)
}

// TestMoveFromMailpitRuns configures the mail service as move-from-mailpit.md does. Its commands enable the catch-all of a domain, after
// which a message to an unknown address arrives, and wait for the code in it.
func TestMoveFromMailpitRuns(t *testing.T) {
	t.Parallel()
	const page = "core/docs/move-from-mailpit.md"
	text, err := os.ReadFile(filepath.Join(kit.Root(), page))
	kit.Must(t, err)
	hcl := strings.Replace(hclBlock.FindStringSubmatch(string(text))[1], "127.0.0.1:1025", "127.0.0.1:0", 1)
	c := kit.StartCore(t, hcl, "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false")
	r := &reader{Core: c, t: t}
	_, err = exec.LookPath("jq")
	testkit.Require(t, "jq", err == nil, "install jq")
	blocks := bashBlocks(t, page)
	if len(blocks) != 3 {
		t.Fatalf("%s has %d blocks of commands, want 3", page, len(blocks))
	}
	out := r.shell(failingCurl + strings.ReplaceAll(blocks[0], "bin/patchbay", kit.Built.Core) + blocks[1] + `
printf 'From: shop@example.com\nTo: joe@example.test\nSubject: Your code is 428319\n\nHello.\n' |
  curl -s --crlf smtp://127.0.0.1:2525 --mail-from shop@example.com --mail-rcpt joe@example.test -T -
BOX=joe@example.test
` + blocks[2])
	// The page shows these members of the answers.
	kit.Contains(t, out, `"code":"428319","source":"subject","messageId":"msg_`, `"receivedAt":"`, `"address":"`, `"expiresAt":"`)
}
