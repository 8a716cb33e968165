package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/patchbay-dev/patchbay/core/store"
)

// note writes one row into a table of the test.
func note(t *testing.T, s *store.Store, text string) {
	t.Helper()
	err := s.Tx(t.Context(), "note", func(ctx context.Context) error {
		if err := s.Writer(ctx).Exec("CREATE TABLE IF NOT EXISTS notes (text TEXT)").Error; err != nil {
			return err
		}
		return s.Writer(ctx).Exec("INSERT INTO notes VALUES (?)", text).Error
	})
	if err != nil {
		t.Fatal(err)
	}
}

func notes(t *testing.T, s *store.Store) (out []string) {
	t.Helper()
	if err := s.DB(t.Context()).Raw("SELECT text FROM notes ORDER BY rowid").Scan(&out).Error; err != nil {
		t.Fatal(err)
	}
	return out
}

func TestBackupAndReplace(t *testing.T) {
	dir := t.TempDir()
	cfg := store.Config{Dialect: store.SQLite, Path: filepath.Join(dir, "a.sqlite3"), Exclusive: true}
	s, err := store.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	note(t, s, "before")
	copied := filepath.Join(dir, "copy")
	if err := s.Backup(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	note(t, s, "after")
	if _, err := store.Replace(t.Context(), cfg.Path, copied, true); !errors.Is(err, store.ErrLocked) {
		t.Fatalf("while the database is in use: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Replace(t.Context(), cfg.Path, copied, false); !errors.Is(err, store.ErrDatabaseExists) {
		t.Fatalf("over a database: %v", err)
	}
	kept, err := store.Replace(t.Context(), cfg.Path, copied, true)
	if err != nil {
		t.Fatal(err)
	}
	if s, err = store.Open(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := notes(t, s); len(got) != 1 || got[0] != "before" {
		t.Fatalf("notes are %v", got)
	}
	if ok, _ := filepath.Match(cfg.Path+".before-restore-????????T??????Z", kept); !ok {
		t.Errorf("the former database is %q", kept)
	}
	former, err := store.Open(t.Context(), store.Config{Dialect: store.SQLite, Path: kept})
	if err != nil {
		t.Fatal(err)
	}
	defer former.Close()
	if got := notes(t, former); len(got) != 2 || got[1] != "after" {
		t.Errorf("the notes of the former database are %v", got)
	}
}

// What a killed core wrote last is in the -wal file alone.
func TestReplaceKeepsTheWriteAheadLog(t *testing.T) {
	dir := t.TempDir()
	cfg := store.Config{Dialect: store.SQLite, Path: filepath.Join(dir, "a.sqlite3")}
	s, err := store.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	note(t, s, "in the log")
	copied := filepath.Join(dir, "copy")
	if err := s.Backup(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	// The store is still open, without the lock, so that its log was not written back.
	kept, err := store.Replace(t.Context(), cfg.Path, copied, true)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(kept + "-wal"); err != nil || info.Size() == 0 {
		t.Fatalf("the log of the former database: %v, %v", info, err)
	}
	former, err := store.Open(t.Context(), store.Config{Dialect: store.SQLite, Path: kept})
	if err != nil {
		t.Fatal(err)
	}
	defer former.Close()
	if got := notes(t, former); len(got) != 1 || got[0] != "in the log" {
		t.Errorf("the notes of the former database are %v", got)
	}
}

func TestKeepBesideTakesAFreeName(t *testing.T) {
	path, names := filepath.Join(t.TempDir(), "key"), map[string]byte{}
	for n := range byte(3) {
		if err := os.WriteFile(path, []byte{n}, 0o600); err != nil {
			t.Fatal(err)
		}
		kept, err := store.KeepBeside(path)
		if ok, _ := filepath.Match(path+".before-restore-????????T??????Z*", kept); err != nil || !ok {
			t.Errorf("it is kept as %q, %v", kept, err)
		}
		names[kept] = n
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if len(names) != 3 {
		t.Errorf("the names are %v", names)
	}
	for name, n := range names {
		if got, err := os.ReadFile(name); err != nil || len(got) != 1 || got[0] != n {
			t.Errorf("%s holds %v, %v", name, got, err)
		}
	}
}

func TestReplaceRefusesADamagedFile(t *testing.T) {
	dir := t.TempDir()
	bad, path := filepath.Join(dir, "bad"), filepath.Join(dir, "a.sqlite3")
	if err := os.WriteFile(bad, []byte("this is no database, whatever its name says"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Replace(t.Context(), path, bad, true); err == nil {
		t.Fatal("a damaged file was taken")
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("something was put in place: %v", err)
	}
}

func TestReplaceKeepsTheDatabaseWhenItFails(t *testing.T) {
	dir := t.TempDir()
	cfg := store.Config{Dialect: store.SQLite, Path: filepath.Join(dir, "a.sqlite3")}
	s, err := store.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	note(t, s, "in the log")
	copied := filepath.Join(dir, "copy")
	if err := s.Backup(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(copied)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	// This name can be read, but not be renamed.
	copied = fmt.Sprintf("/proc/self/fd/%d", file.Fd())
	log, err := os.ReadFile(cfg.Path + "-wal")
	if err != nil || len(log) == 0 {
		t.Fatalf("the log has %d bytes: %v", len(log), err)
	}
	if _, err := store.Replace(t.Context(), cfg.Path, copied, true); err == nil {
		t.Fatal("a file was renamed from another file system")
	}
	if after, err := os.ReadFile(cfg.Path + "-wal"); err != nil || !bytes.Equal(after, log) {
		t.Errorf("the log has %d bytes now, not %d: %v", len(after), len(log), err)
	}
	if left, err := filepath.Glob(cfg.Path + "*.replaced"); err != nil || len(left) > 0 {
		t.Errorf("files are left: %v, %v", left, err)
	}
}
