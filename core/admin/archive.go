package admin

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/patchbay-dev/patchbay/core/privatedir"
)

// The members of a backup archive. The folders hold files below their names. The database is backupDatabase or, of PostgreSQL, backupDump.
const (
	backupManifest  = "manifest.json"
	backupConfig    = "plugin.hcl"
	backupLock      = "plugin.lock.hcl"
	backupDatabase  = "patchbay.sqlite3"
	backupDump      = "patchbay.pgdump"
	backupKey       = "master.key"
	backupSecrets   = "secrets"
	backupInstances = "instances"
	// backupPlugins has the files of third-party plugins, named by their digests; the manifest tells where they lay.
	backupPlugins = "plugins"
)

const (
	// maxSmallFile bounds the members that are read as a whole, in bytes.
	maxSmallFile = 1 << 20
	// maxManifest bounds the list of plugins' files, in bytes.
	maxManifest = 16 << 20
	// maxKeyFile bounds the master key in an archive, in bytes.
	maxKeyFile = 64 << 10
	// partialPattern is the name of an archive that is being written.
	partialPattern = ".patchbay-backup-*.partial"
)

// member is a file that goes into an archive.
type member struct {
	// name is that in the archive, from the file on disk.
	name, from string
	// transient files belong to a plugin that is running, and may be gone when they are to be read.
	transient bool
}

// writeArchive writes an archive under a temporary name beside path, and gives it its name when it is whole and durable. There must
// be no file of that name.
func writeArchive(ctx context.Context, path string, members []member) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), partialPattern)
	if err != nil {
		return fmt.Errorf("make the archive: %w", err)
	}
	defer func() { err = errors.Join(err, os.Remove(f.Name())) }()
	if err := errors.Join(writeMembers(ctx, f, members), f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write the archive: %w", err)
	}
	// Unlike a renaming, a link replaces no file that came meanwhile.
	if err := os.Link(f.Name(), path); err != nil {
		return fmt.Errorf("make the archive: %w", err)
	}
	return privatedir.SyncDirectory(filepath.Dir(path))
}

// writeMembers writes a compressed archive of files.
func writeMembers(ctx context.Context, w io.Writer, members []member) error {
	zip := gzip.NewWriter(w)
	out := tar.NewWriter(zip)
	for _, m := range members {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := m.writeTo(ctx, out); err != nil && (!m.transient || !errors.Is(err, fs.ErrNotExist)) {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return errors.Join(out.Close(), zip.Close())
}

// writeTo appends the file to an archive.
func (m member) writeTo(ctx context.Context, out *tar.Writer) error {
	f, err := os.Open(m.from)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	header := &tar.Header{Name: m.name, Mode: int64(info.Mode().Perm()), Size: info.Size(), ModTime: info.ModTime()}
	if err := out.WriteHeader(header); err != nil {
		return err
	}
	// What is appended meanwhile is left out.
	if _, err = io.CopyN(out, contextReader{ctx, f}, info.Size()); errors.Is(err, io.EOF) {
		return errors.New("the file became shorter while it was read: try again")
	}
	return err
}

// contextReader ends reading with a context.
type contextReader struct {
	ctx context.Context
	in  io.Reader
}

// Read implements io.Reader.
func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.in.Read(p)
}

// openArchive calls each with the members of an archive until it returns an error. io.EOF ends it without one.
func openArchive(path string, each func(*tar.Header, io.Reader) error) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open the archive: %w", err)
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("%s is no backup archive: %w", path, err)
	}
	in := tar.NewReader(zip)
	for {
		h, err := in.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the archive: %w", err)
		}
		if err := each(h, in); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// memberLimit returns how large a member may be. It refuses names that no backup writes.
func memberLimit(h *tar.Header, maxSize int64) (int64, error) {
	switch folder, rest, below := strings.Cut(h.Name, "/"); {
	case h.Typeflag != tar.TypeReg || !filepath.IsLocal(h.Name) || filepath.Clean(h.Name) != h.Name:
	case below && rest != "" && (folder == backupInstances || folder == backupPlugins || folder == backupSecrets):
		return maxSize, nil
	case h.Name == backupDatabase, h.Name == backupDump:
		return maxSize, nil
	case h.Name == backupKey:
		return maxKeyFile, nil
	case h.Name == backupManifest:
		return maxManifest, nil
	case h.Name == backupConfig, h.Name == backupLock:
		return maxSmallFile, nil
	}
	return 0, fmt.Errorf("the archive holds %q, which no backup does", h.Name)
}

// extractFile writes what in holds to a new file, and makes the directories above it.
func extractFile(in io.Reader, path string, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}
