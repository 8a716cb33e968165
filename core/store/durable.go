package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
	sqlite3 "github.com/mattn/go-sqlite3"
)

// SyncToDisk waits until everything that was committed would outlive a loss of power. A commit itself outlives a crash of the
// process alone, on SQLite; on PostgreSQL there is nothing to wait for.
func (s *Store) SyncToDisk() error {
	if s.cfg.Dialect != SQLite {
		return nil
	}
	log, err := os.Open(s.cfg.Path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return nil // everything is in the database itself, which was synced then
	}
	if err != nil {
		return fmt.Errorf("sync the database %s: %w", s.cfg.Path, err)
	}
	if err := errors.Join(syncData(log), log.Close()); err != nil {
		return fmt.Errorf("sync the database %s: %w", s.cfg.Path, err)
	}
	return nil
}

// RelaxDurability lets the running transaction commit before it is on the disk, as those on SQLite always do: a loss of power may undo
// it, as if it had not happened.
func (s *Store) RelaxDurability(ctx context.Context) error {
	if s.cfg.Dialect != Postgres {
		return nil
	}
	return s.Writer(ctx).Exec("SET LOCAL synchronous_commit = off").Error
}

// sqlstateDiskFull is PostgreSQL's code for a disk without space.
const sqlstateDiskFull = "53100"

// IsDiskFull reports whether an error comes from a disk without space.
func IsDiskFull(err error) bool {
	var pg *pgconn.PgError
	return isDatabaseFull(err) || errors.As(err, &pg) && pg.Code == sqlstateDiskFull ||
		errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// isDatabaseFull reports whether SQLite itself has failed for want of disk space: not a file elsewhere that a transaction has written.
func isDatabaseFull(err error) bool {
	var lite sqlite3.Error
	return errors.As(err, &lite) && lite.Code == sqlite3.ErrFull
}
