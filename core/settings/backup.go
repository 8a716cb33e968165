package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Backup is the block backup of plugin.hcl: archives that the core writes by itself. Without the block it writes none.
type Backup struct {
	To     string        `patchbay:"to,default=" doc:"Directory of the archives. Patchbay creates it."`
	Every  time.Duration `patchbay:"every,default=24h" doc:"Time from one backup to the next, at least 1m."`
	Keep   int64         `patchbay:"keep,default=7" doc:"Archives to keep, 1 to 1000. Patchbay removes older ones after a new one is complete."`
	Notify []string      `patchbay:"notify,ref=notify" doc:"Channels to notify when a backup fails, and when one succeeds again."`
}

// decodeBackup decodes the block, if it is declared, and makes its directory absolute.
func (s *Settings) decodeBackup() config.Diagnostics {
	block := s.File.Backup()
	if block == nil || !block.Declared {
		return nil
	}
	s.Backup = &Backup{}
	diags := block.Decode(s.Backup)
	var found schema.Diagnostics
	if err := s.Store.CheckTools(); err != nil {
		found = append(found, schema.Errorf(schema.At("to"), "%v", err)...)
	}
	if s.Backup.Every < time.Minute {
		found = append(found, schema.Errorf(schema.At("every"), "must be at least 1m")...)
	}
	if s.Backup.Keep < 1 || s.Backup.Keep > 1000 {
		found = append(found, schema.Errorf(schema.At("keep"), "must be from 1 to 1000")...)
	}
	if s.Backup.To == "" {
		return append(diags, block.Locate(append(found, schema.Errorf(schema.At("to"), "must name the directory of the archives")...))...)
	}
	s.Backup.To = AbsolutePath(s.File.Dir, s.Backup.To)
	instances := filepath.Join(s.DataDir, "instances")
	if s.Backup.To == instances || strings.HasPrefix(s.Backup.To, instances+string(filepath.Separator)) {
		found = append(found, schema.Errorf(schema.At("to"), "%s is part of what is backed up", s.Backup.To)...)
	}
	return append(diags, block.Locate(found)...)
}

// CheckBackupFolder finds out whether archives could be written. It makes nothing.
func (s *Settings) CheckBackupFolder() config.Diagnostics {
	if s.Backup == nil {
		return nil
	}
	return s.File.Backup().Locate(diagnosticAt("to", checkWritable(s.Backup.To)))
}

// checkWritable returns why a directory cannot be written to or, if it is missing, cannot be made.
func checkWritable(dir string) error {
	for path := dir; ; path = filepath.Dir(path) {
		info, err := os.Stat(path)
		if (errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR)) && path != filepath.Dir(path) {
			continue
		}
		switch {
		case err != nil:
			return fmt.Errorf("backups cannot be written: %w", err)
		case !info.IsDir():
			return fmt.Errorf("backups cannot be written: %s is not a directory", path)
		}
		if err := unix.Access(path, unix.W_OK|unix.X_OK); err != nil {
			return fmt.Errorf("backups cannot be written: %s: %w", path, err)
		}
		return nil
	}
}
