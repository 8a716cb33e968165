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

	"github.com/patchbay-dev/patchbay/core/plugin/pin"
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
	// path. The plugin does not start if one of them differs, or is "".
	Digests map[string]string
	// Trees are the pinned sums of folders that interpreters load modules from, by path, in the same way.
	Trees map[string]string
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
	for _, part := range append(append([]string{s.Path, s.Isolate, fmt.Sprint(s.MTLS), fmt.Sprint(s.StartTimeout), fmt.Sprint(len(s.Args))},
		s.Args...), s.Env...) {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	for _, pinned := range []map[string]string{s.Digests, s.Trees} {
		for _, path := range sortedKeys(pinned) {
			fmt.Fprintf(h, "%s=%s;", path, pinned[path])
		}
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

// open compares the files of the spec with their pinned digests and reports the first that differs. It returns the executable, open, if
// that is pinned: what is started must be this file. The caller closes it.
func (s Spec) open() (executable *os.File, err error) {
	info, err := os.Stat(s.Path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("plugin %q: there is no file %s", s.Name, s.Path)
	case err != nil:
		return nil, fmt.Errorf("plugin %q: %w", s.Name, err)
	case info.IsDir() || info.Mode()&0o111 == 0:
		return nil, fmt.Errorf("plugin %q: %s is not an executable file", s.Name, s.Path)
	}
	for _, path := range sortedKeys(s.Digests) {
		if path == s.Path {
			continue
		}
		got, err := pin.FileDigest(path)
		if err := s.compare(path, got, s.Digests[path], err); err != nil {
			return nil, err
		}
	}
	for _, folder := range sortedKeys(s.Trees) {
		got, err := pin.TreeDigest(folder)
		if err := s.compare("the folder "+folder, got, s.Trees[folder], err); err != nil {
			return nil, err
		}
	}
	if _, ok := s.Digests[s.Path]; !ok {
		return nil, nil
	}
	executable, got, err := pin.OpenFile(s.Path)
	if err := s.compare(s.Path, got, s.Digests[s.Path], err); err != nil {
		if executable != nil {
			_ = executable.Close()
		}
		return nil, err
	}
	return executable, nil
}

// compare returns an error unless what was read has the pinned digest.
func (s Spec) compare(what, got, pinned string, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("plugin %q: %w", s.Name, err)
	case pinned == "":
		return fmt.Errorf("plugin %q: %w: %s is not in plugin.lock.hcl: run patchbay plugin lock", s.Name, ErrChecksum, what)
	case got != strings.TrimPrefix(pinned, "sha256:"):
		return fmt.Errorf("plugin %q: %w: %s is sha256:%s, plugin.lock.hcl pins %s", s.Name, ErrChecksum, what, got, pinned)
	}
	return nil
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
	for _, folder := range sortedKeys(s.Trees) {
		fmt.Fprintf(&b, "%s: %s\n", folder, pin.TreeState(folder))
	}
	return b.String()
}
