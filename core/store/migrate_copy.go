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

// copyBeforeMigration keeps a copy of the embedded database beside it, and removes the oldest copies. There is no way back from a
// newer schema but a copy. On PostgreSQL it only tells that none is made. The caller holds the lock of migrations.
func (s *Store) copyBeforeMigration(ctx context.Context) error {
	if s.cfg.Dialect != SQLite {
		s.log.Warn("the schema of the database changes now; before an upgrade make a copy with patchbay backup, since there is no other way back")
		return nil
	}
	partial := s.cfg.Path + migrationCopy + copyPartial
	if err := removeIfThere(partial); err != nil { // of a process that was killed
		return err
	}
	began, path := time.Now(), s.cfg.Path+migrationCopy+time.Now().UTC().Format(copyTime)
	if err := errors.Join(s.Backup(ctx, partial), os.Chmod(partial, 0o600), syncFile(partial)); err != nil {
		return errors.Join(err, removeIfThere(partial))
	}
	if err := os.Rename(partial, path); err != nil {
		return err
	}
	if err := syncFile(filepath.Dir(path)); err != nil {
		return err
	}
	s.log.Info("copied the database before its schema changes", "copy", path, "took", time.Since(began).Round(time.Millisecond))
	return s.removeOldCopies()
}

// removeOldCopies removes all copies but the newest.
func (s *Store) removeOldCopies() error {
	names, err := os.ReadDir(filepath.Dir(s.cfg.Path))
	if err != nil {
		return err
	}
	var copies []string
	for _, e := range names { // in the order of the names, the oldest first
		if ok, _ := filepath.Match(copyPattern, strings.TrimPrefix(e.Name(), filepath.Base(s.cfg.Path))); ok {
			copies = append(copies, filepath.Join(filepath.Dir(s.cfg.Path), e.Name()))
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
