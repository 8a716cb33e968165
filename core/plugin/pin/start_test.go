package pin_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/plugin/pin"
)

// TestMain makes the test binary a program that says how it was started, if it is not run as a test.
func TestMain(m *testing.M) {
	if os.Getenv("PATCHBAY_TEST_PROGRAM") != "" {
		self, err := os.Executable()
		if err != nil {
			panic(err)
		}
		_, _ = os.Stdout.WriteString("first " + os.Args[0] + " " + self + "\n")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestUseFileRunsTheOpenFile puts another file under the name of a pinned one before it starts: what was opened runs, as a program and as a
// script.
func TestUseFileRunsTheOpenFile(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("only Linux starts a program by its descriptor")
	}
	self, err := os.Executable()
	must(t, err)
	program, err := os.ReadFile(self)
	must(t, err)
	for name, c := range map[string]struct{ content, want string }{
		"program": {string(program), "first PATH PATH\n"},
		"script":  {"#!/bin/sh\necho first \"${0##*/}\" \"$1\"\n", "first plugin one\n"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "plugin")
			must(t, os.WriteFile(path, []byte(c.content), 0o700))
			f, _, err := pin.OpenFile(path)
			must(t, err)
			defer f.Close()
			must(t, os.WriteFile(path+".next", []byte("#!/bin/sh\necho other\n"), 0o700))
			cmd := exec.Command(path, "one")
			cmd.Env = []string{"PATCHBAY_TEST_PROGRAM=1"}
			must(t, pin.UseFile(cmd, f, t.TempDir()))
			must(t, os.Rename(path, path+".moved"))
			must(t, os.Rename(path+".next", path))
			out, err := cmd.CombinedOutput()
			if want := strings.Replace(strings.Replace(c.want, "PATH", path, 1), "PATH", path+".moved", 1); err != nil || string(out) != want {
				t.Errorf("it says %q, %v; want %q", out, err, want)
			}
		})
	}
}

// TestPythonPrefersLibraries runs a script beside files that are called like libraries: they are not imported, and no compiled code is
// written. What is only there is found.
func TestPythonPrefersLibraries(t *testing.T) {
	python, err := exec.LookPath("python3")
	testkit.Require(t, "python3", err == nil, "install Python 3.11 or newer")
	found, err := exec.Command(python, "-c", "import sys; print(sys.executable, end='')").Output()
	must(t, err)
	python = string(found)
	folder := filepath.Join(t.TempDir(), "plugin")
	must(t, os.Mkdir(folder, 0o700))
	for name, text := range map[string]string{
		"plugin.py": "import sys, json, helper\nprint(__name__, __file__, sys.argv[1:], helper.where)\n", "json.py": "print('false library')\n", "helper.py": "where = 'beside'\n",
	} {
		must(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	script, link := filepath.Join(folder, "plugin.py"), filepath.Join(t.TempDir(), "interpreter")
	must(t, os.Symlink(python, link))
	for _, interpreter := range []string{python, link} {
		cmd := exec.Command(interpreter, pin.Arguments(interpreter, []string{"-u", script, "-c", "x"})...)
		cmd.Dir = folder
		out, err := cmd.CombinedOutput()
		if want := "__main__ " + script + " ['-c', 'x'] beside\n"; err != nil || string(out) != want {
			t.Errorf("it says %q, %v; want %q", out, err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(folder, "__pycache__")); err == nil {
		t.Error("compiled code was written")
	}
	shebang := filepath.Join(folder, "direct.py")
	must(t, os.WriteFile(shebang, []byte("#!/usr/bin/env python3\nimport json\nprint('library')\n"), 0o700))
	f, _, err := pin.OpenFile(shebang)
	must(t, err)
	defer f.Close()
	cmd := exec.Command(shebang)
	cmd.Env = os.Environ()
	must(t, pin.UseFile(cmd, f, t.TempDir()))
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "library\n" {
		t.Errorf("by its first line it says %q, %v", out, err)
	}
	for _, args := range [][]string{{"-m", "plugin", script}, {"-c", "pass", script}, {"plugin.py"}, {}} {
		if got := pin.Arguments(python, args); !slices.Equal(got, append([]string{"-B", "-P"}, args...)) {
			t.Errorf("%q are started as %q", args, got)
		}
	}
	if got := pin.Arguments("/usr/bin/node", []string{script}); !slices.Equal(got, []string{script}) {
		t.Errorf("another interpreter gets %q", got)
	}
}
