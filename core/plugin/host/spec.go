package host

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Spec is how a plugin process is started. Instances whose specs have the same Key share a process.
type Spec struct {
	// Name is the plugin's name, for logs and states.
	Name string
	// Path is the absolute path of the executable; Args follow it.
	Path string
	Args []string
	// Env are KEY=VALUE pairs besides those that every plugin gets. Other variables are not inherited.
	Env []string
	// Digests are the pinned SHA-256 sums, in lower-case hex, of the executable and of every argument that is a file, by
	// path. The plugin does not start if one of them differs.
	Digests map[string]string
	// MTLS encrypts the connection. It costs time at start and throughput later; a Unix socket in a private directory
	// does not need it.
	MTLS bool
	// StartTimeout bounds a start until the plugin has described itself, and each of its configurations; 0 takes the host's.
	StartTimeout time.Duration
	// Isolate, if not empty, gives the process to the specs with the same value only.
	Isolate string
}

// Key returns the same text for specs that may share a process. It shows no value of the environment.
func (s Spec) Key() string {
	h := sha256.New()
	for _, part := range append(append([]string{s.Path, s.Isolate, fmt.Sprint(s.MTLS), fmt.Sprint(s.StartTimeout), fmt.Sprint(len(s.Args))}, s.Args...), s.Env...) {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	for _, path := range sortedKeys(s.Digests) {
		fmt.Fprintf(h, "%s=%s;", path, s.Digests[path])
	}
	return s.Name + "-" + hex.EncodeToString(h.Sum(nil)[:8])
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// ErrChecksum is in the chain of the error about a file that is not the pinned one.
var ErrChecksum = errors.New("checksum mismatch")

// Verify compares the files of the spec with their pinned digests and reports the first that differs.
func (s Spec) Verify() error {
	info, err := os.Stat(s.Path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("plugin %q: there is no file %s", s.Name, s.Path)
	case err != nil:
		return fmt.Errorf("plugin %q: %w", s.Name, err)
	case info.IsDir() || info.Mode()&0o111 == 0:
		return fmt.Errorf("plugin %q: %s is not an executable file", s.Name, s.Path)
	}
	for _, path := range sortedKeys(s.Digests) {
		got, err := FileDigest(path)
		if err != nil {
			return fmt.Errorf("plugin %q: %w", s.Name, err)
		}
		if got != strings.TrimPrefix(s.Digests[path], "sha256:") {
			return fmt.Errorf("plugin %q: %w: %s is sha256:%s, plugin.lock.hcl pins %s", s.Name, ErrChecksum, path, got, s.Digests[path])
		}
	}
	return nil
}

// Files returns the executable and the arguments that are files, which a lock file pins.
func (s Spec) Files() []string {
	files := []string{s.Path}
	for _, a := range s.Args {
		if info, err := os.Stat(a); err == nil && info.Mode().IsRegular() && filepath.IsAbs(a) {
			files = append(files, a)
		}
	}
	return files
}

// fileFingerprint returns a text that differs after one of the files of the spec was replaced, changed, removed or restored.
// It does not read them.
func (s Spec) fileFingerprint() string {
	var b strings.Builder
	for _, path := range slices.Concat([]string{s.Path}, s.Args, sortedKeys(s.Digests)) {
		if !filepath.IsAbs(path) {
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			fmt.Fprintf(&b, "%s: %v\n", path, err)
			continue
		}
		fmt.Fprintf(&b, "%s: %d %d %s\n", path, info.Size(), info.ModTime().UnixNano(), info.Mode())
	}
	return b.String()
}
