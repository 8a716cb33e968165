package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/store"
)

const (
	// lockTopic has the keys of locks that were released.
	lockTopic = "core.lock"
	// lockPoll is how often a lock that another node holds is tried, beside the news.
	lockPoll = time.Second
	// unlockTime bounds how long a release waits for the database. What it cannot release is released with a later beat.
	unlockTime = 5 * time.Second
)

// ErrLocked says that somebody else holds a lock.
var ErrLocked = errors.New("the lock is held")

// Locks are locks by key. One holder of all nodes has a key at a time. A lock may be held for as long as its node lives. The zero Locks is
// ready to use, for a process that shares its locks with no other.
type Locks struct {
	cluster *Cluster
	mu      sync.Mutex
	held    map[string]chan struct{}
	// unreleased are locks whose release the database has not heard.
	unreleased []lockRow
}

// Lock is a lock that is held.
type Lock struct {
	locks *Locks
	key   string
	// row is what the lock is in the database, if other nodes may hold it too.
	row lockRow
	// lost ends when the node must not work any more, or the lock is released.
	lost    context.Context
	done    context.CancelFunc
	release sync.Once
}

// lockRow is a row of core_locks.
type lockRow struct {
	key    string
	epoch  int64
	holder string
}

// Locks returns the locks that this node shares with all others; without a cluster, new ones of this process.
func (c *Cluster) Locks() *Locks {
	if c == nil {
		return new(Locks)
	}
	return &c.locks
}

// Lock acquires the lock of a key, which has at most MaxNews bytes. It waits until ctx ends. It must not be called in a transaction.
func (l *Locks) Lock(ctx context.Context, key string) (*Lock, error) {
	for {
		free := l.lockHere(key)
		if free == nil {
			break
		}
		select {
		case <-free:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	if l.cluster == nil || !l.cluster.cfg.Shared {
		return l.newLock(key), nil
	}
	released := l.cluster.Subscribe(lockTopic)
	defer released.Close()
	for {
		lock, err := l.lockEverywhere(ctx, key)
		if !errors.Is(err, ErrLocked) {
			return lock, err
		}
		if err := awaitRelease(ctx, key, released.Events()); err != nil {
			l.unlockHere(key)
			return nil, err
		}
	}
}

// awaitRelease waits until a lock may have been released.
func awaitRelease(ctx context.Context, key string, released <-chan event.Event) error {
	poll := time.NewTimer(lockPoll)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-poll.C:
			return nil
		case ev, ok := <-released:
			if !ok {
				released = nil
			}
			if ev.Lagged || ev.Data == key {
				return nil
			}
		}
	}
}

// TryLock is Lock without waiting: it returns ErrLocked if somebody holds the lock.
func (l *Locks) TryLock(ctx context.Context, key string) (*Lock, error) {
	if l.lockHere(key) != nil {
		return nil, ErrLocked
	}
	if l.cluster == nil || !l.cluster.cfg.Shared {
		return l.newLock(key), nil
	}
	lock, err := l.lockEverywhere(ctx, key)
	if errors.Is(err, ErrLocked) {
		l.unlockHere(key)
	}
	return lock, err
}

// lockHere acquires a key among the goroutines of this process, or returns what is closed when its holder releases it.
func (l *Locks) lockHere(key string) (busy <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if done := l.held[key]; done != nil {
		return done
	}
	if l.held == nil {
		l.held = map[string]chan struct{}{}
	}
	l.held[key] = make(chan struct{})
	return nil
}

func (l *Locks) unlockHere(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.held[key])
	delete(l.held, key)
}

// newLock returns a lock that no other node can hold.
func (l *Locks) newLock(key string) *Lock {
	lost, done := context.WithCancel(context.Background())
	return &Lock{locks: l, key: key, lost: lost, done: done}
}

// lockEverywhere acquires a key, which this process has for itself, among the nodes. After ErrLocked the process keeps it, and has lost it
// after other errors.
func (l *Locks) lockEverywhere(ctx context.Context, key string) (*Lock, error) {
	c := l.cluster
	if len(key) > MaxNews || c.store.InTx(ctx) {
		l.unlockHere(key)
		return nil, fmt.Errorf("lock %.100s: the key is too long, or a transaction runs", key)
	}
	alive, epoch := c.Alive()
	row := lockRow{key: key, epoch: epoch, holder: rand.Text()}
	got := false
	err := c.store.Tx(ctx, "acquire a lock", func(ctx context.Context) error {
		if err := c.Fence(ctx, epoch); err != nil {
			return err
		}
		// A row of this node is of a release that has failed: no other goroutine here holds the key.
		done := c.store.Writer(ctx).Exec(`INSERT INTO core_locks AS l (key, node, epoch, holder) VALUES (?, ?, ?, ?)
			ON CONFLICT (key) DO UPDATE SET node = excluded.node, epoch = excluded.epoch, holder = excluded.holder WHERE l.node = excluded.node
			OR NOT EXISTS (SELECT 1 FROM core_nodes n WHERE n.id = l.node AND n.epoch = l.epoch AND n.ended_at = 0)`, key, c.cfg.ID, epoch, row.holder)
		got = done.RowsAffected > 0
		return done.Error
	})
	if err == nil && !got {
		return nil, ErrLocked
	}
	if err != nil {
		l.unlockHere(key)
		l.deferUnlock(row) // the commit may have been the last that the database heard
		return nil, fmt.Errorf("lock %s: %w", key, err)
	}
	lost, done := context.WithCancel(alive)
	return &Lock{locks: l, key: key, row: row, lost: lost, done: done}, nil
}

// lockKey finds the lock in the context that Hold returns.
type lockKey struct{}

// Hold returns a context for the work of the holder. It ends with ctx, and when the lock is lost or released: the cause is ErrFenced then.
func (l *Lock) Hold(ctx context.Context) context.Context {
	held, cancel := context.WithCancelCause(context.WithValue(ctx, lockKey{}, l))
	context.AfterFunc(l.lost, func() { cancel(ErrFenced) })
	return held
}

// FenceLock keeps the lock that ctx, which is of Hold, is the work of until the transaction ends. It returns ErrFenced if another node
// may have it. For a lock of this process alone, and without one, it does nothing.
func FenceLock(ctx context.Context) error {
	l, _ := ctx.Value(lockKey{}).(*Lock)
	if l == nil || l.row.holder == "" {
		return nil
	}
	return l.locks.cluster.holdRow(ctx, "core_locks WHERE key = ? AND holder = ?", l.key, l.row.holder)
}

// Release gives the lock up. It may be called again.
func (l *Lock) Release() {
	l.release.Do(func() {
		l.done()
		if l.row.holder != "" {
			if err := l.locks.deleteLock(context.Background(), l.row); err != nil {
				l.locks.deferUnlock(l.row)
			}
		}
		l.locks.unlockHere(l.key)
	})
}

// deleteLock gives a lock up in the database, and tells the nodes.
func (l *Locks) deleteLock(ctx context.Context, row lockRow) error {
	ctx, cancel := context.WithTimeout(store.Essential(ctx), unlockTime)
	defer cancel()
	return l.cluster.store.Tx(ctx, "release a lock", func(ctx context.Context) error {
		if err := l.cluster.store.Writer(ctx).Exec("DELETE FROM core_locks WHERE key = ? AND holder = ?", row.key, row.holder).Error; err != nil {
			return err
		}
		return l.cluster.Publish(ctx, lockTopic, row.key)
	})
}

// deferUnlock leaves it to a later beat to give a lock up.
func (l *Locks) deferUnlock(row lockRow) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unreleased = append(l.unreleased, row)
}

// releaseDeferred gives up what could not be given up before.
func (l *Locks) releaseDeferred(ctx context.Context) error {
	l.mu.Lock()
	rows := l.unreleased
	l.unreleased = nil
	l.mu.Unlock()
	for i, row := range rows {
		if err := l.deleteLock(ctx, row); err != nil {
			l.mu.Lock()
			l.unreleased = append(l.unreleased, rows[i:]...)
			l.mu.Unlock()
			return fmt.Errorf("release a lock: %w", err)
		}
	}
	return nil
}

// forgetEnded deletes the locks of nodes that have ended.
func (l *Locks) forgetEnded(ctx context.Context) error {
	return l.cluster.store.QueueTx(ctx, "forget the locks of ended nodes", func(ctx context.Context) error {
		return l.cluster.store.Writer(ctx).Exec(`DELETE FROM core_locks WHERE key IN (SELECT key FROM core_locks l WHERE NOT EXISTS
			(SELECT 1 FROM core_nodes n WHERE n.id = l.node AND n.epoch = l.epoch AND n.ended_at = 0) FOR UPDATE SKIP LOCKED)`).Error
	})
}
