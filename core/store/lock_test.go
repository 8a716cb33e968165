package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

const advisoryHolders = `FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' AND datname = current_database()`

// breakLock ends the connection that holds the lock; with steal, another takes it first.
func breakLock(t *testing.T, url string, steal bool) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(ctx) })
	var key int64
	var pid int
	err = conn.QueryRow(ctx, "SELECT pid, (classid::bigint << 32) | objid::bigint "+advisoryHolders).Scan(&pid, &key)
	if err != nil {
		t.Fatal(err)
	}
	waiter, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	taken := make(chan error, 1)
	if steal {
		t.Cleanup(func() { waiter.Close(ctx) })
		go func() {
			_, err := waiter.Exec(ctx, "SELECT pg_advisory_lock($1)", key)
			taken <- err
		}()
		testkit.Eventually(t, time.Minute, func() bool {
			var n int
			return conn.QueryRow(ctx, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted").Scan(&n) == nil && n > 0
		}, "the other waits for the lock")
	} else {
		waiter.Close(ctx)
		taken <- nil
	}
	if _, err := conn.Exec(ctx, "SELECT pg_terminate_backend($1)", pid); err != nil {
		t.Fatal(err)
	}
	if err := <-taken; err != nil {
		t.Fatal(err)
	}
}

func TestServerLockIsTakenAgain(t *testing.T) {
	cfg := testkit.PostgresConfig(t)
	cfg.LockCheck = 20 * time.Millisecond
	st := testkit.OpenStore(t, cfg)
	breakLock(t, cfg.URL, false)
	testkit.Eventually(t, time.Minute, func() bool {
		var n int
		return st.DB(context.Background()).Raw("SELECT count(*) "+advisoryHolders).Scan(&n).Error == nil && n == 1
	}, "the lock is held again")
	select {
	case <-st.LockLost():
		t.Error("it was not lost")
	default:
	}
}

func TestServerLockIsLost(t *testing.T) {
	cfg := testkit.PostgresConfig(t)
	cfg.LockCheck = 20 * time.Millisecond
	st := testkit.OpenStore(t, cfg)
	breakLock(t, cfg.URL, true)
	select {
	case <-st.LockLost():
	case <-time.After(time.Minute):
		t.Error("the loss was not noticed")
	}
}

func TestFileLockIsNeverLost(t *testing.T) {
	if testkit.OpenStore(t, testkit.SQLiteConfig(t)).LockLost() != nil {
		t.Error("nothing can be received from it")
	}
	if testkit.OpenStore(t, store.Config{Dialect: store.SQLite, Path: t.TempDir() + "/x.db"}).LockLost() != nil {
		t.Error("nothing can be received from it")
	}
}

// TestSharedLock: cores that share a database keep a core alone and a restore away, and a core alone keeps them away.
func TestSharedLock(t *testing.T) {
	alone := testkit.PostgresConfig(t)
	shared := alone
	shared.Exclusive, shared.Shared, shared.LockCheck = false, true, 20*time.Millisecond
	first, second := testkit.OpenStore(t, shared), testkit.OpenStore(t, shared)
	for _, st := range []*store.Store{first, second} {
		if err := store.LockShared(t.Context(), st); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.Open(t.Context(), alone); !errors.Is(err, store.ErrLocked) {
		t.Errorf("a core alone beside two that share the database: %v", err)
	}
	if _, err := store.ReplacePostgres(t.Context(), shared, "", true); !errors.Is(err, store.ErrLocked) {
		t.Errorf("a restore beside two cores: %v", err)
	}
	breakLock(t, shared.URL, false)
	testkit.Eventually(t, time.Minute, func() bool {
		var n int
		return first.DB(t.Context()).Raw("SELECT count(*) "+advisoryHolders).Scan(&n).Error == nil && n == 2
	}, "both hold the lock again")
	if err := errors.Join(first.Close(), second.Close()); err != nil {
		t.Fatal(err)
	}
	testkit.OpenStore(t, alone)
	third, err := store.Open(t.Context(), shared)
	if err != nil {
		t.Fatal(err)
	}
	defer third.Close()
	if err := store.LockShared(t.Context(), third); !errors.Is(err, store.ErrLocked) {
		t.Errorf("a core that shares the database beside a core alone: %v", err)
	}
}
