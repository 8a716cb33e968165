package host_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/plugin/host"
	"github.com/patchbay-dev/patchbay/core/plugin/testplugin"
	"github.com/patchbay-dev/patchbay/core/testkit"
)

func parentOf(base string) string {
	return filepath.Join(base, fmt.Sprintf("patchbay-%d", os.Getuid()))
}

// socketDirs are the directories of all cores below base.
func socketDirs(t testing.TB, base string) []string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(parentOf(base), "*"))
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}

// linkDirs are the directories of the lives of a host's processes.
func linkDirs(t testing.TB, h *host.Host) []string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(h.SocketDir(), "*"))
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}

func TestSocketDirectory(t *testing.T) {
	base := shortDir(t)
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(parentOf(base), fmt.Sprintf("%d-123", dead.Process.Pid))
	alive := filepath.Join(parentOf(base), fmt.Sprintf("%d-123", os.Getppid()))
	foreign := filepath.Join(parentOf(base), "notes")
	for _, dir := range []string{left, alive, foreign} {
		if err := os.MkdirAll(filepath.Join(dir, "1"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(parentOf(base), 0o755); err != nil {
		t.Fatal(err)
	}
	h := newHost(t, func(c *host.Config) { c.SocketDir = base })
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Error("what a dead core left is still there")
	}
	for _, dir := range []string{alive, foreign} {
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("%s was swept: %v", dir, err)
		}
	}
	for _, dir := range []string{parentOf(base), h.SocketDir()} {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", dir, info.Mode(), err)
		}
	}
	p := start(t, h, testplugin.Spec(testplugin.Well))
	if dirs := linkDirs(t, h); len(dirs) != 1 {
		t.Errorf("directories %v", dirs)
	}
	p.Release()
	if dirs := linkDirs(t, h); len(dirs) != 0 {
		t.Errorf("left after the process: %v", dirs)
	}
	h.Close()
	if _, err := os.Stat(h.SocketDir()); !os.IsNotExist(err) {
		t.Error("left after the host")
	}
}

// The longest directory that New accepts has room for a real socket.
func TestSocketDirectoryTooLong(t *testing.T) {
	base := shortDir(t)
	longest := ""
	for n := 1; n < 108; n++ {
		dir := filepath.Join(base, strings.Repeat("d", n))
		h, err := host.New(host.Config{SocketDir: dir})
		if err != nil {
			if !strings.Contains(err.Error(), "too long for Unix sockets") || !strings.Contains(err.Error(), "socket_dir") {
				t.Fatalf("unclear error: %v", err)
			}
			break
		}
		h.Close()
		longest = dir
	}
	testkit.Require(t, "a short temporary directory", longest != "", "set TMPDIR to a shorter one")
	h := newHost(t, func(c *host.Config) { c.SocketDir = longest })
	p := start(t, h, testplugin.Spec(testplugin.Well))
	defer p.Release()
	mustAnswer(t, p, "a", "ok")
}

func TestChecksums(t *testing.T) {
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	script := filepath.Join(dir, "plugin.sh")
	self := testplugin.Spec(testplugin.Well)
	text := fmt.Sprintf("#!/bin/sh\ntouch '%s'\nexec '%s' '%s' '%s'\n", ran, self.Path, self.Args[0], self.Args[1])
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	sum, err := host.FileDigest(script)
	if err != nil {
		t.Fatal(err)
	}
	wrong := strings.Repeat("0", 64)
	tests := []struct {
		name   string
		path   string
		args   []string
		digest string
		ok     bool
	}{
		{"wrong executable", script, nil, wrong, false},
		{"wrong script", "/bin/sh", []string{script}, wrong, false},
		{"right executable", script, nil, sum, true},
		{"right script", "/bin/sh", []string{script}, "sha256:" + sum, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_ = os.Remove(ran)
			spec := host.Spec{Name: "x", Path: tt.path, Args: tt.args, Env: self.Env, Digests: map[string]string{script: tt.digest}}
			h := newHost(t)
			p, err := h.Open(t.Context(), spec)
			if tt.ok {
				if err != nil {
					t.Fatal(err)
				}
				p.Release()
				return
			}
			if err == nil || !strings.Contains(err.Error(), "checksum mismatch") || !strings.Contains(err.Error(), "plugin.lock.hcl") {
				t.Errorf("got %v", err)
			}
			if _, err := os.Stat(ran); !os.IsNotExist(err) {
				t.Error("a part of the plugin ran")
			}
		})
	}
	spec := host.Spec{Path: "/bin/sh", Args: []string{"-x", script, "relative", dir}}
	if got := spec.Files(); len(got) != 2 || got[0] != "/bin/sh" || got[1] != script {
		t.Errorf("files to pin: %v", got)
	}
}

func TestChecksumChangesWhileRunning(t *testing.T) {
	plugin := newSwitchable(t, testplugin.Well)
	script := plugin.Args[0]
	sum, err := host.FileDigest(script)
	if err != nil {
		t.Fatal(err)
	}
	plugin.Digests = map[string]string{script: sum}
	p := start(t, newHost(t), plugin.Spec)
	defer p.Release()
	f, err := os.OpenFile(script, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = f.WriteString("# changed\n")
	_ = f.Close()
	_, _ = try(p, "a", testplugin.OpCrash)
	eventually(t, func() bool { return p.Status().State == host.Failed }, "the state is failed")
	if msg := p.Status().Message; !strings.Contains(msg, "checksum mismatch") {
		t.Errorf("message %q", msg)
	}
}

func TestSpecKey(t *testing.T) {
	base := host.Spec{Name: "x", Path: "/p", Args: []string{"a", "b"}, Env: []string{"K=secret"}}
	if strings.Contains(base.Key(), "secret") {
		t.Error("the key shows the environment")
	}
	changes := map[string]func(*host.Spec){
		"path":    func(s *host.Spec) { s.Path = "/q" },
		"args":    func(s *host.Spec) { s.Args = []string{"ab"} },
		"joined":  func(s *host.Spec) { s.Args, s.Env = []string{"a"}, []string{"b", "K=secret"} },
		"env":     func(s *host.Spec) { s.Env = []string{"K=other"} },
		"mtls":    func(s *host.Spec) { s.MTLS = true },
		"isolate": func(s *host.Spec) { s.Isolate = "me" },
		"digests": func(s *host.Spec) { s.Digests = map[string]string{"/p": "0"} },
	}
	for name, change := range changes {
		other := base
		change(&other)
		if other.Key() == base.Key() {
			t.Errorf("%s does not change the key", name)
		}
	}
}
