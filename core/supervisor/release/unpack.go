package release

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// The binaries of a version.
const (
	Core    = "patchbay"
	Plugins = "patchbay-plugins"
)

// binaryNames returns the names of the files of an archive that are used.
func binaryNames() []string { return []string{Core, Plugins} }

// Unpack writes the binaries of the archive of a release into a directory, with mode 0755, and syncs them. Nothing else of the archive is
// written, whatever its names; a binary must be a regular file. The archive may unpack to maxBytes.
func Unpack(archive io.Reader, r Release, dir string, maxBytes int64) error {
	z, err := gzip.NewReader(archive)
	if err != nil {
		return archiveDamaged(r, err)
	}
	limited := &io.LimitedReader{R: z, N: maxBytes}
	files := tar.NewReader(limited)
	folder := strings.TrimSuffix(r.Archive, ".tar.gz")
	missing := binaryNames()
	for {
		head, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return unpackFailure(r, err, limited, maxBytes)
		}
		name := path.Base(head.Name)
		i := slices.Index(missing, name)
		if head.Name != path.Join(folder, name) || !slices.Contains(binaryNames(), name) {
			continue
		}
		if i < 0 || head.Typeflag != tar.TypeReg {
			return fault.New(fault.Conflict, "%s in %s is listed twice or is not a regular file.", name, r.Archive).With("reason", "archive_invalid")
		}
		if err := writeBinary(filepath.Join(dir, name), files); err != nil {
			return unpackFailure(r, err, limited, maxBytes)
		}
		missing = slices.Delete(missing, i, i+1)
	}
	if len(missing) > 0 {
		return fault.New(fault.Conflict, "%s has no %s.", r.Archive, strings.Join(missing, " and no ")).With("reason", "archive_invalid")
	}
	return nil
}

// unpackFailure tells an archive that is too large from one that is damaged.
func unpackFailure(r Release, err error, limited *io.LimitedReader, maxBytes int64) error {
	if limited.N <= 0 {
		return tooLarge("What "+r.Archive+" unpacks to", maxBytes)
	}
	return archiveDamaged(r, err)
}

func archiveDamaged(r Release, err error) error {
	return fault.Wrap(err, fault.Conflict, "%s cannot be unpacked: %v", r.Archive, err).With("reason", "archive_invalid")
}

// writeBinary writes a file that is not there yet.
func writeBinary(name string, content io.Reader) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o700)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Chmod(0o755), f.Sync(), f.Close())
}
