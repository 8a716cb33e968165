package store_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

// requireClient skips the test where PostgreSQL has no programs to copy a database.
func requireClient(t *testing.T, cfg store.Config) {
	t.Helper()
	testkit.Require(t, "postgresql-client", cfg.CheckTools() == nil, "install postgresql-client")
}

var must = testkit.Must

// serverNotes returns the notes in a schema of a PostgreSQL database.
func serverNotes(t *testing.T, url, schema string) (out []string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	must(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	rows, err := conn.Query(t.Context(), "SELECT text FROM "+pgx.Identifier{schema, "notes"}.Sanitize()+" ORDER BY id")
	must(t, err)
	out, err = pgx.CollectRows(rows, pgx.RowTo[string])
	must(t, err)
	return out
}

// serverNote writes one row into a table of the test, whose key is a sequence.
func serverNote(t *testing.T, s *store.Store, text string) {
	t.Helper()
	must(t, s.Tx(t.Context(), "note", func(ctx context.Context) error {
		return errors.Join(s.Writer(ctx).Exec("CREATE TABLE IF NOT EXISTS notes (id BIGSERIAL PRIMARY KEY, text TEXT)").Error,
			s.Writer(ctx).Exec("INSERT INTO notes (text) VALUES (?)", text).Error)
	}))
}

// TestBackupAndReplacePostgres copies a database that is in use, and puts the copy back: over tables only if that is asked for, and the
// former tables are kept. A copy that cannot be put in place changes nothing.
func TestBackupAndReplacePostgres(t *testing.T) {
	cfg := testkit.PostgresConfig(t)
	requireClient(t, cfg)
	s, err := store.Open(t.Context(), cfg)
	must(t, err)
	copied := filepath.Join(t.TempDir(), "copy")
	if err := s.Backup(t.Context(), copied); err == nil || !strings.Contains(err.Error(), "no database yet") {
		t.Errorf("without tables: %v", err)
	}
	serverNote(t, s, "before")
	must(t, s.Backup(t.Context(), copied))
	if info, err := os.Stat(copied); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the copy is %v, %v", info, err)
	}
	serverNote(t, s, "after")
	if _, err := store.ReplacePostgres(t.Context(), cfg, copied, true); !errors.Is(err, store.ErrLocked) {
		t.Fatalf("while the database is in use: %v", err)
	}
	must(t, s.Close())
	if _, err := store.ReplacePostgres(t.Context(), cfg, copied, false); !errors.Is(err, store.ErrDatabaseExists) {
		t.Fatalf("over a database: %v", err)
	}
	broken := filepath.Join(t.TempDir(), "broken")
	raw, err := os.ReadFile(copied)
	must(t, err)
	must(t, os.WriteFile(broken, raw[:len(raw)-20], 0o600))
	if kept, err := store.ReplacePostgres(t.Context(), cfg, broken, true); err == nil || kept != "" ||
		!strings.Contains(err.Error(), "put the database in place: pg_restore") {
		t.Errorf("a copy that is cut off: %q, %v", kept, err)
	}
	if got := serverNotes(t, cfg.URL, "public"); len(got) != 2 {
		t.Fatalf("after a copy that is cut off the notes are %v", got)
	}
	kept, err := store.ReplacePostgres(t.Context(), cfg, copied, true)
	must(t, err)
	if got := serverNotes(t, cfg.URL, "public"); fmt.Sprint(got) != "[before]" {
		t.Errorf("the notes are %v", got)
	}
	if got := serverNotes(t, cfg.URL, kept); !strings.HasPrefix(kept, "before_restore_") || fmt.Sprint(got) != "[before after]" {
		t.Errorf("the former notes, in %s, are %v", kept, got)
	}
	if again, err := store.ReplacePostgres(t.Context(), cfg, copied, true); err != nil || again == kept {
		t.Errorf("once more: %q, %v", again, err)
	}
	s, err = store.Open(t.Context(), cfg)
	must(t, err)
	defer s.Close()
	serverNote(t, s, "next")
	if got := serverNotes(t, cfg.URL, "public"); fmt.Sprint(got) != "[before next]" {
		t.Errorf("after a write the notes are %v", got)
	}
}

// recordClient has each program of PostgreSQL note its arguments and its password before it runs, and returns the file.
func recordClient(t *testing.T, version string) (log string) {
	t.Helper()
	dir := t.TempDir()
	log = filepath.Join(dir, "log")
	for _, name := range []string{"pg_dump", "pg_restore", "psql"} {
		real, err := exec.LookPath(name)
		must(t, err)
		script := fmt.Sprintf("#!/bin/sh\necho \"%s $* password=$PGPASSWORD\" >>'%s'\n", name, log)
		if version != "" {
			script += fmt.Sprintf("[ \"$1\" != --version ] || { echo 'pg_dump (PostgreSQL) %s'; exit; }\n", version)
		}
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(script+"exec '"+real+"' \"$@\"\n"), 0o700))
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return log
}

// TestPostgresPasswordIsNoArgument: the programs get the password in their environment alone, and no error shows it.
func TestPostgresPasswordIsNoArgument(t *testing.T) {
	cfg := testkit.PostgresConfig(t)
	requireClient(t, cfg)
	const secret = "a-secret-47!1"
	u, err := url.Parse(cfg.URL)
	must(t, err)
	u.User = url.UserPassword(u.User.Username(), secret)
	cfg.URL, cfg.Exclusive = u.String(), false
	s, err := store.Open(t.Context(), cfg)
	must(t, err)
	defer s.Close()
	serverNote(t, s, "one")
	log := recordClient(t, "")
	copied := filepath.Join(t.TempDir(), "copy")
	must(t, s.Backup(t.Context(), copied))
	_, err = store.ReplacePostgres(t.Context(), cfg, copied, true)
	must(t, err)
	text, err := os.ReadFile(log)
	must(t, err)
	for _, name := range []string{"pg_dump", "pg_restore", "psql"} {
		if !strings.Contains(string(text), "\n"+name+" ") && !strings.HasPrefix(string(text), name+" ") {
			t.Errorf("%s was not run: %s", name, text)
		}
	}
	for line := range strings.Lines(string(text)) {
		if arguments, password, _ := strings.Cut(strings.TrimSpace(line), " password="); strings.Contains(arguments, secret) ||
			password != secret {
			t.Errorf("a program was run as %s", line)
		}
	}
	err = s.Backup(t.Context(), copied)
	if err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("over a file: %v", err)
	}
}

// TestBackupNamesThePackage: without the programs of PostgreSQL, or with those of an older version, the error says what to install.
func TestBackupNamesThePackage(t *testing.T) {
	cfg := testkit.PostgresConfig(t)
	requireClient(t, cfg)
	cfg.Exclusive = false
	s, err := store.Open(t.Context(), cfg)
	must(t, err)
	defer s.Close()
	serverNote(t, s, "one")
	copied := filepath.Join(t.TempDir(), "copy")
	recordClient(t, "9.6.1")
	if err := s.Backup(t.Context(), copied); err == nil || !strings.Contains(err.Error(), "pg_dump has the version 9, and the server") ||
		!strings.Contains(err.Error(), "postgresql-client") {
		t.Errorf("with an older pg_dump: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if err := s.Backup(t.Context(), copied); err == nil || !strings.Contains(err.Error(), "needs pg_dump") ||
		!strings.Contains(err.Error(), "postgresql-client") {
		t.Errorf("without pg_dump: %v", err)
	}
	if _, err := store.ReplacePostgres(t.Context(), cfg, copied, true); err == nil || !strings.Contains(err.Error(), "postgresql-client") {
		t.Errorf("without psql: %v", err)
	}
}
