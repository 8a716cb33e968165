package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
)

// The packages of the binaries.
const (
	corePackage    = "./core/cmd/patchbay"
	pluginsPackage = "./plugins/cmd/patchbay-plugins"
	manualPackage  = "./core/cmd/patchbay-man"
)

// compilers are the C compilers for other architectures, by the names of Go, with the Debian packages that have them.
var compilers = map[string]struct{ command, debian string }{
	"amd64": {"x86_64-linux-gnu-gcc", "gcc-x86-64-linux-gnu"},
	"arm64": {"aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu libc6-dev-arm64-cross"},
}

// linkFlags give the core its version.
func (r *release) linkFlags() string {
	return "-s -w -X github.com/patchbay-dev/patchbay/core/cli.Version=" + r.version + " -X github.com/patchbay-dev/patchbay/core/cli.Commit=" + r.commit
}

// compileBinaries compiles the binaries for an architecture into a directory: static ones, which run on any distribution.
func (r *release) compileBinaries(arch, dir string) error {
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
	err := runGo(env, "build", "-trimpath", "-buildvcs=false", "-tags", "netgo,osusergo,sqlite_omit_load_extension", "-ldflags", r.linkFlags()+" -linkmode external -extldflags -static",
		"-o", filepath.Join(dir, "patchbay"), corePackage)
	if err != nil {
		return err
	}
	env = append(env, "CGO_ENABLED=0")
	return runGo(env, "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", filepath.Join(dir, "patchbay-plugins"), pluginsPackage)
}

// writeTexts writes the manual pages and the completions of shells, which are the same for each architecture.
func (r *release) writeTexts() error {
	man := filepath.Join(r.work, "man")
	if err := runGo(nil, "run", "-trimpath", "-ldflags", r.linkFlags(), manualPackage, man, strconv.FormatInt(r.date.Unix(), 10)); err != nil {
		return err
	}
	pages, err := filepath.Glob(filepath.Join(man, "*.1"))
	if err != nil {
		return err
	}
	for _, page := range pages {
		if err := compressFile(page); err != nil {
			return err
		}
	}
	program := filepath.Join(r.binaries, "patchbay")
	if r.binaries == "" {
		program = filepath.Join(r.work, "patchbay")
		if err := runGo(nil, "build", "-trimpath", "-ldflags", r.linkFlags(), "-o", program, corePackage); err != nil {
			return err
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		script, err := runOutput(program, "completion", shell)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.work, shell), []byte(script+"\n"), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// compressFile puts NAME.gz into the place of a file. It holds no time and no name, so that its bytes depend on the text alone.
func compressFile(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(text); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	if err := os.WriteFile(name+".gz", out.Bytes(), 0o644); err != nil {
		return err
	}
	return os.Remove(name)
}

// runGo runs the go command in the root of the repository; env nil means the environment of this process.
func runGo(env []string, args ...string) error {
	cmd := exec.Command("go", args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go %s: %w", args[0], err)
	}
	return nil
}
