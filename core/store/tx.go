package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/gorm"
)

// ErrNoTx is the error of every write through Writer outside a transaction.
var ErrNoTx = errors.New("write outside a transaction")

// txKey finds the transaction of one store in a context.
type txKey struct{ store *Store }

// txState is a running transaction. It belongs to one goroutine at a time, as the transaction does.
type txState struct {
	db    *gorm.DB
	after []func()
	depth int
	done  bool
}

// Tx runs fn in a write transaction, which travels in the context that fn gets. It commits when fn returns nil, and
// rolls back when fn returns an error or panics. Inside a transaction Tx joins it: an error of the inner fn undoes the
// inner part alone, so that the outer one may handle it and go on. Waiting longer than Config.WriteWait for the writer
// is a *BusyError. The name stands in errors and logs. The context must not be used by several goroutines at once.
func (s *Store) Tx(ctx context.Context, name string, fn func(ctx context.Context) error) error {
	return s.runTx(ctx, s.writer, name, fn)
}

// QueueTx is Tx on the connection that is kept for the queue's own bookkeeping, so that long application transactions
// on SQLite hold up the queue as little as possible. It joins a running transaction just as Tx does. One of its own that
// PostgreSQL ends for a deadlock is run again: fn may be called several times.
func (s *Store) QueueTx(ctx context.Context, name string, fn func(ctx context.Context) error) error {
	return s.retryTx(ctx, s.queue, name, fn)
}

// RetryTx is Tx for an fn that may be called several times: one of its own that PostgreSQL ends for a deadlock is run again.
func (s *Store) RetryTx(ctx context.Context, name string, fn func(ctx context.Context) error) error {
	return s.retryTx(ctx, s.writer, name, fn)
}

func (s *Store) retryTx(ctx context.Context, l *lane, name string, fn func(ctx context.Context) error) error {
	for attempt := 1; ; attempt++ {
		err := s.runTx(ctx, l, name, fn)
		if attempt == maxDeadlocks || s.InTx(ctx) || !isDeadlock(err) {
			return err
		}
	}
}

// maxDeadlocks is how often a transaction is tried when the database ends it for a deadlock.
const maxDeadlocks = 4

// isDeadlock reports whether PostgreSQL has ended a transaction because of a deadlock.
func isDeadlock(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == "40P01"
}

// DB returns the handle for reading: the transaction in ctx, else the pool of readers.
func (s *Store) DB(ctx context.Context) *gorm.DB {
	if st := s.currentTx(ctx); st != nil {
		return st.db.WithContext(ctx)
	}
	return s.reader.WithContext(ctx)
}

// Writer returns the handle for writing: the transaction in ctx, else a handle on which everything fails with
// ErrNoTx.
func (s *Store) Writer(ctx context.Context) *gorm.DB {
	if st := s.currentTx(ctx); st != nil {
		return st.db.WithContext(ctx)
	}
	db := s.reader.WithContext(ctx)
	_ = db.AddError(ErrNoTx)
	return db
}

// InTx reports whether ctx carries a running transaction of this store.
func (s *Store) InTx(ctx context.Context) bool { return s.currentTx(ctx) != nil }

// AfterCommit runs f once the outermost transaction in ctx has committed, and not at all if it, or the joined part that
// called AfterCommit, is rolled back. Without a transaction f runs at once.
func (s *Store) AfterCommit(ctx context.Context, f func()) {
	if st := s.currentTx(ctx); st != nil {
		st.after = append(st.after, f)
		return
	}
	f()
}

// currentTx returns the running transaction of this store in ctx, or nil.
func (s *Store) currentTx(ctx context.Context) *txState {
	st, _ := ctx.Value(txKey{s}).(*txState)
	if st == nil || st.done {
		return nil
	}
	return st
}

// runTx runs fn in the transaction in ctx, else in a new one on l, and then the functions of AfterCommit.
func (s *Store) runTx(ctx context.Context, l *lane, name string, fn func(context.Context) error) error {
	if st := s.currentTx(ctx); st != nil {
		return st.runNested(ctx, name, fn)
	}
	if err := s.admitWrite(ctx); err != nil {
		return err
	}
	after, err := s.runOutermost(ctx, l, name, fn)
	s.settleReserve(ctx, err)
	if err != nil {
		s.noteDamage(err)
		return s.explainDiskError(err)
	}
	for _, f := range after {
		f()
	}
	return nil
}

// runOutermost runs fn in a new transaction and returns what is to run after the commit.
func (s *Store) runOutermost(ctx context.Context, l *lane, name string, fn func(context.Context) error) ([]func(), error) {
	leave, err := l.gate.acquire(ctx, name, s.cfg.WriteWait)
	if err != nil {
		return nil, err
	}
	defer leave()
	db, err := s.beginTx(ctx, l, name)
	if err != nil {
		return nil, err
	}
	st := &txState{db: db}
	defer func() {
		if !st.done {
			st.done = true
			_ = db.Rollback().Error
		}
	}()
	if err := fn(context.WithValue(ctx, txKey{s}, st)); err != nil {
		return nil, err
	}
	if err := s.commitTx(ctx, st, name); err != nil {
		return nil, err
	}
	return st.after, nil
}

// beginTx begins a transaction on l. If the database is busy, the error is a *BusyError.
func (s *Store) beginTx(ctx context.Context, l *lane, name string) (*gorm.DB, error) {
	started := time.Now()
	db := l.db.WithContext(ctx).Begin()
	switch {
	case db.Error == nil:
		return db, nil
	case isBusy(db.Error):
		return nil, s.otherGate(l).busyError(name, time.Since(started))
	}
	return nil, fmt.Errorf("begin the write transaction %q: %w", name, db.Error)
}

// otherGate returns the gate of the lane that may hold the database's write lock against l.
func (s *Store) otherGate(l *lane) *gate {
	if l == s.queue {
		return s.writer.gate
	}
	return s.queue.gate
}

// commitTx commits a transaction and counts it.
func (s *Store) commitTx(ctx context.Context, st *txState, name string) error {
	if err := s.markForeign(ctx, st.db); err != nil {
		return fmt.Errorf("commit the transaction %q: %w", name, err)
	}
	st.done = true
	if err := st.db.Commit().Error; err != nil {
		_ = st.db.Rollback().Error
		return fmt.Errorf("commit the transaction %q: %w", name, err)
	}
	s.commits.Add(1)
	return nil
}

// runNested runs fn inside the running transaction, after a savepoint.
func (st *txState) runNested(ctx context.Context, name string, fn func(context.Context) error) error {
	st.depth++
	point := "sp" + strconv.Itoa(st.depth)
	kept := len(st.after)
	if err := st.db.Exec("SAVEPOINT " + point).Error; err != nil {
		return fmt.Errorf("join the transaction for %q: %w", name, err)
	}
	released := false
	defer func() {
		st.depth--
		if !released {
			st.after = st.after[:kept]
			_ = st.db.Exec("ROLLBACK TO SAVEPOINT " + point).Error
			_ = st.db.Exec("RELEASE SAVEPOINT " + point).Error
		}
	}()
	if err := fn(ctx); err != nil {
		return err
	}
	if err := st.db.Exec("RELEASE SAVEPOINT " + point).Error; err != nil {
		return fmt.Errorf("join the transaction for %q: %w", name, err)
	}
	released = true
	return nil
}
