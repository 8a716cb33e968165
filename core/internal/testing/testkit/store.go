package testkit

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/cluster"
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

// SharedStore opens a PostgreSQL database, as Postgres makes one, beside other stores of the test.
func SharedStore(t testing.TB, url string, modules ...store.Migrations) *store.Store {
	t.Helper()
	return OpenStore(t, store.Config{Dialect: store.Postgres, URL: url, Shared: true, MigrateWithoutCopy: true},
		append(modules, cluster.Migrations())...)
}

// OpenCluster makes the core of a test known among those of its database until the test ends. The migrations of cluster must have run. Cores
// that share the database have long leases, so that only those end which a test ends.
func OpenCluster(t testing.TB, st *store.Store, id string, shared bool) *cluster.Cluster {
	t.Helper()
	cfg := cluster.Config{Store: st, ID: id, Shared: shared}
	if shared {
		cfg.Lease, cfg.Beat = time.Minute, 200*time.Millisecond
	}
	c, err := cluster.Open(context.Background(), cfg)
	if err != nil {
		t.Fatalf("open the cluster: %v", err)
	}
	t.Cleanup(c.Close)
	return c
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
