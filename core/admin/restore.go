package admin

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/core/settings"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Restoring says what to put back.
type Restoring struct {
	// Archive is a file that Backup has written, or a copy that was made before a migration: the database alone.
	Archive string
	// Overwrite allows to replace a database that is there.
	Overwrite bool
	// WithoutPlugins leaves the files of third-party plugins in the archive.
	WithoutPlugins bool
	// MaxSize is the largest database that is unpacked, and how much all the rest may have, in bytes.
	MaxSize int64
}

// Restored is what Restore has done.
type Restored struct {
	// Placed are the files and folders that were put in place, and the database.
	Placed []string
	// Kept are the new names of files and folders that were replaced.
	Kept []string
	// Beside are files of the archive that lie beside others which were left as they are.
	Beside []string
}

// Restore puts back what Backup has written, each part in one step. It is refused while a core holds the lock. Where the data goes
// is said by the configuration that is there or, if there is none, by that of the archive, which is then put back as well and may name
// places below its own directory alone. Of plugins, only files below that directory that the configuration uses are put back: an archive
// that names others is refused as a whole. Data that is replaced is kept. A configuration and plugins that are there stay; if those of
// the archive differ, they are put beside them.
func Restore(ctx context.Context, src settings.Source, r Restoring) (done Restored, diags config.Diagnostics, err error) {
	if src, err = r.withConfiguration(src); err != nil {
		return done, nil, err
	}
	set, diags, err := src.Read()
	if err != nil || diags.HasErrors() {
		return done, diags, err
	}
	if src.Overlay != nil {
		if err := checkOwnPlaces(set, src.Env); err != nil {
			return done, diags, err
		}
	}
	unpacked, remove, err := r.unpackBeside(set)
	if err != nil {
		return done, diags, err
	}
	defer remove()
	plugins, err := r.findPlugins(set, unpacked.rest)
	if err != nil {
		return done, diags, err
	}
	former, err := replaceDatabase(ctx, set, unpacked.database, r.Overwrite)
	done.keep(former)
	if err != nil {
		return done, diags, err
	}
	done.Placed = append(done.Placed, databaseName(set))
	key := filepath.Join(unpacked.rest, backupKey)
	if former, err = replaceKey(key, set.KeyFile()); err != nil {
		return done, diags, err
	}
	done.keep(former)
	for _, folder := range []string{backupInstances, backupSecrets} {
		to := filepath.Join(set.DataDir, folder)
		former, placed, err := replaceFolder(filepath.Join(unpacked.rest, folder), to)
		done.keep(former)
		if err != nil {
			return done, diags, err
		}
		if placed {
			done.Placed = append(done.Placed, to)
		}
	}
	if unpacked.key {
		done.Placed = append(done.Placed, set.KeyFile())
	}
	return done, diags, done.placeConfiguration(unpacked.rest, src.Path, plugins)
}

// databaseName returns what an operator calls the database: its file, or that it is a server's.
func databaseName(set *settings.Settings) string {
	if set.Store.Dialect == store.Postgres {
		return "the PostgreSQL database"
	}
	return set.Store.Path
}

// replaceDatabase puts the copy in a folder in the place of the database, and returns the name under which that one is kept.
func replaceDatabase(ctx context.Context, set *settings.Settings, folder string, overwrite bool) (kept string, err error) {
	from := filepath.Join(folder, databaseMember(set))
	if set.Store.Dialect == store.SQLite {
		return store.Replace(ctx, set.Store.Path, from, overwrite)
	}
	schema, err := store.ReplacePostgres(ctx, set.Store, from, overwrite)
	if schema != "" {
		kept = "the schema " + schema + " of the database"
	}
	return kept, err
}

// keep notes the new name of what was replaced; "" is nothing.
func (d *Restored) keep(name string) {
	if name != "" {
		d.Kept = append(d.Kept, name)
	}
}

// withConfiguration returns src with the plugin.hcl of the archive, if there is none.
func (r Restoring) withConfiguration(src settings.Source) (settings.Source, error) {
	if _, err := os.Stat(src.Path); !errors.Is(err, fs.ErrNotExist) {
		return src, err
	}
	path, err := filepath.Abs(src.Path)
	if err != nil {
		return src, err
	}
	return src, openArchive(r.Archive, func(h *tar.Header, in io.Reader) error {
		if h.Name != backupConfig {
			return nil
		}
		raw, err := io.ReadAll(io.LimitReader(in, maxSmallFile))
		if err != nil {
			return fmt.Errorf("read the archive: %w", err)
		}
		src.Overlay = map[string][]byte{path: raw}
		return io.EOF
	})
}

// unpacking is where the members of an archive lie until they are put in place: the database in the file system where it goes, the
// rest in that of the data directory.
type unpacking struct {
	database, rest string
	// key reports whether the archive has the master key.
	key bool
}

// unpackBeside unpacks the archive. remove ends the use of what lies there then.
func (r Restoring) unpackBeside(set *settings.Settings) (u unpacking, remove func(), err error) {
	var made []string
	remove = func() {
		for _, dir := range made {
			_ = os.RemoveAll(dir)
		}
	}
	for _, place := range []struct {
		beside string
		dir    *string
	}{{filepath.Dir(databasePath(set)), &u.database}, {set.DataDir, &u.rest}} {
		err := os.MkdirAll(place.beside, 0o700)
		if err == nil {
			*place.dir, err = os.MkdirTemp(place.beside, "restore-")
		}
		if err != nil {
			remove()
			return u, nil, err
		}
		made = append(made, *place.dir)
	}
	if err := r.unpackInto(u, databaseMember(set)); err != nil {
		remove()
		return u, nil, err
	}
	_, err = os.Stat(filepath.Join(u.rest, backupKey))
	u.key = err == nil
	return u, remove, nil
}

// unpackInto writes the members of the archive, of which database must be one.
func (r Restoring) unpackInto(u unpacking, database string) error {
	if bare, err := bareDatabase(r.Archive); err != nil {
		return err
	} else if bare != "" {
		return r.copyBare(u.database, bare, database)
	}
	found, rest := map[string]bool{}, int64(0)
	err := openArchive(r.Archive, func(h *tar.Header, in io.Reader) error {
		limit, err := memberLimit(h, r.MaxSize)
		dir := u.rest
		if h.Name == backupDatabase || h.Name == backupDump {
			dir = u.database
		} else {
			rest += h.Size
		}
		switch {
		case err != nil:
			return err
		case found[h.Name]:
			return fmt.Errorf("the archive holds %s twice", h.Name)
		case h.Size > limit:
			return fmt.Errorf("%s in the archive has %d bytes, more than the limit of %d", h.Name, h.Size, limit)
		case rest > r.MaxSize:
			return fmt.Errorf("what the archive holds beside the database has more bytes than the limit of %d", r.MaxSize)
		}
		found[h.Name] = true
		mode := fs.FileMode(0o600)
		if filepath.Dir(h.Name) == backupPlugins {
			mode = fs.FileMode(h.Mode)&0o755 | 0o600
		}
		if err := extractFile(in, filepath.Join(dir, filepath.FromSlash(h.Name)), mode); err != nil {
			return fmt.Errorf("read the archive: %w", err)
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case found[database]:
		return nil
	case found[backupDatabase], found[backupDump]:
		return errOtherDatabase(database)
	}
	return errors.New("the archive holds no database")
}

// replaceKey puts the key file from, if there is one, in the place of to. It loses no key, since the former one may be the only way
// to open other data: it returns the name under which that one is kept, if it was another.
func replaceKey(from, to string) (kept string, err error) {
	next, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	} else if err != nil {
		return "", err
	}
	old, err := os.ReadFile(to)
	if err == nil && bytes.Equal(old, next) {
		return "", nil
	}
	if err == nil {
		if kept, err = store.KeepBeside(to); err != nil {
			return "", fmt.Errorf("keep the former master key: %w", err)
		}
	}
	return kept, os.Rename(from, to)
}

// replaceFolder puts the folder from in the place of to, and returns the name under which that one is kept. placed reports whether
// there is a folder from.
func replaceFolder(from, to string) (kept string, placed bool, err error) {
	if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if left, err := os.ReadDir(to); err == nil && len(left) > 0 {
		kept = store.FreeName(to)
		if err := os.Rename(to, kept); err != nil {
			return "", false, fmt.Errorf("keep the former %s: %w", filepath.Base(to), err)
		}
	} else if err == nil {
		if err := os.Remove(to); err != nil {
			return "", false, err
		}
	}
	return kept, true, os.Rename(from, to)
}
