// Package privatedir checks that nobody else can change a directory or the Unix sockets in it, and tells who is at the other
// end of a connection to one.
package privatedir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// MaxSocketPath is how many bytes the path of a Unix socket may have; the kernel takes no longer one.
const MaxSocketPath = 107

// Resolve returns path without links, after CheckParents has accepted it. With create, a directory that is missing is made
// with mode 0700.
func Resolve(path string, create bool) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	resolved, err := filepath.EvalSymlinks(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && create && filepath.Dir(path) != path:
		parent, err := Resolve(filepath.Dir(path), create)
		if err != nil {
			return "", err
		}
		resolved = filepath.Join(parent, filepath.Base(path))
		if err := os.Mkdir(resolved, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	case err != nil:
		return "", err
	}
	return resolved, CheckParents(resolved)
}

// parentDirectories returns the directories from the root down to path.
func parentDirectories(path string) []string {
	var out []string
	for p := path; ; p = filepath.Dir(p) {
		out = append(out, p)
		if p == filepath.Dir(p) {
			break
		}
	}
	slices.Reverse(out)
	return out
}

// SyncDirectory makes the names in a directory durable: after it, a power cut does not undo a file that was made, renamed or removed there.
func SyncDirectory(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
