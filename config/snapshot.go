package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Snapshot is a configuration file as it was read.
type Snapshot struct {
	// Path is where the text stands: the end of the symbolic links of the path that was read.
	Path string
	// Text is what was read.
	Text []byte

	info fs.FileInfo
}

// ErrChanged is in the chain of the error about a file that has changed since it was read.
var ErrChanged = errors.New("the configuration file was changed meanwhile")

// ReadSnapshot reads a configuration file.
func ReadSnapshot(path string) (*Snapshot, error) {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, fmt.Errorf("find the configuration file: %w", err)
	}
	if target, err = filepath.Abs(target); err != nil {
		return nil, fmt.Errorf("find the configuration file: %w", err)
	}
	info, err := os.Stat(target)
	if err != nil {
		return nil, fmt.Errorf("read the configuration file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read the configuration file: %s is no regular file", target)
	}
	text, err := readFile(target)
	if err != nil {
		return nil, fmt.Errorf("read the configuration file: %w", err)
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("read the configuration file: it is larger than 1 MiB")
	}
	return &Snapshot{Path: target, Text: text, info: info}, nil
}

// Digest returns a hash of the text.
func (s *Snapshot) Digest() string { return textDigest(s.Text) }

// Digest returns a hash of the text from which the file was loaded, as that of a Snapshot.
func (f *File) Digest() string { return textDigest(f.src.bytes) }

func textDigest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Replace puts another text in place of the snapshot's, with the same mode and owner. Whoever reads the file meanwhile, also
// after a crash, finds the one text or the other, whole. The error is ErrChanged if the file has changed since it was read, which
// is looked at just before.
func (s *Snapshot) Replace(text []byte) (*Snapshot, error) {
	if len(text) > maxFile {
		return nil, fmt.Errorf("write the configuration file: it would be larger than 1 MiB")
	}
	removeLeftovers(s.Path)
	tmp, err := s.writeBeside(text)
	if err != nil {
		return nil, fmt.Errorf("write the configuration file: %w", err)
	}
	defer func() { _ = os.Remove(tmp) }()
	now, err := ReadSnapshot(s.Path)
	if err != nil {
		return nil, err
	}
	if now.Digest() != s.Digest() {
		return nil, ErrChanged
	}
	if err := os.Rename(tmp, s.Path); err != nil {
		return nil, fmt.Errorf("replace the configuration file: %w", err)
	}
	if err := syncDirectory(filepath.Dir(s.Path)); err != nil {
		return nil, fmt.Errorf("replace the configuration file: %w", err)
	}
	return ReadSnapshot(s.Path)
}

// temporaryPrefix begins the names of the files that Replace writes before they take the place of a configuration file.
const temporaryPrefix = ".patchbay-new-"

// removeLeftovers deletes what a Replace left that was cut short.
func removeLeftovers(path string) {
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), temporaryPrefix+filepath.Base(path)+"-*"))
	if err != nil {
		return
	}
	for _, name := range left {
		_ = os.Remove(name)
	}
}

// writeBeside writes a text into a new file in the folder of the snapshot, with the mode and the owner of the snapshot.
func (s *Snapshot) writeBeside(text []byte) (path string, err error) {
	tmp, err := os.CreateTemp(filepath.Dir(s.Path), temporaryPrefix+filepath.Base(s.Path)+"-*")
	if err != nil {
		return "", err
	}
	_, err = tmp.Write(text)
	err = errors.Join(err, keepOwner(tmp, s.info), tmp.Chmod(s.info.Mode().Perm()), tmp.Sync(), tmp.Close())
	if err != nil {
		_ = os.Remove(tmp.Name())
		return "", err
	}
	return tmp.Name(), nil
}

// syncDirectory makes a rename in a directory survive a loss of power.
func syncDirectory(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Backup writes the text of the snapshot into a directory, which is made if there is none, under the time at, and keeps the newest
// of its backups there, at most limit. It returns the path of the new one.
func (s *Snapshot) Backup(dir, at string, limit int) (path string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the directory of backups: %w", err)
	}
	path = filepath.Join(dir, filepath.Base(s.Path)+"."+at)
	if err := WriteSecret(path, s.Text); err != nil {
		return "", fmt.Errorf("keep the former configuration: %w", err)
	}
	all, err := s.Backups(dir)
	if err != nil {
		return path, err
	}
	for _, old := range all[min(limit, len(all)):] {
		_ = os.Remove(old)
	}
	return path, nil
}

// Backups returns the backups of the file in a directory, the newest first.
func (s *Snapshot) Backups(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the backups: %w", err)
	}
	var all []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(s.Path)+".") {
			all = append(all, filepath.Join(dir, e.Name()))
		}
	}
	slices.Sort(all)
	slices.Reverse(all)
	return all, nil
}

// WriteSecret writes a new file that its owner alone may read. There must not be one of this path.
func WriteSecret(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		_ = os.Remove(path)
		return err
	}
	return syncDirectory(filepath.Dir(path))
}
