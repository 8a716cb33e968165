package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Backup writes a consistent copy of the database to a new file while it is in use, and checks the copy. On PostgreSQL pg_dump writes it.
func (s *Store) Backup(ctx context.Context, path string) error {
	if s.cfg.Dialect == Postgres {
		return s.dumpPostgres(ctx, path)
	}
	db, err := sql.Open("sqlite3", s.dsn("mode=rw"))
	if err != nil {
		return fmt.Errorf("open the database %s: %w", s.cfg.Path, err)
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", path); err != nil {
		return fmt.Errorf("copy the database to %s: %w", path, err)
	}
	return CheckFile(ctx, path)
}

// CheckFile reports whether a file is an intact SQLite database.
func CheckFile(ctx context.Context, path string) error {
	s := &Store{cfg: Config{Path: path}}
	db, err := sql.Open("sqlite3", s.dsn("mode=ro&immutable=1"))
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	defer db.Close()
	var result string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&result); err != nil {
		return fmt.Errorf("check %s: %w", path, err)
	}
	if result != "ok" {
		return fmt.Errorf("%s is damaged: %s", path, result)
	}
	return nil
}

// ErrDatabaseExists tells that Replace was not allowed to replace the database that is there.
var ErrDatabaseExists = errors.New("there is a database already")

// Replace puts the file from in the place of the embedded database at path, whole or not at all. It is refused with a
// LockedError while a core uses the database, and with ErrDatabaseExists if there is one and overwrite is false. With
// overwrite the former database is kept beside the new one, and its name is returned. from is gone afterwards; it must lie
// in the same file system.
func Replace(ctx context.Context, path, from string, overwrite bool) (kept string, err error) {
	if err := CheckFile(ctx, from); err != nil {
		return "", err
	}
	lock, err := acquireFileLock(path + ".lock")
	if err != nil {
		return "", err
	}
	defer func() { _ = lock.release() }()
	if _, err := os.Lstat(path); err == nil && !overwrite {
		return "", fmt.Errorf("%w: %s", ErrDatabaseExists, path)
	} else if err == nil {
		if kept, err = KeepBeside(path, "-wal"); err != nil {
			return "", fmt.Errorf("keep the former database: %w", err)
		}
	}
	if err := renameDatabase(from, path); err != nil {
		return kept, fmt.Errorf("put the database in place: %w", err)
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return kept, err
	}
	defer dir.Close()
	return kept, dir.Sync()
}

// renameDatabase renames the database from to path. The -wal and -shm files that the former database at path had must not
// be read with the new one: they are set aside first, and put back if the database cannot be renamed.
func renameDatabase(from, path string) (err error) {
	const aside = ".replaced"
	for _, side := range []string{"-wal", "-shm"} {
		side = path + side
		if err := os.Rename(side, side+aside); errors.Is(err, os.ErrNotExist) {
			continue
		} else if err != nil {
			return err
		}
		defer func() {
			if err != nil {
				err = errors.Join(err, os.Rename(side+aside, side))
			} else {
				err = os.Remove(side + aside)
			}
		}()
	}
	return os.Rename(from, path)
}

// KeepBeside gives a file a second name, that of FreeName, and returns it. The files whose names are path and one of sides, where
// there are any, get the same name with that side.
func KeepBeside(path string, sides ...string) (string, error) {
	kept := FreeName(path)
	for {
		err := os.Link(path, kept)
		if err == nil {
			break
		}
		if !errors.Is(err, os.ErrExist) {
			return "", err
		}
		kept = FreeName(path)
	}
	for _, side := range sides {
		if err := os.Link(path+side, kept+side); err != nil && !errors.Is(err, os.ErrNotExist) {
			return kept, err
		}
	}
	return kept, nil
}

// fileTime is how a time stands in the name of a file, in UTC.
const fileTime = "20060102T150405Z"

// restoreTime returns the time of now for a name.
func restoreTime() string { return time.Now().UTC().Format(fileTime) }

// FreeName returns path.before-restore- and the time, with a number behind it if that name is taken.
func FreeName(path string) string {
	name := path + ".before-restore-" + restoreTime()
	free := name
	for n := 2; ; n++ {
		if _, err := os.Lstat(free); err != nil {
			return free
		}
		free = fmt.Sprintf("%s-%d", name, n)
	}
}
