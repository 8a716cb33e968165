//go:build !unix

package config

import (
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
