package pin_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/plugin/pin"
)

// newTree makes a folder as a plugin in Node has it: a script, a library in node_modules, a link to a program of it, and a link to a
// library elsewhere, whose folder is returned too.
func newTree(t *testing.T) (folder, elsewhere string) {
	t.Helper()
	folder, elsewhere = filepath.Join(t.TempDir(), "plugin"), filepath.Join(t.TempDir(), "library")
	for path, text := range map[string]string{
		folder + "/plugin.mjs": "import 'a'", folder + "/node_modules/a/index.js": "a", folder + "/node_modules/a/bin.js": "bin",
		elsewhere + "/b/index.js": "b",
	} {
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	must(t, os.Mkdir(folder+"/node_modules/.bin", 0o700))
	must(t, os.Symlink("../a/bin.js", folder+"/node_modules/.bin/a"))
	must(t, os.Symlink(elsewhere, folder+"/node_modules/library"))
	must(t, os.Symlink(folder, elsewhere+"/back"))
	return folder, elsewhere
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestTreeDigestCoversEverything changes whatever an interpreter could load.
func TestTreeDigestCoversEverything(t *testing.T) {
	for name, change := range map[string]func(folder, elsewhere string) error{
		"script":       func(f, _ string) error { return os.WriteFile(f+"/plugin.mjs", []byte("import 'b'"), 0o600) },
		"library":      func(f, _ string) error { return os.WriteFile(f+"/node_modules/a/index.js", []byte("x"), 0o600) },
		"added":        func(f, _ string) error { return os.WriteFile(f+"/node_modules/a/package.json", nil, 0o600) },
		"added beside": func(f, _ string) error { return os.WriteFile(f+"/grpc.py", []byte("x"), 0o600) },
		"removed":      func(f, _ string) error { return os.Remove(f + "/node_modules/a/bin.js") },
		"renamed":      func(f, _ string) error { return os.Rename(f+"/node_modules/a", f+"/node_modules/c") },
		"executable":   func(f, _ string) error { return os.Chmod(f+"/node_modules/a/bin.js", 0o700) },
		"link": func(f, _ string) error {
			return errors.Join(os.Remove(f+"/node_modules/.bin/a"), os.Symlink("../a/index.js", f+"/node_modules/.bin/a"))
		},
		"behind a link":  func(_, e string) error { return os.WriteFile(e+"/b/index.js", []byte("x"), 0o600) },
		"link elsewhere": func(f, _ string) error { return os.Symlink("/etc/hostname", f+"/name") },
	} {
		t.Run(name, func(t *testing.T) {
			folder, elsewhere := newTree(t)
			before, err := pin.TreeDigest(folder)
			must(t, err)
			if again, err := pin.TreeDigest(folder); err != nil || again != before {
				t.Fatalf("an unchanged folder has %s and %s, %v", before, again, err)
			}
			state := pin.TreeState(folder)
			must(t, change(folder, elsewhere))
			if after, err := pin.TreeDigest(folder); err != nil || after == before {
				t.Errorf("the digest is the same, %v", err)
			}
			if name != "behind a link" && pin.TreeState(folder) == state {
				t.Error("the state is the same")
			}
		})
	}
}

// TestTreeDigestRefuses makes folders that have no digest.
func TestTreeDigestRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		make func(folder, elsewhere string) error
		want string
	}{
		"compiled":               {func(f, _ string) error { return os.Mkdir(f+"/node_modules/__pycache__", 0o700) }, "holds compiled code"},
		"compiled behind a link": {func(_, e string) error { return os.Mkdir(e+"/b/__pycache__", 0o700) }, "holds compiled code"},
		"socket":                 {func(f, _ string) error { return listen(t, f+"/s") }, "neither a file nor a folder"},
		"link to a socket": {func(f, e string) error { return errors.Join(listen(t, e+"/s"), os.Symlink(e+"/s", f+"/s")) },
			"neither a file nor a folder"},
		"many files": {func(f, _ string) error {
			for n := range pin.MaxFiles {
				if err := os.Symlink("plugin.mjs", fmt.Sprint(f, "/", n)); err != nil {
					return err
				}
			}
			return nil
		}, "more than 20000 files"},
		"gone": {func(f, _ string) error { return os.RemoveAll(f) }, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			folder, elsewhere := newTree(t)
			must(t, c.make(folder, elsewhere))
			if digest, err := pin.TreeDigest(folder); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("it has %q, %v; want %q", digest, err, c.want)
			}
		})
	}
}

func listen(t *testing.T, path string) error {
	l, err := net.Listen("unix", path)
	if err == nil {
		t.Cleanup(func() { _ = l.Close() })
	}
	return err
}

// TestSystemFolders tells folders of the system from those of a plugin.
func TestSystemFolders(t *testing.T) {
	t.Setenv("HOME", "/srv/ann")
	for folder, refused := range map[string]bool{
		"/": true, "/etc": true, "/tmp": true, "/opt": true, "/usr": true, "/usr/bin": true, "/usr/local/bin": true, "/usr/local/lib": true,
		"/var/lib": true, "/home/u1": true, "/srv/ann": true, "/proc/self": true,
		"/etc/patchbay": false, "/opt/plugin": false, "/usr/lib/patchbay": false, "/usr/local/lib/plugin": false, "/var/lib/patchbay": false,
		"/home/u1/plugin": false, "/srv/ann/plugin": false, "/plugins": false, t.TempDir(): false,
	} {
		if err := pin.CheckFolder(folder); (err != nil) != refused {
			t.Errorf("%s: %v", folder, err)
		}
	}
}
