package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/core/plugin/pin"
	"github.com/patchbay-dev/patchbay/core/settings"
	"github.com/patchbay-dev/patchbay/core/store"
)

// manifest tells what the names of an archive do not.
type manifest struct {
	// Plugins are the files of third-party plugins.
	Plugins []pluginFile `json:"plugins"`
}

// pluginFile is a file of a plugin that is not built in: its executable, or an argument that is a file.
type pluginFile struct {
	// Path is where it lay, relative to plugin.hcl. Former versions wrote absolute paths of files elsewhere.
	Path string `json:"path"`
	// Digest is the SHA-256 in hexadecimal digits, by which the archive names it.
	Digest string `json:"digest"`
}

// Backup writes an archive of a consistent copy of the database and of what belongs to it: plugin.hcl with its lock file and the files of
// third-party plugins below the directory of plugin.hcl, the data of instances and, if withKey, the master key and the secrets that the
// console has written. The core may be running. The archive has mode 0600 and must not exist yet.
func Backup(ctx context.Context, src settings.Source, archive string, withKey bool) (config.Diagnostics, error) {
	set, diags, err := src.Read()
	if err != nil || diags.HasErrors() {
		return diags, err
	}
	if set.Store.Dialect == store.SQLite {
		if _, err := os.Stat(set.Store.Path); err != nil {
			return diags, fmt.Errorf("there is no database yet: %w", err)
		}
	}
	st, err := store.Open(ctx, set.Store)
	if err != nil {
		return diags, err
	}
	defer st.Close()
	return diags, WriteBackup(ctx, st, set, archive, withKey)
}

// WriteBackup is Backup with a database that is open.
func WriteBackup(ctx context.Context, st *store.Store, set *settings.Settings, archive string, withKey bool) error {
	if _, err := os.Lstat(archive); err == nil {
		return fmt.Errorf("make the archive: %s: %w", archive, fs.ErrExist)
	}
	database := databasePath(set)
	lock, err := lockBackup(database)
	if err != nil {
		return err
	}
	defer lock.Close()
	removeStale(filepath.Dir(database), filepath.Dir(archive))
	dir, err := os.MkdirTemp(filepath.Dir(database), copyPrefix)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	copied := filepath.Join(dir, databaseMember(set))
	if err := st.Backup(ctx, copied); err != nil {
		return err
	}
	members, err := configurationMembers(set, filepath.Join(dir, backupManifest))
	if err != nil {
		return err
	}
	members = append(members, member{name: databaseMember(set), from: copied})
	if withKey {
		if set.Core.SecretKey == "" {
			members = append(members, member{name: backupKey, from: set.KeyFile()})
		}
		if members, err = appendFolder(members, backupSecrets, filepath.Join(set.DataDir, backupSecrets)); err != nil {
			return err
		}
	}
	if members, err = appendFolder(members, backupInstances, filepath.Join(set.DataDir, backupInstances)); err != nil {
		return err
	}
	return writeArchive(ctx, archive, members)
}

// databaseMember returns the name of the database in an archive.
func databaseMember(set *settings.Settings) string {
	if set.Store.Dialect == store.Postgres {
		return backupDump
	}
	return backupDatabase
}

// databasePath returns the file of the embedded database. A copy of PostgreSQL is made in the data directory.
func databasePath(set *settings.Settings) string {
	if set.Store.Dialect == store.Postgres {
		return set.CopyFile()
	}
	return set.Store.Path
}

// copyPrefix begins the names of directories that hold the copy of the database while an archive is written.
const copyPrefix = "backup-"

// staleAfter is how long nothing was written to an archive that nobody writes any more.
const staleAfter = time.Hour

// lockBackup keeps a second backup of a database away. The kernel releases the lock when the process ends.
func lockBackup(database string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(database), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(database+".backup.lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, errors.New("another backup of this database is being written: wait until it has ended")
	}
	return f, nil
}

// removeStale removes what killed backups have left. The caller holds the lock; folders of archives may have other databases.
func removeStale(databases, archives string) {
	copies, _ := filepath.Glob(filepath.Join(databases, copyPrefix+"*"))
	for _, dir := range copies {
		_ = os.RemoveAll(dir)
	}
	partial, _ := filepath.Glob(filepath.Join(archives, partialPattern))
	for _, file := range partial {
		if info, err := os.Lstat(file); err == nil && time.Since(info.ModTime()) > staleAfter {
			_ = os.Remove(file)
		}
	}
}

// configurationMembers returns plugin.hcl, its lock file and the files of third-party plugins, and writes the manifest.
func configurationMembers(set *settings.Settings, manifestPath string) ([]member, error) {
	lock := config.LockPath(set.File.Path)
	members := []member{{name: backupManifest, from: manifestPath}, {name: backupConfig, from: set.File.Path}}
	if _, err := os.Stat(lock); err == nil {
		members = append(members, member{name: backupLock, from: lock})
	}
	found, known := manifest{Plugins: []pluginFile{}}, map[string]bool{}
	paths, err := pluginPaths(set)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if !isBelow(set.File.Dir, path) {
			continue // a restore places nothing elsewhere
		}
		digest, err := pin.FileDigest(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // plugin.hcl may name what is not installed
		}
		if err != nil {
			return nil, fmt.Errorf("read a plugin: %w", err)
		}
		name, err := filepath.Rel(set.File.Dir, path)
		if err != nil {
			return nil, err
		}
		found.Plugins = append(found.Plugins, pluginFile{Path: name, Digest: digest})
		if !known[digest] {
			known[digest] = true
			members = append(members, member{name: backupPlugins + "/" + digest, from: path})
		}
	}
	raw, err := json.MarshalIndent(found, "", "  ")
	if err != nil {
		return nil, err
	}
	return members, os.WriteFile(manifestPath, raw, 0o600)
}

// pluginPaths returns the executables of the plugins that plugin.hcl names, their arguments that are files, and what lies in the folders of
// those.
func pluginPaths(set *settings.Settings) (paths []string, err error) {
	for _, p := range set.File.Plugins {
		if p.Path == "" {
			continue
		}
		paths = append(paths, p.Path)
		parts := settings.FindParts(set.File.Dir, p)
		for _, file := range parts.Files {
			paths = append(paths, file)
		}
		for _, folder := range parts.Folders {
			if !isBelow(set.File.Dir, folder) {
				continue
			}
			files, err := pin.TreeFiles(folder)
			if err != nil {
				return nil, fmt.Errorf("read the folder of a plugin: %w", err)
			}
			paths = append(paths, files...)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// appendFolder appends the regular files of a folder, which may be missing. Links and sockets are left out.
func appendFolder(members []member, name, folder string) ([]member, error) {
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		members = append(members, member{name: name + filepath.ToSlash(strings.TrimPrefix(path, folder)), from: path, transient: true})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", folder, err)
	}
	return members, nil
}
