package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

// watch starts Watch and returns the counter of its calls.
func watch(t *testing.T, st *store.Store) *atomic.Int64 {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var calls atomic.Int64
	done := make(chan error, 1)
	go func() { done <- st.Watch(ctx, 20*time.Millisecond, func() { calls.Add(1) }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != context.Canceled {
			t.Errorf("watch ended with %v", err)
		}
	})
	return &calls
}

func beside(t *testing.T, cfg store.Config) *store.Store {
	cfg.Exclusive = false
	return testkit.OpenStore(t, cfg, things())
}

func TestWatchNoticesAnotherProcess(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		core := testkit.OpenStore(t, cfg, things())
		command := beside(t, cfg)
		calls := watch(t, core)
		id := int64(0)
		write := func() bool {
			id++
			if err := add(command, t.Context(), id, fmt.Sprint(id)); err != nil {
				t.Fatal(err)
			}
			return calls.Load() > 0
		}
		testkit.Eventually(t, 5*time.Second, write, "the first foreign write is noticed")
		before := calls.Load()
		write()
		testkit.Eventually(t, time.Second, func() bool { return calls.Load() > before }, "one foreign write is noticed within a second")
	})
}

func TestWatchNoticesAmongOwnWrites(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		core := testkit.OpenStore(t, cfg, things())
		command := beside(t, cfg)
		calls := watch(t, core)
		id := int64(0)
		own := func() {
			id++
			if err := add(core, t.Context(), id, fmt.Sprint(id)); err != nil {
				t.Fatal(err)
			}
		}
		for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); {
			own()
		}
		if n := calls.Load(); n > 3 {
			t.Errorf("own writes gave %d calls", n)
		}
		before := calls.Load()
		if err := add(command, t.Context(), 1_000_000, "foreign"); err != nil {
			t.Fatal(err)
		}
		testkit.Eventually(t, time.Second, func() bool { own(); return calls.Load() > before }, "a foreign write among own ones is noticed")
	})
}

func TestWatchNoticesOtherTools(t *testing.T) {
	cfg := testkit.SQLiteConfig(t)
	core := testkit.OpenStore(t, cfg, things())
	calls := watch(t, core)
	db, err := sql.Open("sqlite3", "file:"+cfg.Path+"?_busy_timeout=5000")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	id := 0
	testkit.Eventually(t, 5*time.Second, func() bool {
		id++
		if _, err := db.Exec("INSERT INTO things (id, name) VALUES (?, ?)", id, fmt.Sprint(id)); err != nil {
			t.Fatal(err)
		}
		return calls.Load() > 0
	}, "a write by another tool is noticed")
}
