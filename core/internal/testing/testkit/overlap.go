package testkit

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/patchbay-dev/patchbay/core/store"
)

// overlapWithin bounds each wait of Overlap.
const overlapWithin = 20 * time.Second

// Overlap runs second while first is in the middle of its transaction, and returns their errors. The database of cfg must be on
// PostgreSQL, where transactions run at the same time. The statement hold, such as SELECT … FOR UPDATE or LOCK TABLE, takes the lock that
// first waits for; it is released when second has ended or waits for a lock as well. Nothing else may wait for locks of the database
// meanwhile.
func Overlap(t testing.TB, cfg store.Config, hold string, first, second func() error) (firstErr, secondErr error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience*3*overlapWithin)
	defer cancel()
	holder, watcher := connectTo(ctx, t, cfg), connectTo(ctx, t, cfg)
	tx, err := holder.Begin(ctx)
	Must(t, err)
	_, err = tx.Exec(ctx, hold)
	Must(t, err)

	firstDone := runAside(first)
	Eventually(t, overlapWithin, func() bool { return firstDone.hasEnded() || waitingForLocks(ctx, t, watcher) > 0 },
		"the first waits for the lock")
	if firstDone.hasEnded() {
		t.Fatalf("the first has ended with %v and did not wait for: %s", firstDone.err, hold)
	}
	secondDone := runAside(second)
	Eventually(t, overlapWithin, func() bool { return secondDone.hasEnded() || waitingForLocks(ctx, t, watcher) > 1 },
		"the second ends or waits for a lock")
	Must(t, tx.Rollback(ctx))
	Eventually(t, overlapWithin, func() bool { return firstDone.hasEnded() && secondDone.hasEnded() }, "both end")
	return firstDone.err, secondDone.err
}

func connectTo(ctx context.Context, t testing.TB, cfg store.Config) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(ctx, cfg.URL)
	Must(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// waitingForLocks counts the connections to the database that wait for a lock.
func waitingForLocks(ctx context.Context, t testing.TB, conn *pgx.Conn) (n int) {
	t.Helper()
	Must(t, conn.QueryRow(ctx, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'").Scan(&n))
	return n
}

// aside is a function that runs in a goroutine of its own. err may be read once it has ended.
type aside struct {
	done chan struct{}
	err  error
}

// runAside begins to run a function.
func runAside(run func() error) *aside {
	a := &aside{done: make(chan struct{})}
	go func() {
		defer close(a.done)
		a.err = run()
	}()
	return a
}

func (a *aside) hasEnded() bool {
	select {
	case <-a.done:
		return true
	default:
		return false
	}
}
