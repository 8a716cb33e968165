package admin

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/core/settings"
	"github.com/patchbay-dev/patchbay/core/store"
)

// The members of a backup archive.
const (
	backupDatabase = "patchbay.sqlite3"
	backupKey      = "master.key"
)

// Backup writes an archive of a consistent copy of the embedded database and, if withKey, the master key. The core may be
// running. The archive has mode 0600 and must not exist yet.
func Backup(ctx context.Context, src settings.Source, archive string, withKey bool) (config.Diagnostics, error) {
	set, diags, err := src.Read()
	if err != nil || diags.HasErrors() {
		return diags, err
	}
	if set.Store.Dialect != store.SQLite {
		return diags, store.ErrEmbeddedOnly
	}
	if _, err := os.Stat(set.Store.Path); err != nil {
		return diags, fmt.Errorf("there is no database yet: %w", err)
	}
	st, err := store.Open(ctx, set.Store)
	if err != nil {
		return diags, err
	}
	defer st.Close()
	dir, err := os.MkdirTemp(filepath.Dir(set.Store.Path), "backup-")
	if err != nil {
		return diags, err
	}
	defer os.RemoveAll(dir)
	copied := filepath.Join(dir, backupDatabase)
	if err := st.Backup(ctx, copied); err != nil {
		return diags, err
	}
	members := map[string]string{backupDatabase: copied}
	if withKey && set.Core.SecretKey == "" {
		members[backupKey] = set.KeyFile()
	}
	return diags, writeArchive(archive, members)
}

// writeArchive writes a new archive. members are the files by the names that they get in it.
func writeArchive(path string, members map[string]string) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("make the archive: %w", err)
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			_ = os.Remove(path)
		}
	}()
	zip := gzip.NewWriter(f)
	out := tar.NewWriter(zip)
	for _, name := range []string{backupDatabase, backupKey} {
		if members[name] == "" {
			continue
		}
		if err := addMember(out, name, members[name]); err != nil {
			return fmt.Errorf("write %s to the archive: %w", name, err)
		}
	}
	if err := errors.Join(out.Close(), zip.Close()); err != nil {
		return fmt.Errorf("write the archive: %w", err)
	}
	return f.Sync()
}

// addMember appends a file to an archive.
func addMember(out *tar.Writer, name, from string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := out.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: info.Size(), ModTime: time.Now()}); err != nil {
		return err
	}
	_, err = io.Copy(out, f)
	return err
}

// maxKeyFile bounds the master key in an archive, in bytes.
const maxKeyFile = 64 << 10

// Restoring says what to put back.
type Restoring struct {
	// Archive is a file that Backup has written.
	Archive string
	// Overwrite allows to replace a database that is there.
	Overwrite bool
	// MaxSize is the largest database that is unpacked, in bytes.
	MaxSize int64
}

// Restore puts the database, and the master key if the archive has one, back in one step each. It is refused while a core
// holds the lock. Files that it replaces are kept beside the new ones, and their names are returned.
func Restore(ctx context.Context, src settings.Source, r Restoring) (kept []string, diags config.Diagnostics, err error) {
	set, diags, err := src.Read()
	if err != nil || diags.HasErrors() {
		return nil, diags, err
	}
	if set.Store.Dialect != store.SQLite {
		return nil, diags, store.ErrEmbeddedOnly
	}
	if err := os.MkdirAll(filepath.Dir(set.Store.Path), 0o700); err != nil {
		return nil, diags, err
	}
	dir, err := os.MkdirTemp(filepath.Dir(set.Store.Path), "restore-")
	if err != nil {
		return nil, diags, err
	}
	defer os.RemoveAll(dir)
	if err := r.unpackInto(dir); err != nil {
		return nil, diags, err
	}
	former, err := store.Replace(ctx, set.Store.Path, filepath.Join(dir, backupDatabase), r.Overwrite)
	if former != "" {
		kept = append(kept, former)
	}
	if err != nil {
		return kept, diags, err
	}
	key := filepath.Join(dir, backupKey)
	if _, err := os.Stat(key); errors.Is(err, os.ErrNotExist) {
		return kept, diags, nil
	}
	if former, err = replaceKey(key, set.KeyFile()); former != "" {
		kept = append(kept, former)
	}
	return kept, diags, err
}

// replaceKey puts the key file from in the place of to. It loses no key, since the former one may be the only way to open
// other data: it returns the name under which that one is kept, if it was another.
func replaceKey(from, to string) (kept string, err error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return "", err
	}
	old, err := os.ReadFile(to)
	if next, nerr := os.ReadFile(from); err == nil && nerr == nil && bytes.Equal(old, next) {
		return "", nil
	}
	if err == nil {
		if kept, err = store.KeepBeside(to); err != nil {
			return "", fmt.Errorf("keep the former master key: %w", err)
		}
	}
	return kept, os.Rename(from, to)
}

// unpackInto writes the members of the archive into dir.
func (r Restoring) unpackInto(dir string) error {
	f, err := os.Open(r.Archive)
	if err != nil {
		return fmt.Errorf("open the archive: %w", err)
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("%s is no backup archive: %w", r.Archive, err)
	}
	in := tar.NewReader(zip)
	limits := map[string]int64{backupDatabase: r.MaxSize, backupKey: maxKeyFile}
	found := map[string]bool{}
	for {
		h, err := in.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("read the archive: %w", err)
		}
		limit, known := limits[h.Name]
		switch {
		case !known || h.Typeflag != tar.TypeReg:
			return fmt.Errorf("the archive holds %q, which no backup does", h.Name)
		case found[h.Name]:
			return fmt.Errorf("the archive holds %s twice", h.Name)
		case h.Size > limit:
			return fmt.Errorf("%s in the archive has %d bytes, more than the limit of %d", h.Name, h.Size, limit)
		}
		found[h.Name] = true
		if err := extractFile(in, filepath.Join(dir, h.Name)); err != nil {
			return fmt.Errorf("read the archive: %w", err)
		}
	}
	if !found[backupDatabase] {
		return errors.New("the archive holds no database")
	}
	return nil
}

// extractFile writes what in holds to a new file.
func extractFile(in io.Reader, path string) error {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}
