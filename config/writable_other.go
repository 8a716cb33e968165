//go:build !unix

package config

import (
	"errors"
	"io/fs"
	"os"
)

// ReadOnly returns why the file cannot be replaced, or "" if it can as far as is known.
func (s *Snapshot) ReadOnly() ReadOnlyReason {
	switch {
	case isJSON(s.Path):
		return ReadOnlyJSON
	case s.info.Mode().Perm()&0o222 == 0:
		return ReadOnlyFile
	}
	return ""
}

// keepOwner does nothing: files have no owner that could be kept.
func keepOwner(*os.File, fs.FileInfo) error { return nil }

// IsNotWritable reports whether err is about a file or a folder that must not be written.
func IsNotWritable(err error) bool { return errors.Is(err, fs.ErrPermission) }
