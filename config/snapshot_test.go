package config_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/config"
)

// replaceForever names the file that the test binary replaces until it is killed.
const replaceForever = "PATCHBAY_TEST_REPLACE"

func TestMain(m *testing.M) {
	if path := os.Getenv(replaceForever); path != "" {
		fmt.Println(replaceUntilKilled(path))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// longText is a text that takes a while to write.
func longText(letter string) []byte { return []byte(strings.Repeat("# "+letter+"\n", 200_000)) }

func replaceUntilKilled(path string) error {
	for n := 0; ; n++ {
		s, err := config.ReadSnapshot(path)
		if err != nil {
			return err
		}
		fmt.Println("replace", n)
		if _, err := s.Replace(longText([]string{"a", "b"}[n%2])); err != nil {
			return err
		}
	}
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func snapshot(t *testing.T, path string) *config.Snapshot {
	t.Helper()
	s, err := config.ReadSnapshot(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestReplaceKeepsModeAndLink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real", "house.hcl"), filepath.Join(dir, "plugin.hcl")
	if err := os.Mkdir(filepath.Dir(real), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, real, "old", 0o640)
	if err := os.Symlink(filepath.Join("real", "house.hcl"), link); err != nil {
		t.Fatal(err)
	}
	s := snapshot(t, link)
	if s.ReadOnly() != "" {
		t.Errorf("it is read-only: %s", s.ReadOnly())
	}
	next, err := s.Replace([]byte("new"))
	if err != nil {
		t.Fatal(err)
	}
	if read(t, link) != "new" || next.Digest() == s.Digest() || string(next.Text) != "new" {
		t.Errorf("the file has %q", read(t, link))
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
	if info, err := os.Stat(real); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v", info.Mode())
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "real", ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestReplaceRefusesAConcurrentEdit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plugin.hcl")
	write(t, path, "old", 0o600)
	s := snapshot(t, path)
	write(t, path, "by hand", 0o600)
	if _, err := s.Replace([]byte("new")); !errors.Is(err, config.ErrChanged) {
		t.Errorf("got %v", err)
	}
	if read(t, path) != "by hand" {
		t.Errorf("the file has %q", read(t, path))
	}
}

func TestReadOnly(t *testing.T) {
	dir := t.TempDir()
	json, file := filepath.Join(dir, "plugin.hcl.json"), filepath.Join(dir, "plugin.hcl")
	write(t, json, "{}", 0o600)
	write(t, file, "", 0o444)
	for path, want := range map[string]config.ReadOnlyReason{json: config.ReadOnlyJSON, file: config.ReadOnlyFile,
		"/proc/self/status": config.ReadOnlyFile} {
		if got := snapshot(t, path).ReadOnly(); got != want {
			t.Errorf("%s: %q", path, got)
		}
	}
	if _, err := config.ReadSnapshot(dir); err == nil {
		t.Error("a folder was read")
	}
	if _, err := config.ReadSnapshot(filepath.Join(dir, "none")); err == nil {
		t.Error("a file that is not there was read")
	}
}

func TestBackupsAreBounded(t *testing.T) {
	dir := t.TempDir()
	path, backups := filepath.Join(dir, "plugin.hcl"), filepath.Join(dir, "data", "configurations")
	for i := range 7 {
		write(t, path, fmt.Sprint("text ", i), 0o644)
		if _, err := snapshot(t, path).Backup(backups, fmt.Sprint("2026010", i), 3); err != nil {
			t.Fatal(err)
		}
	}
	all, err := snapshot(t, path).Backups(backups)
	if err != nil || len(all) != 3 || read(t, all[0]) != "text 6" || read(t, all[2]) != "text 4" {
		t.Errorf("%v, %v", all, err)
	}
	if info, err := os.Stat(all[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %v", info.Mode())
	}
}

// TestReplaceSurvivesKill kills a process that replaces a file all the time. The file is always the one text or the other, whole, and
// what a killed process leaves goes with the next replacement.
func TestReplaceSurvivesKill(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "plugin.hcl")
	write(t, path, string(longText("a")), 0o600)
	for round := range 10 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), replaceForever+"="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for n := 0; n <= round && lines.Scan(); n++ {
			if !strings.HasPrefix(lines.Text(), "replace") {
				t.Fatal(lines.Text())
			}
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if got := []byte(read(t, path)); !bytes.Equal(got, longText("a")) && !bytes.Equal(got, longText("b")) {
			t.Fatalf("the file has %d bytes that nobody wrote", len(got))
		}
	}
	if _, err := snapshot(t, path).Replace([]byte("")); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestDifference shows what changes, with comments and without secrets.
func TestDifference(t *testing.T) {
	const old = `# the house
search "remote" "web" {
  config {
    token = "s3cret-literal" # from the portal
    base_url = "https://a.example"
    unknown = "s3cret-unknown"
  }
}
# password = "s3cret-comment"


# far away 1
# far away 2
# far away 3
# far away 4
service "search" {
  backend = search.web
}
`
	next := strings.NewReplacer(`"s3cret-literal"`, `env("WEB_TOKEN")`, "a.example", "b.example", "search.web\n}",
		"search.web\n  base_url = \"/s\"\n}").Replace(old)
	load := func(text string) *config.File {
		opts := options(t)
		opts.ReadFile = func(string) ([]byte, error) { return []byte(text), nil }
		file, _ := config.Load("plugin.hcl", func(string) (string, bool) { return "", false }, opts)
		for _, in := range file.Instances {
			_, _ = file.DecodeInstance(in, pluginSchema(t, in.Plugin))
		}
		return file
	}
	got := load(old).Difference(load(next))
	want := `@@ -1,8 +1,8 @@
 # the house
 search "remote" "web" {
   config {
-    token = … # from the portal
-    base_url = "https://a.example"
+    token = env("WEB_TOKEN") # from the portal
+    base_url = "https://b.example"
     unknown = …
   }
 }
@@ -15,4 +15,5 @@
 # far away 4
 service "search" {
   backend = search.web
+  base_url = "/s"
 }
`
	if got != want {
		t.Errorf("got\n%s", got)
	}
	if diff := load(old).Difference(load(old)); diff != "" {
		t.Errorf("nothing changed, and the difference is\n%s", diff)
	}
	if strings.Contains(load(old).Difference(load("")), "s3cret") {
		t.Error("a secret is shown")
	}
}
