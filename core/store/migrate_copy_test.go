package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

// withCopies returns a configuration of a database that is copied before its schema changes, and what the names of the copies begin with.
func withCopies(t *testing.T, cfg store.Config) (copied store.Config, base string) {
	t.Helper()
	if cfg.Dialect == store.SQLite {
		return cfg, cfg.Path
	}
	requireClient(t, cfg)
	cfg.MigrateWithoutCopy, cfg.CopyPath = false, filepath.Join(t.TempDir(), "data", "patchbay.pgdump")
	return cfg, cfg.CopyPath
}

// listCopies returns the copies whose names begin with base, the oldest first.
func listCopies(t *testing.T, base string) []string {
	t.Helper()
	found, err := filepath.Glob(base + ".before-migration-*")
	must(t, err)
	return found
}

// openCopy opens a copy as a database of its own.
func openCopy(t *testing.T, dialect store.Dialect, path string) *store.Store {
	t.Helper()
	cfg := store.Config{Dialect: store.SQLite, Path: path}
	if dialect == store.Postgres {
		cfg = testkit.PostgresConfig(t)
		_, err := store.ReplacePostgres(t.Context(), cfg, path, false)
		must(t, err)
	}
	st, err := store.Open(t.Context(), cfg)
	must(t, err)
	t.Cleanup(func() { _ = st.Close() })
	return st
}

// nextThings adds a migration to a module, for both dialects.
func nextThings(m store.Migrations, n int) {
	for _, dialect := range []string{"sqlite", "postgres"} {
		m.FS.(fstest.MapFS)[fmt.Sprintf("%s/%04d_more.sql", dialect, n)] = &fstest.MapFile{Data: fmt.Appendf(nil,
			"-- +goose Up\nCREATE TABLE more%d (id BIGINT);\n", n)}
	}
}

// countMore returns how many of the tables that nextThings makes are there.
func countMore(t *testing.T, st *store.Store) (n int) {
	t.Helper()
	tables := "sqlite_master"
	if st.Dialect() == store.Postgres {
		tables = "(SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public') AS tables"
	}
	must(t, st.DB(t.Context()).Raw("SELECT COUNT(*) FROM "+tables+" WHERE name LIKE 'more%'").Scan(&n).Error)
	return n
}

// TestMigrateKeepsACopy changes the schema of a database that is in use again and again: there are the newest copies of what was before,
// each with the former schema.
func TestMigrateKeepsACopy(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		cfg, base := withCopies(t, cfg)
		st, err := store.Open(t.Context(), cfg)
		must(t, err)
		defer st.Close()
		next := things()
		if err := st.Migrate(t.Context(), next); err != nil || len(listCopies(t, base)) > 0 {
			t.Fatalf("a new database: %v, %q", err, listCopies(t, base))
		}
		must(t, os.MkdirAll(filepath.Dir(base), 0o700))
		must(t, os.WriteFile(base+".before-migration-.partial", []byte("of a process that was killed"), 0o600))
		for n := 2; n < 7; n++ {
			must(t, add(st, t.Context(), int64(n), fmt.Sprint("before ", n)))
			nextThings(next, n)
			for range 2 { // the second time there is nothing to change
				must(t, st.Migrate(t.Context(), next))
			}
		}
		found := listCopies(t, base)
		if len(found) != 3 {
			t.Fatalf("the copies are %q", found)
		}
		for i, path := range found {
			info, err := os.Stat(path)
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v", path, info, err)
			}
			former := openCopy(t, cfg.Dialect, path)
			if rows, tables := count(t, former), countMore(t, former); rows != int64(i+3) || tables != i+2 {
				t.Errorf("copy %d has %d rows and %d new tables", i, rows, tables)
			}
		}
	})
}

// TestMigrateNeedsACopy: where PostgreSQL cannot be copied its schema stays as it is, and the error names what is missing and the setting
// by which it may change all the same.
func TestMigrateNeedsACopy(t *testing.T) {
	cfg, base := withCopies(t, testkit.PostgresConfig(t))
	st, err := store.Open(t.Context(), cfg)
	must(t, err)
	next := things()
	t.Run("a new database", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		must(t, st.Migrate(t.Context(), next))
	})
	nextThings(next, 2)
	refuse := func(reason string) {
		t.Helper()
		err := st.Migrate(t.Context(), next)
		for _, want := range []string{reason, "postgresql-client", "nothing was changed", "migration_copy = false"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("the error is %v, want %q", err, want)
			}
		}
		if n := countMore(t, st); n != 0 || len(listCopies(t, base)) > 0 {
			t.Errorf("%s: there are %d new tables and the copies %q", reason, n, listCopies(t, base))
		}
	}
	t.Run("an older pg_dump", func(t *testing.T) {
		recordClient(t, "9.6.1")
		refuse("pg_dump has the version 9, and the server")
	})
	t.Run("no pg_dump", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		refuse("needs pg_dump, which is not in PATH")
		must(t, st.Close())
		cfg.MigrateWithoutCopy = true
		st, err = store.Open(t.Context(), cfg)
		must(t, err)
		if err := st.Migrate(t.Context(), next); err != nil || countMore(t, st) != 1 || len(listCopies(t, base)) > 0 {
			t.Errorf("without a copy: %v, the copies are %q", err, listCopies(t, base))
		}
	})
	must(t, errors.Join(st.Migrate(t.Context(), next), st.Close()))
}
