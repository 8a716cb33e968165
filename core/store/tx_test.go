package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

var errStop = errors.New("stop")

func TestTxCommitsAndRollsBack(t *testing.T) {
	forEach(t, func(t *testing.T, st *store.Store) {
		if err := add(st, t.Context(), 1, "kept"); err != nil {
			t.Fatal(err)
		}
		err := st.Tx(t.Context(), "outer", func(ctx context.Context) error {
			if err := add(st, ctx, 2, "undone"); err != nil {
				return err
			}
			var n int64
			if err := st.DB(ctx).Model(&thing{}).Count(&n).Error; err != nil || n != 2 {
				return fmt.Errorf("the transaction does not see its own write: %d %w", n, err)
			}
			return errStop
		})
		if !errors.Is(err, errStop) || count(t, st) != 1 {
			t.Fatalf("%v, %d rows", err, count(t, st))
		}
	})
}

func TestTxRollsBackOnPanic(t *testing.T) {
	forEach(t, func(t *testing.T, st *store.Store) {
		func() {
			defer func() { _ = recover() }()
			_ = st.Tx(t.Context(), "panics", func(ctx context.Context) error {
				_ = add(st, ctx, 1, "a")
				panic("boom")
			})
		}()
		if err := add(st, t.Context(), 2, "b"); err != nil {
			t.Fatalf("the writer must be free again: %v", err)
		}
		if count(t, st) != 1 {
			t.Fatal("the panicked write stayed")
		}
	})
}

func TestInnerErrorUndoesTheInnerPartOnly(t *testing.T) {
	forEach(t, func(t *testing.T, st *store.Store) {
		var ran []string
		note := func(ctx context.Context, s string) { st.AfterCommit(ctx, func() { ran = append(ran, s) }) }
		err := st.Tx(t.Context(), "outer", func(ctx context.Context) error {
			note(ctx, "outer")
			inner := st.Tx(ctx, "inner", func(ctx context.Context) error {
				note(ctx, "inner")
				if err := add(st, ctx, 1, "same"); err != nil {
					return err
				}
				return add(st, ctx, 2, "same")
			})
			if !errors.Is(inner, gorm.ErrDuplicatedKey) {
				return fmt.Errorf("want a duplicate: %w", inner)
			}
			return st.QueueTx(ctx, "inner 2", func(ctx context.Context) error {
				note(ctx, "inner 2")
				return add(st, ctx, 3, "other")
			})
		})
		if err != nil || count(t, st) != 1 {
			t.Fatalf("%v, %d rows", err, count(t, st))
		}
		if diff := cmp.Diff([]string{"outer", "inner 2"}, ran); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAfterCommit(t *testing.T) {
	forEach(t, func(t *testing.T, st *store.Store) {
		ran := 0
		st.AfterCommit(t.Context(), func() { ran++ })
		if ran != 1 {
			t.Fatal("without a transaction it runs at once")
		}
		var kept context.Context
		err := st.Tx(t.Context(), "ok", func(ctx context.Context) error {
			kept = ctx
			st.AfterCommit(ctx, func() {
				ran++
				if count(t, st) != 1 {
					t.Error("ran before the commit")
				}
				if err := add(st, ctx, 2, "b"); err != nil {
					t.Errorf("the writer must be free: %v", err)
				}
			})
			return add(st, ctx, 1, "a")
		})
		if err != nil || ran != 2 {
			t.Fatalf("%v, ran %d", err, ran)
		}
		if st.InTx(kept) || st.Writer(kept).Create(&thing{ID: 9, Name: "late"}).Error == nil {
			t.Error("a finished transaction must not be written to")
		}
		_ = st.Tx(t.Context(), "fails", func(ctx context.Context) error {
			st.AfterCommit(ctx, func() { ran++ })
			return errStop
		})
		if ran != 2 {
			t.Error("ran after a rollback")
		}
	})
}

func TestWritesNeedATransaction(t *testing.T) {
	forEach(t, func(t *testing.T, st *store.Store) {
		if err := st.Writer(t.Context()).Create(&thing{ID: 1, Name: "a"}).Error; !errors.Is(err, store.ErrNoTx) {
			t.Errorf("writer: %v", err)
		}
		if err := st.Writer(t.Context()).Exec("DELETE FROM things").Error; !errors.Is(err, store.ErrNoTx) {
			t.Errorf("writer exec: %v", err)
		}
		if err := st.DB(t.Context()).Create(&thing{ID: 1, Name: "a"}).Error; !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("reader: %v", err)
		}
		if err := st.DB(t.Context()).Exec("DELETE FROM things").Error; !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("reader exec: %v", err)
		}
		if count(t, st) != 0 {
			t.Error("something was written")
		}
	})
}

func TestBusyWriterIsNamed(t *testing.T) {
	cfg := testkit.SQLiteConfig(t)
	cfg.WriteWait = 50 * time.Millisecond
	st := testkit.OpenStore(t, cfg, things())
	for name, second := range map[string]func(context.Context, string, func(context.Context) error) error{"same lane": st.Tx,
		"queue": st.QueueTx} {
		t.Run(name, func(t *testing.T) {
			err := st.Tx(t.Context(), "long import", func(context.Context) error {
				return second(t.Context(), "quick", func(context.Context) error { return nil })
			})
			var busy *store.BusyError
			if !errors.As(err, &busy) || !errors.Is(err, store.ErrBusy) {
				t.Fatalf("got %v", err)
			}
			if busy.Holder != "long import" || busy.Name != "quick" || busy.Held < cfg.WriteWait || !strings.Contains(err.Error(), "long import") {
				t.Errorf("got %+v", busy)
			}
		})
	}
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	st := testkit.OpenStore(t, testkit.SQLiteConfig(t), things())
	err := st.Tx(t.Context(), "holder", func(context.Context) error {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		return add(st, ctx, 1, "a")
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
}

func TestConcurrentWritersOnBothLanes(t *testing.T) {
	forEach(t, func(t *testing.T, st *store.Store) {
		const workers, each = 8, 20
		var wg sync.WaitGroup
		errs := make(chan error, workers*each)
		for w := range workers {
			wg.Go(func() {
				tx := st.Tx
				if w%2 == 1 {
					tx = st.QueueTx
				}
				for i := range each {
					id := int64(w*each + i + 1)
					errs <- tx(t.Context(), "write", func(ctx context.Context) error {
						return st.Writer(ctx).Create(&thing{ID: id, Name: fmt.Sprint(id)}).Error
					})
				}
			})
		}
		wg.Wait()
		close(errs)
		for err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
		if count(t, st) != workers*each {
			t.Fatalf("%d rows", count(t, st))
		}
	})
}

func TestCanceledTransactionRollsBack(t *testing.T) {
	forEach(t, func(t *testing.T, st *store.Store) {
		ctx, cancel := context.WithCancel(t.Context())
		err := st.Tx(ctx, "canceled", func(ctx context.Context) error {
			if err := add(st, ctx, 1, "a"); err != nil {
				return err
			}
			cancel()
			return nil
		})
		if err == nil {
			t.Fatal("committed after the cancel")
		}
		if err := add(st, t.Context(), 2, "b"); err != nil || count(t, st) != 1 {
			t.Fatalf("%v, %d rows", err, count(t, st))
		}
	})
}

func TestFullDiskIsExplained(t *testing.T) {
	cfg := testkit.SQLiteConfig(t)
	st := testkit.OpenStore(t, cfg, things())
	err := st.Tx(t.Context(), "fill", func(ctx context.Context) error {
		if err := st.Writer(ctx).Exec("PRAGMA max_page_count = 1").Error; err != nil {
			return err
		}
		return add(st, ctx, 1, strings.Repeat("x", 1<<20))
	})
	if err == nil || !strings.Contains(err.Error(), cfg.Path) || !strings.Contains(err.Error(), "free some space") {
		t.Fatalf("got %v", err)
	}
	if n := count(t, st); n != 0 {
		t.Errorf("%d rows", n)
	}
}
