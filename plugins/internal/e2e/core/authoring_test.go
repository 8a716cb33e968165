package core

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// fenced finds the code blocks of a document: language, the name of the file that it is, and text.
var fenced = regexp.MustCompile("(?ms)^```(\\w+)(?: (\\S+))?\n(.*?)^```$")

// asTyped makes a script of a document: its shell blocks as they are printed, and the files that it shows where they stand.
// What a command has made already must be what the document shows.
func asTyped(t *testing.T, document string) string {
	t.Helper()
	var script strings.Builder
	script.WriteString("set -eu\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n")
	shells := 0
	for _, b := range fenced.FindAllStringSubmatch(document, -1) {
		language, file, text := b[1], b[2], b[3]
		switch {
		case language == "sh":
			shells++
			script.WriteString(text)
			if strings.Contains(text, "kill -HUP") {
				// A reader sees in the terminal when the core is done.
				script.WriteString("until grep -q 'configuration reloaded\\|reload failed' \"$TERMINAL\"; do sleep 0.1; done\n")
			}
		case file != "":
			fmt.Fprintf(&script, "cat > .printed <<'END OF FILE'\n%sEND OF FILE\n", text)
			fmt.Fprintf(&script, "if [ -e %[1]s ]; then diff -u %[1]s .printed; else mv .printed %[1]s; fi\n", file)
		}
	}
	if shells < 5 {
		t.Fatalf("the document has %d shell blocks", shells)
	}
	return script.String()
}

// The commands of AUTHORING.md, typed one after the other in an empty folder, lead to a plugin that runs.
// Only the address at which the core listens is another one.
func TestAuthoringCommandsWorkAsPrinted(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"bash", "curl", "sed", "diff"} {
		_, err := exec.LookPath(program)
		testkit.Require(t, program, err == nil, "install "+program)
	}
	text, err := os.ReadFile(filepath.Join(kit.Root(), "sdk", "docs", "AUTHORING.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir, addr := t.TempDir(), testkit.FreeAddress(t)
	sockets, err := os.MkdirTemp("", "pb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(sockets) })
	script := strings.ReplaceAll(asTyped(t, string(text)), "localhost:50883", addr) + "wait\n"
	out, err := typed(t, dir, script,
		"PATH="+filepath.Dir(kit.Built.Core)+string(os.PathListSeparator)+os.Getenv("PATH"),
		"SVC_HTTP_ADDR="+addr, "SVC_ADMIN_ADDR="+testkit.FreeAddress(t), "SVC_SOCKET_DIR="+sockets, "GOWORK=off", "GOFLAGS=-mod=mod",
		// The modules are in the cache, and were verified when they came there: the SDK has been built.
		"GOSUMDB=off", "GOPROXY=file://"+goEnv(t, "GOMODCACHE")+"/cache/download,"+goEnv(t, "GOPROXY"))
	if err != nil {
		t.Fatalf("the commands end with %v:\n%s", err, out)
	}
	kit.Contains(t, out,
		"ok  \texample.com/bookmarks", `"patchbay.search.v1.Search"`, "ok    samples/streams", "ok    samples/unary", "bookmarks sha256:",
		"Searches a few pages.", "The configuration is valid.", `"url":"https://example.com/haste"`,
		"checksum", "refused, as it should be", "configuration reloaded", "Searches my bookmarks.")
	if strings.Contains(out, "FAIL") {
		t.Errorf("a check failed:\n%s", out)
	}
}

// typed runs a script and returns all that appeared in the terminal.
func typed(t *testing.T, dir, script string, env ...string) (string, error) {
	t.Helper()
	terminal, err := os.Create(filepath.Join(t.TempDir(), "terminal"))
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	ctx, cancel := context.WithTimeout(t.Context(), kit.Patience*5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, terminal, terminal
	cmd.Env = append(append(os.Environ(), "TERMINAL="+terminal.Name()), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	failed := cmd.Run()
	out, err := os.ReadFile(terminal.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(out), failed
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
