package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	// envPostgres is the URL of a server on which databases may be created.
	envPostgres = "PATCHBAY_TEST_POSTGRES"
)

// built are the binaries under test.
var built struct{ core, plugins, upstream string }

// scratch is a directory that all tests share, removed at the end.
var scratch string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "patchbay-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	defer stopShared()
	scratch = dir
	if err := build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func build(dir string) error {
	built.upstream = filepath.Join(dir, "upstream")
	if err := goBuild(built.upstream, "plugins/search/tavily/tavilytest/server", false); err != nil {
		return err
	}
	if ready := os.Getenv(envBin); ready != "" {
		ready, err := filepath.Abs(ready)
		built.core, built.plugins = filepath.Join(ready, "patchbay"), filepath.Join(ready, "patchbay-plugins")
		return err
	}
	built.core, built.plugins = filepath.Join(dir, "patchbay"), filepath.Join(dir, "patchbay-plugins")
	if err := goBuild(built.plugins, "plugins/cmd/patchbay-plugins", false); err != nil {
		return err
	}
	return goBuild(built.core, "core/cmd/patchbay", true)
}

func goBuild(out, pkg string, cgo bool) error {
	args := []string{"build", "-trimpath", "-o", out}
	env := append(os.Environ(), "CGO_ENABLED=0")
	if cgo {
		env = append(os.Environ(), "CGO_ENABLED=1")
		if os.Getenv(envRace) != "" {
			args = append(args, "-race")
		}
	}
	cmd := exec.Command("go", append(args, "./"+pkg)...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = root(), env, os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build %s: %w", pkg, err)
	}
	return nil
}

// root is the directory of the repository.
func root() string {
	dir, err := filepath.Abs("../../..")
	if err != nil {
		panic(err)
	}
	return dir
}
