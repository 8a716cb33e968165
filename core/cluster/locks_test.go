package cluster_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

// TestLocks: one of all nodes holds a lock at a time, whoever asks for it, and who waits gets it when it is released.
func TestLocks(t *testing.T) {
	a, b, _ := openPair(t)
	alone := open(t, cluster.Config{Store: testkit.OpenStore(t, testkit.SQLiteConfig(t), cluster.Migrations()), ID: "alone"})
	for name, of := range map[string]struct{ first, second *cluster.Locks }{
		"one process":  {new(cluster.Locks), nil},
		"a core alone": {alone.Locks(), alone.Locks()},
		"one node":     {a.Locks(), a.Locks()},
		"two nodes":    {a.Locks(), b.Locks()},
	} {
		t.Run(name, func(t *testing.T) {
			if of.second == nil {
				of.second = of.first
			}
			held, err := of.first.Lock(t.Context(), "domain/example.com")
			testkit.Must(t, err)
			if _, err := of.second.TryLock(t.Context(), "domain/example.com"); !errors.Is(err, cluster.ErrLocked) {
				t.Errorf("a second holder: %v", err)
			}
			other, err := of.second.TryLock(t.Context(), "domain/example.org")
			testkit.Must(t, err)
			other.Release()
			gone, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := of.second.Lock(gone, "domain/example.com"); !errors.Is(err, context.Canceled) {
				t.Errorf("it waits after its context has ended: %v", err)
			}
			got := make(chan *cluster.Lock)
			go func() {
				next, err := of.second.Lock(context.Background(), "domain/example.com")
				testkit.Must(t, err)
				got <- next
			}()
			work := held.Hold(t.Context())
			if work.Err() != nil {
				t.Error("the work of the holder has ended")
			}
			held.Release()
			held.Release()
			next := <-got
			<-work.Done()
			if !errors.Is(context.Cause(work), cluster.ErrFenced) {
				t.Errorf("after the release: %v", context.Cause(work))
			}
			next.Release()
		})
	}
}

// TestLockedCounter: additions that are read, computed and written under a lock of two nodes are all there.
func TestLockedCounter(t *testing.T) {
	a, b, st := openPair(t)
	testkit.Must(t, st.Tx(t.Context(), "set up", func(ctx context.Context) error {
		return st.Writer(ctx).Exec("CREATE TABLE test_sum AS SELECT '0' AS sum").Error
	}))
	const times = 20
	var all sync.WaitGroup
	for _, of := range []*cluster.Locks{a.Locks(), b.Locks(), b.Locks()} {
		all.Go(func() {
			for range times {
				lock, err := of.Lock(context.Background(), "sum")
				testkit.Must(t, err)
				var sum string
				testkit.Must(t, st.DB(t.Context()).Raw("SELECT sum FROM test_sum").Scan(&sum).Error)
				n, _ := strconv.Atoi(sum)
				testkit.Must(t, st.Tx(lock.Hold(t.Context()), "add", func(ctx context.Context) error {
					if err := cluster.FenceLock(ctx); err != nil {
						return err
					}
					return st.Writer(ctx).Exec("UPDATE test_sum SET sum = ?", strconv.Itoa(n+1)).Error
				}))
				lock.Release()
			}
		})
	}
	all.Wait()
	var sum string
	testkit.Must(t, st.DB(t.Context()).Raw("SELECT sum FROM test_sum").Scan(&sum).Error)
	if sum != strconv.Itoa(3*times) {
		t.Errorf("the sum is %s, want %d", sum, 3*times)
	}
}

// TestLockOfLostNode: the lock of a node that was taken for dead is free, its work ends, and it cannot write as the holder any more. A
// release that the database does not hear is made up for.
func TestLockOfLostNode(t *testing.T) {
	a, b, st := openPair(t)
	held, err := a.Locks().Lock(t.Context(), "stack")
	testkit.Must(t, err)
	work := held.Hold(t.Context())
	// As if a had not been seen for long.
	testkit.Must(t, st.Tx(t.Context(), "lose a", func(ctx context.Context) error {
		return st.Writer(ctx).Exec("UPDATE core_nodes SET epoch = epoch + 1, ended_at = seen_at + 1 WHERE id = 'a'").Error
	}))
	next, err := b.Locks().Lock(t.Context(), "stack")
	testkit.Must(t, err)
	<-work.Done()
	err = st.Tx(context.WithoutCancel(work), "write", cluster.FenceLock)
	if !errors.Is(err, cluster.ErrFenced) {
		t.Errorf("the former holder writes: %v", err)
	}
	testkit.Must(t, st.Tx(next.Hold(t.Context()), "write", cluster.FenceLock))
	held.Release()
	if _, err := a.Locks().TryLock(t.Context(), "stack"); !errors.Is(err, cluster.ErrLocked) && !errors.Is(err, cluster.ErrFenced) {
		t.Errorf("the former holder releases the lock of the next: %v", err)
	}
	next.Release()
	if err := st.Tx(t.Context(), "wrong", func(ctx context.Context) error {
		_, err := b.Locks().Lock(ctx, "stack")
		return err
	}); err == nil || errors.Is(err, store.ErrNoTx) {
		t.Errorf("a lock is acquired in a transaction: %v", err)
	}
}
