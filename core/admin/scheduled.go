package admin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/patchbay-dev/patchbay/core/settings"
	"github.com/patchbay-dev/patchbay/core/store"
)

// The names of archives in the directory of the block backup. In the order of the names the oldest is the first.
const (
	archiveName    = "patchbay-20060102T150405.000Z.tar.gz"
	archivePattern = "patchbay-????????T??????.???Z.tar.gz"
)

// ScheduledBackup is what WriteScheduled has done.
type ScheduledBackup struct {
	// File is the new archive, Bytes its size.
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
	// Removed are the archives that were removed.
	Removed []string `json:"removed"`
}

// WriteScheduled writes an archive, with the master key, into the directory of the block backup, named after the time. When it is whole,
// it removes the oldest archives beyond those to keep. Other files in the directory are left alone.
func WriteScheduled(ctx context.Context, st *store.Store, set *settings.Settings, now time.Time) (done ScheduledBackup, err error) {
	if err := os.MkdirAll(set.Backup.To, 0o700); err != nil {
		return done, fmt.Errorf("make the directory of backups: %w", err)
	}
	done.File, done.Removed = filepath.Join(set.Backup.To, now.UTC().Format(archiveName)), []string{}
	if err := WriteBackup(ctx, st, set, done.File, true); err != nil {
		return done, err
	}
	info, err := os.Stat(done.File)
	if err != nil {
		return done, err
	}
	done.Bytes = info.Size()
	archives, err := filepath.Glob(filepath.Join(set.Backup.To, archivePattern))
	if err != nil {
		return done, err
	}
	slices.Sort(archives)
	var failures []error
	for _, old := range archives[:max(0, len(archives)-int(set.Backup.Keep))] {
		if err := os.Remove(old); err != nil {
			failures = append(failures, fmt.Errorf("remove an old backup: %w", err))
			continue
		}
		done.Removed = append(done.Removed, old)
	}
	return done, errors.Join(failures...)
}
