package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// migrationCopy stands between the name of a database and the time of a copy that was made before its schema changed.
	migrationCopy = ".before-migration-"
	// keptCopies is how many of these are kept, the newest.
	keptCopies = 3
	// copyTime is how the time stands in the name of a copy, in UTC, copyPattern what such a name ends with.
	copyTime    = "20060102T150405.000Z"
	copyPattern = migrationCopy + "????????T??????.???Z"
	// copyPartial ends the name of a copy that is being written.
	copyPartial = ".partial"
)

// copyBeforeMigration keeps a copy of the database, an embedded one beside it, and removes the oldest copies. There is no way back from a
// newer schema but a copy: without one the schema does not change, unless the configuration of PostgreSQL says that it may. The caller
// holds the lock of migrations.
func (s *Store) copyBeforeMigration(ctx context.Context) error {
	if s.cfg.Dialect == SQLite {
		return s.keepCopy(ctx, s.cfg.Path)
	}
	if s.cfg.MigrateWithoutCopy {
		s.log.Warn("migrating without a copy of the database, as storage says; only an older backup leads back")
		return nil
	}
	if err := s.keepCopy(ctx, s.cfg.CopyPath); err != nil {
		return fmt.Errorf("%w; nothing was changed: see to it that the copy can be made, or make one by other means and set migration_copy = false (SVC_MIGRATION_COPY) in storage \"postgres\"", err)
	}
	return nil
}

// keepCopy writes a copy whose name begins with base, and removes the oldest ones.
func (s *Store) keepCopy(ctx context.Context, base string) error {
	if err := os.MkdirAll(filepath.Dir(base), 0o700); err != nil {
		return err
	}
	partial := base + migrationCopy + copyPartial
	if err := removeIfThere(partial); err != nil { // of a process that was killed
		return err
	}
	began, path := time.Now(), base+migrationCopy+time.Now().UTC().Format(copyTime)
	err := s.Backup(ctx, partial)
	if err == nil {
		err = errors.Join(os.Chmod(partial, 0o600), syncFile(partial))
	}
	if err != nil {
		return errors.Join(err, removeIfThere(partial))
	}
	if err := os.Rename(partial, path); err != nil {
		return err
	}
	if err := syncFile(filepath.Dir(path)); err != nil {
		return err
	}
	s.log.Info("database copied before the migration", "copy", path, "took", time.Since(began).Round(time.Millisecond))
	return removeOldCopies(base)
}

// removeOldCopies removes all copies whose names begin with base but the newest.
func removeOldCopies(base string) error {
	names, err := os.ReadDir(filepath.Dir(base))
	if err != nil {
		return err
	}
	var copies []string
	for _, e := range names { // in the order of the names, the oldest first
		if ok, _ := filepath.Match(copyPattern, strings.TrimPrefix(e.Name(), filepath.Base(base))); ok {
			copies = append(copies, filepath.Join(filepath.Dir(base), e.Name()))
		}
	}
	for _, old := range copies[:max(0, len(copies)-keptCopies)] {
		if err := os.Remove(old); err != nil {
			return fmt.Errorf("remove an old copy of the database: %w", err)
		}
	}
	return nil
}

// syncFile makes a file, or the names in a directory, durable.
func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func removeIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
