package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strconv"

	"github.com/patchbay-dev/patchbay/core/tools/release/internal/build"
)

// manualPackage is the package of the program that writes the manual pages.
const manualPackage = "./core/cmd/patchbay-man"

// writeTexts writes the manual pages and the completions of shells, which are the same for each architecture.
func (r *release) writeTexts() error {
	man := filepath.Join(r.work, "man")
	if err := build.RunGo(nil, "run", "-trimpath", "-ldflags", r.version.LinkFlags(), manualPackage, man,
		strconv.FormatInt(r.version.Date.Unix(), 10)); err != nil {
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
		if err := build.RunGo(nil, "build", "-trimpath", "-ldflags", r.version.LinkFlags(), "-o", program, build.CorePackage); err != nil {
			return err
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		script, err := build.Output(program, "completion", shell)
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
