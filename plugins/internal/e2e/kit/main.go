package kit

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// Variables that steer the tests.
const (
	// envBin names a directory with patchbay and patchbay-plugins that are already built.
	envBin = "PATCHBAY_BIN"
	// envRace builds the core with the race detector.
	envRace = "PATCHBAY_E2E_RACE"
	// envSlowness is by how much the machine may be slower than usual; see slower.
	envSlowness = "PATCHBAY_TEST_SLOWNESS"
	// EnvPostgres is the URL of a server on which databases may be created.
	EnvPostgres = "PATCHBAY_TEST_POSTGRES"
)

// Built are the binaries under test.
var Built struct{ Core, Plugins, upstream string }

// Scratch is a directory that the tests of a package share, removed at their end.
var Scratch string

// RunTests builds what the tests run, unless it is built already, runs them and returns the exit status: each package's TestMain calls it.
func RunTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "patchbay-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	defer stopShared()
	Scratch = dir
	if err := buildBinaries(filepath.Join(Root(), "bin", "e2e")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// buildBinaries builds into a directory that all packages share. The first of them builds, while the others wait, and find it done.
func buildBinaries(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	lock, err := os.Create(filepath.Join(dir, "lock"))
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	Built.upstream = filepath.Join(dir, "upstream")
	if err := GoBuild(Built.upstream, "plugins/search/tavily/tavilytest/server", false); err != nil {
		return err
	}
	if ready := os.Getenv(envBin); ready != "" {
		if !filepath.IsAbs(ready) {
			ready = filepath.Join(Root(), ready)
		}
		Built.Core, Built.Plugins = filepath.Join(ready, "patchbay"), filepath.Join(ready, "patchbay-plugins")
		return nil
	}
	Built.Core, Built.Plugins = filepath.Join(dir, "patchbay"), filepath.Join(dir, "patchbay-plugins")
	if err := GoBuild(Built.Plugins, "plugins/cmd/patchbay-plugins", false); err != nil {
		return err
	}
	return GoBuild(Built.Core, "core/cmd/patchbay", true)
}

// GoBuild compiles a package of the repository, named as a path below its root, into the file out. flags are those of the go command.
func GoBuild(out, pkg string, cgo bool, flags ...string) error {
	args := append([]string{"build", "-trimpath", "-o", out}, flags...)
	env := append(os.Environ(), "CGO_ENABLED=0")
	if cgo {
		env = append(os.Environ(), "CGO_ENABLED=1")
		if os.Getenv(envRace) != "" {
			args = append(args, "-race")
		}
	}
	cmd := exec.Command("go", append(args, "./"+pkg)...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = Root(), env, os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build %s: %w", pkg, err)
	}
	return nil
}

// Root is the directory of the repository, as seen from a package of tests beside this one.
func Root() string {
	dir, err := filepath.Abs("../../../..")
	if err != nil {
		panic(err)
	}
	return dir
}
