package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
	"github.com/patchbay-dev/patchbay/core/plugin/host"
	"github.com/patchbay-dev/patchbay/core/plugin/pin"
)

// socketDirs are the directories of all cores below base.
func socketDirs(t testing.TB, base string) []string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(base, "patchbay-*"))
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
	base := testplugin.ShortDir(t)
	left := filepath.Join(base, "patchbay-abcdefgh2345")
	foreign := filepath.Join(base, "patchbay-notes")
	for _, dir := range []string{left, foreign} {
		if err := os.MkdirAll(filepath.Join(dir, "1"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(base, "patchbay-linklinkline")
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	alive := testplugin.NewHost(t, func(c *host.Config) { c.SocketDir = base })
	h := testplugin.NewHost(t, func(c *host.Config) { c.SocketDir = base })
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Error("what a dead core left is still there")
	}
	for _, dir := range []string{alive.SocketDir(), foreign, link} {
		if _, err := os.Lstat(dir); err != nil {
			t.Errorf("%s was swept: %v", dir, err)
		}
	}
	if info, err := os.Lstat(h.SocketDir()); err != nil || info.Mode() != os.ModeDir|0o700 || filepath.Dir(h.SocketDir()) != base {
		t.Errorf("%s: %v, %v", h.SocketDir(), info.Mode(), err)
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

// A directory that somebody else could change, or that is too long, is not used, and does not keep the core from starting.
func TestUnsafeSocketDirectories(t *testing.T) {
	base := testplugin.ShortDir(t)
	mkdir := func(name string, mode os.FileMode) string {
		dir := filepath.Join(base, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	open := mkdir("open", 0o777)
	// The owner of a directory could put a link to a safe one there, and another one later.
	if err := os.Symlink(testplugin.ShortDir(t), filepath.Join(open, "link")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(base, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, dir, reason string }{
		{"writable for all", open, "others may write"},
		{"below one that is writable for all", filepath.Join(open, "below"), "others may write"},
		{"no directory", file, "no directory"},
		{"too long", filepath.Join(base, strings.Repeat("d", 60)), "too long for Unix sockets"},
	}
	if os.Getuid() == 0 {
		other := mkdir("other", 0o700)
		if err := os.Chown(other, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		tests = append(tests, struct{ name, dir, reason string }{"another user's", other, "another user (uid 65534)"})
	}
	t.Setenv("XDG_RUNTIME_DIR", open)
	data := testplugin.ShortDir(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var log logBuffer
			h := testplugin.NewHost(t, func(c *host.Config) {
				c.SocketDir, c.DataDir = tt.dir, data
				c.Logger = hclog.New(&hclog.LoggerOptions{Output: &log})
			})
			if dir := h.SocketDir(); strings.HasPrefix(dir, base) {
				t.Errorf("uses %s", dir)
			}
			if text := log.String(); !strings.Contains(text, tt.reason) || !strings.Contains(text, "socket_dir not usable") {
				t.Errorf("log: %s", text)
			}
			p := start(t, h, testplugin.Spec(testplugin.Well))
			defer p.Release()
			mustAnswer(t, p, "a", "ok")
		})
	}
	if left := socketDirs(t, open); len(left) != 0 {
		t.Errorf("left in a directory that is not used: %v", left)
	}
}

// The longest directory that is used has room for a real socket.
func TestLongestSocketDirectory(t *testing.T) {
	base := testplugin.ShortDir(t)
	longest := ""
	for n := 1; n < 108; n++ {
		dir := filepath.Join(base, strings.Repeat("d", n))
		h := testplugin.NewHost(t, func(c *host.Config) { c.SocketDir = dir })
		h.Close()
		if !strings.HasPrefix(h.SocketDir(), dir+"/") {
			break
		}
		longest = dir
	}
	testkit.Require(t, "a short temporary directory", longest != "", "set TMPDIR to a shorter one")
	h := testplugin.NewHost(t, func(c *host.Config) { c.SocketDir = longest })
	p := start(t, h, testplugin.Spec(testplugin.Well))
	defer p.Release()
	mustAnswer(t, p, "a", "ok")
}

func TestAddressesElsewhereAreRefused(t *testing.T) {
	for _, mode := range []string{testplugin.OverTCP, testplugin.Elsewhere} {
		_, err := testplugin.NewHost(t).Open(t.Context(), testplugin.Spec(mode))
		if err == nil || !strings.Contains(err.Error(), "must listen on a Unix socket in the directory") {
			t.Errorf("%s: %v", mode, err)
		}
	}
}

// A wrapper that stays the parent of the plugin is part of what was started.
func TestPluginBehindAWrapper(t *testing.T) {
	self := testplugin.Spec(testplugin.Well)
	script := filepath.Join(t.TempDir(), "wrapper.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n'"+self.Path+"' \"$@\"\nexit $?\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	p := start(t, testplugin.NewHost(t), host.Spec{Name: "wrapped", Path: script, Args: self.Args, Env: self.Env})
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
	sum, err := pin.FileDigest(script)
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
			h := testplugin.NewHost(t)
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
}

func TestChecksumChangesWhileRunning(t *testing.T) {
	plugin := newSwitchable(t, testplugin.Well)
	script := plugin.Args[0]
	sum, err := pin.FileDigest(script)
	if err != nil {
		t.Fatal(err)
	}
	plugin.Digests = map[string]string{script: sum}
	p := start(t, testplugin.NewHost(t), plugin.Spec)
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

// A plugin that failed for a file is started again when the file is right again.
func TestFailureEndsWithItsCause(t *testing.T) {
	plugin := newSwitchable(t, testplugin.Well)
	script := plugin.Args[0]
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := pin.FileDigest(script)
	if err != nil {
		t.Fatal(err)
	}
	plugin.Digests = map[string]string{script: sum}
	p := start(t, testplugin.NewHost(t, func(c *host.Config) { c.FileInterval = 10 * time.Millisecond }), plugin.Spec)
	defer p.Release()
	for name, spoil := range map[string]func() error{
		"changed": func() error { return os.WriteFile(script, append(text, "# changed\n"...), 0o700) },
		"missing": func() error { return os.Remove(script) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		_, _ = try(p, "a", testplugin.OpCrash)
		eventually(t, func() bool { return p.Status().State == host.Failed }, "the state is failed: "+name)
		if err := os.WriteFile(script, text, 0o700); err != nil {
			t.Fatal(err)
		}
		eventually(t, func() bool { return p.Status().State == host.Ready }, "it is ready again: "+name)
		mustAnswer(t, p, "a", "ok")
	}
}

// Whoever opens a failed plugin anew has it started at once, whatever changed.
func TestFailedPluginIsStartedForANewUser(t *testing.T) {
	plugin := newSwitchable(t, testplugin.Well)
	p := start(t, testplugin.NewHost(t), plugin.Spec)
	defer p.Release()
	plugin.set(t, testplugin.WrongVersion)
	_, _ = try(p, "a", testplugin.OpCrash)
	eventually(t, func() bool { return p.Status().State == host.Failed }, "the state is failed")
	plugin.set(t, testplugin.Well)
	again := open(t, p.Host(), plugin.Spec)
	defer again.Release()
	eventually(t, func() bool { return p.Status().State == host.Ready }, "it is ready again")
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
		"start":   func(s *host.Spec) { s.StartTimeout = time.Minute },
		"isolate": func(s *host.Spec) { s.Isolate = "me" },
		"digests": func(s *host.Spec) { s.Digests = map[string]string{"/p": "0"} },
		"trees":   func(s *host.Spec) { s.Trees = map[string]string{"/p": "0"} },
	}
	for name, change := range changes {
		other := base
		change(&other)
		if other.Key() == base.Key() {
			t.Errorf("%s does not change the key", name)
		}
	}
}
