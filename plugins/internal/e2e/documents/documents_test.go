package documents

import (
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/codehost/github/githubtest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

var shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// shellBlocks returns the shell commands of a document, a text for each block, without those that build and start Patchbay.
func shellBlocks(t *testing.T, path string) (blocks []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(kit.Root(), path))
	kit.Must(t, err)
	for _, m := range shellBlock.FindAllStringSubmatch(string(text), -1) {
		if !strings.HasPrefix(m[1], "make ") && !strings.HasPrefix(m[1], "git clone") {
			blocks = append(blocks, m[1])
		}
	}
	return blocks
}

// reader is a newcomer's core with its commands below bin, and a double of the code host, as a reader of the documents has them.
type reader struct {
	*kit.Core
	t *testing.T
}

func newReader(t *testing.T, env ...string) *reader {
	t.Helper()
	_, missing := exec.LookPath("curl")
	testkit.Require(t, "curl", missing == nil, "install curl")
	hub := githubtest.New(t)
	hub.AddRepo(githubtest.Repo{FullName: "golang/go", ID: 23096959})
	hub.Change(func(s *githubtest.Server) {
		s.Content("golang/go").Releases = []*githubtest.Release{{ID: 1, Tag: "go1.25.4", Body: "Fixes", At: time.Now().Add(-time.Hour)}}
	})
	text, err := os.ReadFile(filepath.Join(kit.Root(), "plugin.hcl"))
	kit.Must(t, err)
	hcl := strings.NewReplacer("127.0.0.1:2525", "127.0.0.1:0",
		`codehost "github" "hub" {}`, fmt.Sprintf("codehost \"github\" \"hub\" {\n  config {\n    base_url = %q\n  }\n}",
			hub.URL)).Replace(string(text))
	c := kit.NewCore(t, hcl, append(env, "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false")...)
	kit.CopyDocuments(t, c.Dir)
	kit.Must(t, os.Mkdir(filepath.Join(c.Dir, "bin"), 0o700))
	kit.Must(t, os.Symlink(kit.Built.Core, filepath.Join(c.Dir, "bin", "patchbay")))
	c.Start()
	t.Cleanup(c.Stop)
	return &reader{Core: c, t: t}
}

// shell runs commands as they stand in a document, but for the addresses, in the folder of the core, and returns what they print.
// Variables that a former call has set are still there.
func (r *reader) shell(script string) string {
	r.t.Helper()
	script = strings.ReplaceAll(script, "localhost:50883", strings.TrimPrefix(r.Base, "http://"))
	if strings.Contains(script, "127.0.0.1:2525") {
		script = strings.ReplaceAll(script, "127.0.0.1:2525", r.SMTPAddress())
	}
	state := filepath.Join(r.Dir, ".variables")
	const keep = "if [ -f %[1]q ]; then . %[1]q; fi; trap 'declare -p KEY TOKEN > %[1]q 2>/dev/null || true' EXIT\n%[2]s"
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", fmt.Sprintf(keep, state, script))
	cmd.Dir, cmd.Env = r.Dir, r.Env
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("%v\n%s\n%s", err, script, out)
	}
	return string(out)
}

// followSetupLink opens the set-up link that the core has printed, and reports whether it still leads into the console.
func (r *reader) followSetupLink() bool {
	r.t.Helper()
	_, token, _ := strings.Cut(r.SetupPath(), "?token=")
	jar, err := cookiejar.New(nil)
	kit.Must(r.t, err)
	browser := &http.Client{Jar: jar}
	resp, err := browser.PostForm(r.Base+"/system/setup/look-around", url.Values{"token": {token}})
	kit.Must(r.t, err)
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// getStartedPrints are texts that the commands of get-started.md print, in the order of its blocks.
var getStartedPrints = []string{"scripts@example.com", `"hourlyRequests":1`, `"code":"428319"`, "go1.25.4"}

// TestGetStartedCommandsRun runs the commands of get-started.md as they stand, up to those that need a container engine.
func TestGetStartedCommandsRun(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	blocks := shellBlocks(t, "core/docs/get-started.md")
	if len(blocks) < len(getStartedPrints) {
		t.Fatalf("get-started.md has %d blocks of commands besides the build, want %d at least", len(blocks), len(getStartedPrints))
	}
	for i, want := range getStartedPrints {
		kit.Contains(t, r.shell(blocks[i]), want)
	}
}

var exampleCall = regexp.MustCompile("`(curl [^`]+)`")

// exampleCalls returns the calls in the tables of a document, without those that follow a stream.
func exampleCalls(t *testing.T, path string) (calls []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(kit.Root(), path))
	kit.Must(t, err)
	for line := range strings.Lines(string(text)) {
		for _, m := range exampleCall.FindAllStringSubmatch(line, -1) {
			if strings.HasPrefix(line, "|") && !strings.HasPrefix(m[1], "curl -sN") {
				calls = append(calls, m[1])
			}
		}
	}
	return calls
}

// servicePages are the pages of services, with the commands that find the ids of their examples, and the fewest example calls.
var servicePages = []struct {
	page, find string
	calls      int
}{
	{"search.md", `ID=${TOKEN:3:4}
REQUEST=$(curl -s $S/api/proxy/research -H "$T" -H "$J" -d '{"input":"quota"}' | sed 's/.*"request_id":"\([^"]*\)".*/\1/')
`, 16},
	{"mail.md", `ID=$(curl -s "$M/api/mailboxes/resolve?address=signup@mail.localhost" -H "$A" | sed 's/.*"id":"\(mbx_[^"]*\)".*/\1/')
MSG=$(curl -s "$M/api/messages?mailbox=signup@mail.localhost" -H "$A" | sed 's/.*"id":"\(msg_[^"]*\)".*/\1/')
DOMAIN=$(curl -s $M/api/domains -H "$A" | sed 's/.*"id":"\(dom_[^"]*\)".*/\1/')
`, 16},
	{"releases.md", `curl -s $R/api/repos/following -H "$A" -H "$J" -d '{"name":"golang/go"}'
curl -s -X POST $R/api/sync/releases -H "$A"
ID=$(curl -s "$R/api/feed?types=releases" -H "$A" | sed 's/.*"id":"\([0-9]*\)".*/\1/')
`, 14},
}

// TestServicePagesRun runs the commands and the example calls of each service's page as they stand. A call that is refused fails.
func TestServicePagesRun(t *testing.T) {
	t.Parallel()
	for _, p := range servicePages {
		t.Run(p.page, func(t *testing.T) {
			t.Parallel()
			r := newReader(t)
			path := "core/docs/" + p.page
			calls := exampleCalls(t, path)
			if len(calls) < p.calls {
				t.Errorf("%s has %d example calls, want %d at least", p.page, len(calls), p.calls)
			}
			r.shell("curl() { command curl --fail-with-body \"$@\"; }\nKEY=" + strings.TrimSpace(r.User("scripts@example.com", "admin")) +
				"\nset -x\n" + strings.Join(shellBlocks(t, path), "\n") + p.find + strings.Join(calls, "\n"))
		})
	}
}

// readmeSections are the parts of the README that a newcomer may try in any order, with what each prints.
var readmeSections = []struct{ command, prints string }{
	{"patchbay token create", `"url":"file:core/docs/`},
	{"patchbay mailbox create", "428319"},
	{"patchbay reload", ""},
}

// TestReadmeCommandsRun runs the commands of README.md as they stand, in the order given and backwards. Afterwards the set-up link
// still makes the first administrator, and the feed has the release.
func TestReadmeCommandsRun(t *testing.T) {
	t.Parallel()
	blocks := shellBlocks(t, "README.md")
	if len(blocks) != len(readmeSections) {
		t.Fatalf("README.md has %d blocks of commands besides the build, want %d", len(blocks), len(readmeSections))
	}
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			t.Parallel()
			r := newReader(t)
			for _, i := range order {
				kit.Contains(t, blocks[i], readmeSections[i].command)
				kit.Contains(t, r.shell(blocks[i]), readmeSections[i].prints)
			}
			if !r.followSetupLink() {
				t.Error("the set-up link does not work after the commands of README.md")
			}
			key := r.CLI("user", "create", "-email", "you@example.com", "-name", "You")
			if got := r.ReleasesAPI(t, key, http.MethodPost, "sync/releases", ""); got.Status != http.StatusOK {
				t.Errorf("sync of the releases: status %d: %s", got.Status, got.Body)
			}
			kit.Contains(t, r.ReleasesAPI(t, key, http.MethodGet, "feed", "").Body, "go1.25.4")
		})
	}
}

// TestReadmeIsShort: a reader sees in sixty lines what Patchbay is, and works with it; links follow.
func TestReadmeIsShort(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(kit.Root(), "README.md"))
	kit.Must(t, err)
	lines := strings.Split(string(text), "\n")
	if at := slices.Index(lines, "## Read on"); at < 0 || at > 60 {
		t.Errorf("the links of README.md begin at line %d, want at most 60", at+1)
	}
}
