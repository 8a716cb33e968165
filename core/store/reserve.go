package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
)

const (
	// reserveSize is the size of the file beside an SQLite database whose space deletions get when the disk is full, in bytes.
	reserveSize = 16 << 20
	// reserveBelow is how much space is left on the disk when the reserve is released, and besides it when it is made again, in bytes.
	reserveBelow = 1 << 20
	// reserveRetry is the pause between two tries of writers to make a released reserve again.
	reserveRetry = time.Second
)

// errNoSpace is in the chain of a write that is refused because the reserve is released.
var errNoSpace = fmt.Errorf("the reserve of the database is for deletions: %w", syscall.ENOSPC)

// essentialKey marks a context: see Essential.
type essentialKey struct{}

// Essential returns a context whose transactions go on while the disk is full, on the space of the reserve: deletions, their audit rows,
// sign-ins, and the bookkeeping of jobs. Others fail with fault.InsufficientStorage then.
func Essential(ctx context.Context) context.Context {
	return context.WithValue(ctx, essentialKey{}, true)
}

func isEssential(ctx context.Context) bool { return ctx.Value(essentialKey{}) != nil }

// reserve is a file that keeps space on the disk of the database. A nil reserve does nothing.
type reserve struct {
	path string
	// available returns how many bytes the disk has left.
	available func(dir string) (uint64, error)

	mu       sync.Mutex
	released bool
	tried    time.Time
}

// openReserve makes the reserve of the database beside it. Without space for it the database opens all the same.
func (s *Store) openReserve() {
	s.reserve = &reserve{path: s.cfg.Path + ".reserve", available: availableSpace}
	if info, err := os.Stat(s.reserve.path); err == nil && info.Size() == reserveSize {
		return
	}
	s.reserve.released = true
	if err := s.reserve.restore(); err != nil {
		s.log.Warn("disk full: changes are refused, deletions too; free some space", "file", s.reserve.path, "bytes", reserveSize, "error", err)
	}
}

// admitWrite releases the reserve for an essential transaction on a full disk, and refuses others until it is there again.
func (s *Store) admitWrite(ctx context.Context) error {
	if err := s.Damage(); err != nil && !isEssential(ctx) {
		return fault.Wrap(err, fault.NotReady, "The database is damaged: restore a backup.")
	}
	r := s.reserve
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !isEssential(ctx) {
		if r.released && time.Since(r.tried) >= reserveRetry {
			r.tried = time.Now()
			_ = r.restore()
		}
		if r.released {
			return noSpace(errNoSpace)
		}
		return nil
	}
	if left, err := r.available(filepath.Dir(r.path)); err == nil && left < reserveBelow {
		s.releaseReserve()
	}
	return nil
}

// releaseReserve gives the space of the reserve to the database. The caller holds the reserve's mutex.
func (s *Store) releaseReserve() {
	if s.reserve.released {
		return
	}
	if err := os.Remove(s.reserve.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.log.Error("cannot release the disk reserve", "file", s.reserve.path, "error", err)
		return
	}
	s.reserve.released = true
	s.log.Warn("disk full: only deletions work; free some space", "file",
		s.reserve.path)
}

// settleReserve makes a released reserve again after an essential transaction, once the log of the database has given its space back.
// An essential transaction that the disk has refused releases it.
func (s *Store) settleReserve(ctx context.Context, failure error) {
	r := s.reserve
	if r == nil || !isEssential(ctx) {
		return
	}
	r.mu.Lock()
	if isDatabaseFull(failure) {
		s.releaseReserve()
	}
	due := failure == nil && r.released && time.Since(r.tried) >= reserveRetry
	if due {
		r.tried = time.Now()
	}
	r.mu.Unlock()
	if !due {
		return
	}
	// Without the mutex: other writers need not wait for the log.
	if leave, err := s.writer.gate.acquire(ctx, "shorten the log", s.cfg.WriteWait); err == nil {
		_ = s.writer.db.WithContext(ctx).Exec("PRAGMA wal_checkpoint(TRUNCATE)").Error
		leave()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.released && r.restore() == nil {
		s.log.Info("disk has space again", "reserve", r.path)
	}
}

// restore makes a released reserve if the disk has the space. The caller holds the mutex, or is the only one.
func (r *reserve) restore() error {
	left, err := r.available(filepath.Dir(r.path))
	if err != nil {
		return err
	}
	if left < reserveSize+reserveBelow {
		return syscall.ENOSPC
	}
	file, err := os.OpenFile(r.path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(allocate(file, reserveSize), file.Close()); err != nil {
		return errors.Join(err, os.Remove(r.path))
	}
	r.released = false
	return nil
}

// noSpace returns the answer to a write for which the disk has no space.
func noSpace(err error) error {
	return fault.Wrap(err, fault.InsufficientStorage,
		"There is no space left on the disk of the database: delete data that you do not need, or free some space.")
}

// fill writes size bytes into a file, for file systems that cannot allocate them.
func fill(file *os.File, size int64) error {
	block := make([]byte, 1<<20)
	for written := int64(0); written < size; written += int64(len(block)) {
		if _, err := file.Write(block[:min(int64(len(block)), size-written)]); err != nil {
			return err
		}
	}
	return file.Sync()
}
