package store_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
)

// TestQueueTxOutlivesADeadlock has two transactions lock two rows in opposite order: PostgreSQL ends one of them, which is
// run again.
func TestQueueTxOutlivesADeadlock(t *testing.T) {
	s := testkit.OpenStore(t, testkit.PostgresConfig(t))
	ctx := t.Context()
	exec := func(ctx context.Context, sql string, args ...any) error {
		return s.Writer(ctx).Exec(sql, args...).Error
	}
	err := s.Tx(ctx, "prepare", func(ctx context.Context) error {
		if err := exec(ctx, "CREATE TABLE pair (id BIGINT PRIMARY KEY, n BIGINT NOT NULL)"); err != nil {
			return err
		}
		return exec(ctx, "INSERT INTO pair VALUES (1, 0), (2, 0)")
	})
	if err != nil {
		t.Fatal(err)
	}
	var calls atomic.Int64
	var both, done sync.WaitGroup
	both.Add(2)
	run := func(first, second int) {
		defer done.Done()
		met := false
		err := s.QueueTx(ctx, "cross", func(ctx context.Context) error {
			calls.Add(1)
			if err := exec(ctx, "UPDATE pair SET n = n + 1 WHERE id = ?", first); err != nil {
				return err
			}
			if !met {
				met = true
				both.Done()
				both.Wait()
			}
			return exec(ctx, "UPDATE pair SET n = n + 1 WHERE id = ?", second)
		})
		if err != nil {
			t.Error(err)
		}
	}
	done.Add(2)
	go run(1, 2)
	go run(2, 1)
	done.Wait()
	var sum int64
	// The transaction that is run again may meet the other one again: three calls are the fewest.
	if err := s.DB(ctx).Raw("SELECT SUM(n) FROM pair").Scan(&sum).Error; err != nil || sum != 4 || calls.Load() < 3 {
		t.Errorf("sum %d after %d calls, %v", sum, calls.Load(), err)
	}
}
