package pin_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
		"plugin.py": "import sys, json, helper\nprint(__name__, __file__, sys.argv[1:], helper.where)\n", "json.py": "print('false library')\n",
		"helper.py": "where = 'beside'\n",
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
	archive := filepath.Join(t.TempDir(), "app.pyz")
	pack := exec.Command(python, "-m", "zipapp", folder, "-m", "helper:main", "-o", archive)
	must(t, os.WriteFile(filepath.Join(folder, "helper.py"),
		[]byte("import sys\nwhere = 'beside'\ndef main(): print(__name__, sys.argv[1:])\n"), 0o600))
	if out, err := pack.CombinedOutput(); err != nil {
		t.Fatalf("pack an archive: %v: %s", err, out)
	}
	if out, err := exec.Command(python, pin.Arguments(python, []string{archive, "one"})...).CombinedOutput(); err != nil ||
		string(out) != "helper ['one']\n" {
		t.Errorf("an archive says %q, %v", out, err)
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
