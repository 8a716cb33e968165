package dockerauth

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const (
	contextsDir = "contexts"
	// maxContexts is how many files of contexts are copied.
	maxContexts = 1000
)

// Stage makes a private directory that serves as DOCKER_CONFIG of a child process: config.json, and the contexts that
// lie beside it. cleanup removes the directory; it may be called more than once.
func (c *Config) Stage() (dir string, cleanup func(), err error) {
	sweepStages()
	dir, err = os.MkdirTemp("", fmt.Sprintf("%s%d-", stagePrefix, os.Getpid()))
	if err != nil {
		return "", nil, fmt.Errorf("make a directory for the Docker client: %w", err)
	}
	cleanup = func() { _ = os.RemoveAll(dir) }
	if err := c.fillStage(dir); err != nil {
		cleanup()
		return "", nil, fmt.Errorf("copy the Docker client configuration: %w", err)
	}
	return dir, cleanup, nil
}

// stagePrefix begins the names of staged directories; the id of the process that made them follows.
const stagePrefix = "patchbay-docker-config-"

// sweepStages removes what processes have left that were ended without warning.
func sweepStages() {
	left, err := filepath.Glob(filepath.Join(os.TempDir(), stagePrefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range left {
		text, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), stagePrefix), "-")
		pid, err := strconv.Atoi(text)
		if err != nil {
			continue
		}
		if p, err := os.FindProcess(pid); err != nil || errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone) {
			_ = os.RemoveAll(dir)
		}
	}
}

func (c *Config) fillStage(dir string) error {
	if err := os.WriteFile(filepath.Join(dir, fileName), c.raw, 0o600); err != nil {
		return err
	}
	if c.path == "" {
		return nil
	}
	from := filepath.Join(filepath.Dir(c.path), contextsDir)
	if info, err := os.Stat(from); err != nil || !info.IsDir() {
		return nil
	}
	return copyTree(from, filepath.Join(dir, contextsDir))
}

// copyTree copies directories and regular files; nothing else belongs to a context.
func copyTree(from, to string) error {
	files := 0
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case e.IsDir():
			return os.MkdirAll(target, 0o700)
		case !e.Type().IsRegular():
			return nil
		}
		if files++; files > maxContexts {
			return fmt.Errorf("there are more than %d files of contexts", maxContexts)
		}
		return copyFile(path, target)
	})
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(in, maxFile+1))
	if err == nil && n > maxFile {
		err = fmt.Errorf("%s is larger than %d bytes", from, maxFile)
	}
	if closed := out.Close(); err == nil {
		err = closed
	}
	return err
}
