package testkit

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/patchbay-dev/patchbay/core/store"
)

// SQLiteConfig is the configuration of a fresh SQLite database in the test's own directory.
func SQLiteConfig(t testing.TB) store.Config {
	t.Helper()
	return store.Config{Dialect: store.SQLite, Path: filepath.Join(t.TempDir(), "test.sqlite3"), Exclusive: true}
}

// PostgresConfig is the configuration of a fresh PostgreSQL database, which migrates without a copy, or Require's skip.
func PostgresConfig(t testing.TB) store.Config {
	t.Helper()
	return store.Config{Dialect: store.Postgres, URL: Postgres(t), Exclusive: true, MigrateWithoutCopy: true}
}

// OpenStore opens and migrates a store and closes it when the test ends.
func OpenStore(t testing.TB, cfg store.Config, modules ...store.Migrations) *store.Store {
	t.Helper()
	st, err := store.Open(context.Background(), cfg)
	if err != nil {
		t.Fatalf("open the store: %v", err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	if err := st.Migrate(context.Background(), modules...); err != nil {
		t.Fatalf("migrate the store: %v", err)
	}
	return st
}

// ForEachDialect runs a test on a fresh database of every dialect.
func ForEachDialect(t *testing.T, test func(t *testing.T, cfg store.Config)) {
	t.Helper()
	t.Run(string(store.SQLite), func(t *testing.T) { test(t, SQLiteConfig(t)) })
	t.Run(string(store.Postgres), func(t *testing.T) { test(t, PostgresConfig(t)) })
}
