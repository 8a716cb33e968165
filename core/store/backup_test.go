package store_test

import (
	"context"
	"errors"
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
	if err := store.Replace(t.Context(), cfg.Path, copied); !errors.Is(err, store.ErrLocked) {
		t.Fatalf("while the database is in use: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := store.Replace(t.Context(), cfg.Path, copied); err != nil {
		t.Fatal(err)
	}
	if s, err = store.Open(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := notes(t, s); len(got) != 1 || got[0] != "before" {
		t.Fatalf("notes are %v", got)
	}
}

func TestReplaceRefusesADamagedFile(t *testing.T) {
	dir := t.TempDir()
	bad, path := filepath.Join(dir, "bad"), filepath.Join(dir, "a.sqlite3")
	if err := os.WriteFile(bad, []byte("this is no database, whatever its name says"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := store.Replace(t.Context(), path, bad); err == nil {
		t.Fatal("a damaged file was taken")
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("something was put in place: %v", err)
	}
}
