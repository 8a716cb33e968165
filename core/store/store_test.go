package store_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

// things are the tables that the tests use.
func things() store.Migrations {
	const up = "-- +goose Up\nCREATE TABLE things (id BIGINT PRIMARY KEY, name TEXT NOT NULL UNIQUE);\n"
	return store.Migrations{Module: "things", FS: fstest.MapFS{
		"sqlite/0001_things.sql":   {Data: []byte(up)},
		"postgres/0001_things.sql": {Data: []byte(up)},
	}}
}

type thing struct {
	ID   int64
	Name string
}

func forEach(t *testing.T, test func(t *testing.T, st *store.Store)) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		test(t, testkit.OpenStore(t, cfg, things()))
	})
}

func add(st *store.Store, ctx context.Context, id int64, name string) error {
	return st.Tx(ctx, "add thing", func(ctx context.Context) error {
		return st.Writer(ctx).Create(&thing{ID: id, Name: name}).Error
	})
}

func count(t *testing.T, st *store.Store) int64 {
	t.Helper()
	var n int64
	if err := st.DB(t.Context()).Model(&thing{}).Count(&n).Error; err != nil {
		t.Fatal(err)
	}
	return n
}

func TestOpenSQLiteErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte(strings.Repeat("this is no database\n", 300)), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, path string
		want       []string
	}{
		{"no path", "", []string{"no path is set"}},
		{"directory below a file", filepath.Join(file, "sub", "x.db"), []string{filepath.Join(file, "sub"), "directory"}},
		{"is a directory", dir, []string{dir, "is a directory"}},
		{"not a database", file, []string{file, "not an SQLite database"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			st, err := store.Open(t.Context(), store.Config{Dialect: store.SQLite, Path: tt.path})
			if err == nil {
				st.Close()
				t.Fatal("opened")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
		})
	}
}

func TestOpenReadOnlyDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if f, err := os.Create(filepath.Join(dir, "x")); err == nil {
		f.Close()
		// Permissions do not hold for this user, but in /proc nobody makes files.
		dir = "/proc/self"
		_, err := os.Stat(dir)
		testkit.Require(t, "a directory in which nobody may write", err == nil, "mount /proc, or run as another user than root")
	}
	_, err := store.Open(t.Context(), store.Config{Dialect: store.SQLite, Path: filepath.Join(dir, "x.db")})
	if err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "writable") {
		t.Fatalf("got %v", err)
	}
}

func TestOpenOddPaths(t *testing.T) {
	for _, name := range []string{"a b", "50%25", "q?x=1", "h#sh", "数据"} {
		path := filepath.Join(t.TempDir(), name, "db.sqlite3")
		st := testkit.OpenStore(t, store.Config{Dialect: store.SQLite, Path: path}, things())
		if err := add(st, t.Context(), 1, "a"); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Errorf("the file is not where it should be: %v", err)
		}
	}
}

func TestFileIsPrivate(t *testing.T) {
	cfg := testkit.SQLiteConfig(t)
	testkit.OpenStore(t, cfg)
	info, err := os.Stat(cfg.Path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", info.Mode(), err)
	}
}

func TestOpenPostgresErrors(t *testing.T) {
	const password = "s3cr3t-passw0rd"
	for _, url := range []string{
		"postgres://u:" + password + "@127.0.0.1:1/db?sslmode=disable&connect_timeout=2",
		"postgres://u:" + password + "@127.0.0.1:port/db",
		"postgres://u:" + password + "@[::1",
	} {
		_, err := store.Open(t.Context(), store.Config{Dialect: store.Postgres, URL: url})
		if err == nil || strings.Contains(err.Error(), password) {
			t.Errorf("got %v", err)
		}
	}
}

func TestOpenUnknownDialect(t *testing.T) {
	if _, err := store.Open(t.Context(), store.Config{Dialect: "mysql"}); err == nil || !strings.Contains(err.Error(), "mysql") {
		t.Fatalf("got %v", err)
	}
}

func TestExclusive(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		first, err := store.Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		_, err = store.Open(t.Context(), cfg)
		var locked *store.LockedError
		if !errors.Is(err, store.ErrLocked) || !errors.As(err, &locked) {
			t.Fatalf("second core: %v", err)
		}
		if !strings.Contains(locked.Holder, "process") || !strings.Contains(err.Error(), locked.What) {
			t.Errorf("the error must say who and what: %v", err)
		}
		beside := cfg
		beside.Exclusive = false
		second, err := store.Open(t.Context(), beside)
		if err != nil {
			t.Fatalf("a command beside the core: %v", err)
		}
		if err := errors.Join(second.Close(), first.Close()); err != nil {
			t.Fatal(err)
		}
		// Each next one comes at once.
		for i := range 20 {
			next, err := store.Open(t.Context(), cfg)
			if err != nil {
				t.Fatalf("%d after the first ended: %v", i, err)
			}
			if err := errors.Join(next.Ping(t.Context()), next.Close()); err != nil {
				t.Fatal(err)
			}
		}
	})
}
