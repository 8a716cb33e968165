package build

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// CorePackage is the package of the core's binary, pluginsPackage that of the built-in plugins.
const (
	CorePackage    = "./core/cmd/patchbay"
	pluginsPackage = "./plugins/cmd/patchbay-plugins"
)

// compilers are the C compilers for other architectures, by the names of Go, with the Debian packages that have them.
var compilers = map[string]struct{ command, debian string }{
	"amd64": {"x86_64-linux-gnu-gcc", "gcc-x86-64-linux-gnu"},
	"arm64": {"aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu libc6-dev-arm64-cross"},
}

// LinkFlags give the core its version.
func (v Version) LinkFlags() string {
	return "-s -w -X github.com/patchbay-dev/patchbay/core/cli.Version=" + v.Name + " -X github.com/patchbay-dev/patchbay/core/cli.Commit=" +
		v.Commit
}

// CompileBinaries compiles the binaries for an architecture into a directory: static ones, which run on any distribution.
func (v Version) CompileBinaries(arch, dir string) error {
	env := append(os.Environ(), "GOOS=linux", "GOARCH="+arch, "CGO_ENABLED=1")
	if arch != runtime.GOARCH {
		c, known := compilers[arch]
		if !known {
			return fmt.Errorf("the architecture is not one of amd64 and arm64")
		}
		if _, err := exec.LookPath(c.command); err != nil {
			return fmt.Errorf("SQLite is compiled with %s, which is not here: install %s", c.command, c.debian)
		}
		env = append(env, "CC="+c.command)
	}
	err := RunGo(env, "build", "-trimpath", "-buildvcs=false", "-tags", "netgo,osusergo,sqlite_omit_load_extension", "-ldflags",
		v.LinkFlags()+" -linkmode external -extldflags -static",
		"-o", filepath.Join(dir, "patchbay"), CorePackage)
	if err != nil {
		return err
	}
	env = append(env, "CGO_ENABLED=0")
	return RunGo(env, "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", filepath.Join(dir, "patchbay-plugins"),
		pluginsPackage)
}

// RunGo runs the go command in the root of the repository; env nil means the environment of this process.
func RunGo(env []string, args ...string) error {
	cmd := exec.Command("go", args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go %s: %w", args[0], err)
	}
	return nil
}
