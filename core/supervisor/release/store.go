package release

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/privatedir"
)

// Names in the directory of versions.
const (
	// currentName is the link to the folder in use.
	currentName = "current"
	// scratchPrefix is the prefix of the names of files and folders that are not whole yet.
	scratchPrefix = ".new-"
	// idLength is how many digits of the ID of binaries stand in the name of their folder.
	idLength = 12
)

// Store is a directory with a folder for each version that is kept. The link "current" names the folder in use, so that all binaries
// change at once when it is replaced. A folder is whole as soon as it has its name, and is not written to again. One process uses a store
// at a time.
type Store struct{ dir string }

// NewStore returns the store in a directory, an absolute path.
func NewStore(dir string) Store { return Store{filepath.Clean(dir)} }

// Check returns an error unless the directory is there and nobody else could change what is in it.
func (s Store) Check() error {
	if err := privatedir.CheckParents(s.dir); err != nil {
		return fault.Wrap(err, fault.InvalidArgument, "The directory %s (dir) cannot be used: %v.", s.dir, err).With("reason",
			"directory_unusable")
	}
	return nil
}

// CurrentPath is the path of a binary of whatever version is in use.
func (s Store) CurrentPath(binary string) string { return filepath.Join(s.dir, currentName, binary) }

// Path is the path of a binary in a folder.
func (s Store) Path(folder, binary string) string { return filepath.Join(s.dir, folder, binary) }

// Current returns the name of the folder in use.
func (s Store) Current() (folder string, err error) {
	link := filepath.Join(s.dir, currentName)
	to, err := os.Readlink(link)
	if err != nil {
		return "", fault.Wrap(err, fault.InvalidArgument, "%s must be a link to the folder of the version in use: %v.", link, err).With("reason",
			"no_current_version")
	}
	folder = strings.TrimPrefix(filepath.Clean(to), s.dir+string(filepath.Separator))
	if folder != filepath.Base(folder) || strings.HasPrefix(folder, ".") || folder == currentName {
		return "", fault.New(fault.InvalidArgument, "%s links to %s, which is not a folder beside it.", link, to).With("reason",
			"no_current_version")
	}
	return folder, nil
}

// Identify returns the ID of the binaries in a folder, which depends on their content alone: "sha256:" and 64 hexadecimal digits.
func (s Store) Identify(folder string) (string, error) {
	all := sha256.New()
	for _, name := range binaryNames() {
		sum, err := sumFile(s.Path(folder, name))
		if err != nil {
			return "", fault.Wrap(err, fault.Conflict, "The binaries of %s cannot be read: %v.", folder, err).With("reason", "binaries_missing")
		}
		fmt.Fprintf(all, "%s  %s\n", sum, name)
	}
	return "sha256:" + hex.EncodeToString(all.Sum(nil)), nil
}

// sumFile returns the SHA-256 of a regular file in hexadecimal.
func sumFile(name string) (string, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is no regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Scratch makes an empty file in the directory, which the caller closes. RemoveUnused removes it.
func (s Store) Scratch() (*os.File, error) { return os.CreateTemp(s.dir, scratchPrefix) }

// Add has fill write the binaries of a version into a new folder, and returns the folder's name and the ID of the binaries. The same
// binaries get the same folder, which is left alone if it is there.
func (s Store) Add(version string, fill func(dir string) error) (folder, id string, err error) {
	scratch, err := os.MkdirTemp(s.dir, scratchPrefix)
	if err != nil {
		return "", "", fmt.Errorf("make a folder for the version: %w", err)
	}
	defer os.RemoveAll(scratch)
	if err := errors.Join(os.Chmod(scratch, 0o755), fill(scratch)); err != nil {
		return "", "", err
	}
	if id, err = s.Identify(filepath.Base(scratch)); err != nil {
		return "", "", err
	}
	folder = version + "-" + strings.TrimPrefix(id, "sha256:")[:idLength]
	if there, err := s.Identify(folder); err == nil && there == id {
		return folder, id, nil
	}
	if current, err := s.Current(); err == nil && current == folder {
		return "", "", fault.New(fault.Conflict, "The binaries in %s were changed while they are in use.", folder).With("reason",
			"binaries_changed")
	}
	err = os.RemoveAll(filepath.Join(s.dir, folder))
	for _, step := range []func() error{
		func() error { return privatedir.SyncDirectory(scratch) },
		func() error { return os.Rename(scratch, filepath.Join(s.dir, folder)) },
		func() error { return privatedir.SyncDirectory(s.dir) },
	} {
		if err == nil {
			err = step()
		}
	}
	if err != nil {
		return "", "", fmt.Errorf("store the version: %w", err)
	}
	return folder, id, nil
}

// Use has the link name a folder, whose binaries must have an ID. Who looks, also after a power cut, finds the former folder or this one.
func (s Store) Use(folder, id string) error {
	there, err := s.Identify(folder)
	if err != nil {
		return err
	}
	if there != id {
		return fault.New(fault.Conflict, "The binaries in %s were changed, so they are not used.", folder).With("reason", "binaries_changed")
	}
	scratch, err := os.MkdirTemp(s.dir, scratchPrefix)
	if err != nil {
		return fmt.Errorf("switch the version: %w", err)
	}
	defer os.RemoveAll(scratch)
	link := filepath.Join(scratch, currentName)
	err = os.Symlink(folder, link)
	if err == nil {
		err = os.Rename(link, filepath.Join(s.dir, currentName))
	}
	if err == nil {
		err = privatedir.SyncDirectory(s.dir)
	}
	if err != nil {
		return fmt.Errorf("switch the version: %w", err)
	}
	return nil
}

// added matches names of folders that Add has made.
var added = regexp.MustCompile(`-[0-9a-f]{12}$`)

// RemoveUnused removes what Add and Scratch have made, but for the folder in use and those that are named. What others have put into the
// directory stays.
func (s Store) RemoveUnused(keep ...string) error {
	current, err := s.Current()
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	keep = append(slices.Clone(keep), current)
	var failed error
	for _, e := range entries {
		unfinished := strings.HasPrefix(e.Name(), scratchPrefix)
		if unfinished || e.Type() == fs.ModeDir && added.MatchString(e.Name()) && !slices.Contains(keep, e.Name()) {
			failed = errors.Join(failed, os.RemoveAll(filepath.Join(s.dir, e.Name())))
		}
	}
	return failed
}
