// Package store opens the database, SQLite or PostgreSQL, and is the only way to it: transactions that travel in the
// context, versioned migrations, the lock that keeps a second core away, notice of writes by other processes, ids,
// times and page cursors.
//
// Writes happen inside Tx only. Reads use DB, which is the transaction of the context if there is one. Times are stored
// as Unix milliseconds in integer columns of both dialects (Millis, FromMillis) and written for people by FormatTime.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/jackc/pgx/v5/pgxpool"
	"gorm.io/gorm"
)

// Dialect names the database engine. It is also the name of the folder with its migrations.
type Dialect string

// The two engines.
const (
	SQLite   Dialect = "sqlite"
	Postgres Dialect = "postgres"
)

// defaultWriteWait is the default of Config.WriteWait.
const defaultWriteWait = 10 * time.Second

// defaultLockCheck is the default of Config.LockCheck.
const defaultLockCheck = 5 * time.Second

// Config says what to open.
type Config struct {
	Dialect Dialect
	// Path is the SQLite file. Its directory is made when it does not exist.
	Path string
	// URL is the PostgreSQL connection URL. It may hold a password and is never logged.
	URL string
	// DirectURL is that of the server itself, where URL leads through a pooler that shares sessions; "" for URL. Locks, copies and
	// restores use it.
	DirectURL string
	// CopyPath is what the names of copies of a PostgreSQL database begin with that are made before its schema changes. Its directory is
	// made when it does not exist.
	CopyPath string
	// MigrateWithoutCopy lets the schema of a PostgreSQL database change without a copy.
	MigrateWithoutCopy bool
	// Logger may be nil.
	Logger hclog.Logger
	// Exclusive takes the lock that only one core may hold. Commands that run beside a core leave it false.
	Exclusive bool
	// Shared is for a PostgreSQL database that several cores may use at the same time. What a core writes is told to others by what has
	// changed, not by Watch. Cores take the lock with LockShared.
	Shared bool
	// WriteWait is how long a write transaction waits for its turn; 0 means 10 s.
	WriteWait time.Duration
	// LockCheck is how often the connection that holds the exclusive lock is looked after on PostgreSQL; 0 means 5 s.
	LockCheck time.Duration
}

// Store is an open database. All methods may be called from several goroutines.
type Store struct {
	cfg      Config
	log      hclog.Logger
	reader   *gorm.DB
	writer   *lane
	queue    *lane
	pool     *pgxpool.Pool
	lock     coreLock
	closers  []func() error
	commits  atomic.Int64
	migrated atomic.Bool
	// created, steps and times are set by Migrate.
	created bool
	steps   int
	times   []StoredTime
	reserve *reserve
	damage  atomic.Pointer[damage]
	damaged chan struct{}
	// others finds the ids of the cores that run.
	others func(ctx context.Context, s *Store) ([]string, error)
}

// lane is one way to write: a handle and the gate in front of it.
type lane struct {
	db   *gorm.DB
	gate *gate
}

// Open opens the database and, if asked to, takes the exclusive lock. It does not migrate. Errors name the file or
// server and what to do; they hold no password. A held lock is a *LockedError.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	if cfg.WriteWait <= 0 {
		cfg.WriteWait = defaultWriteWait
	}
	if cfg.LockCheck <= 0 {
		cfg.LockCheck = defaultLockCheck
	}
	if cfg.Logger == nil {
		cfg.Logger = hclog.NewNullLogger()
	}
	s := &Store{cfg: cfg, log: cfg.Logger, damaged: make(chan struct{})}
	var err error
	switch cfg.Dialect {
	case SQLite:
		err = s.openSQLite(ctx)
	case Postgres:
		err = s.openPostgres(ctx)
	default:
		err = fmt.Errorf("open the database: unknown dialect %q, use %q or %q", cfg.Dialect, SQLite, Postgres)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close ends all connections and releases the lock. Transactions must have ended before.
func (s *Store) Close() error {
	var errs []error
	for i := len(s.closers) - 1; i >= 0; i-- {
		errs = append(errs, s.closers[i]())
	}
	s.closers = nil
	return errors.Join(errs...)
}

// Dialect returns the database engine in use.
func (s *Store) Dialect() Dialect { return s.cfg.Dialect }

// Shared reports whether other cores may use the database at the same time.
func (s *Store) Shared() bool { return s.cfg.Shared }

// Pool returns the connections of a store to PostgreSQL, for a library that needs them, or nil on SQLite. What is written with them is not
// told to other processes.
func Pool(s *Store) *pgxpool.Pool { return s.pool }

// Path returns the SQLite file, or "" on PostgreSQL.
func (s *Store) Path() string { return s.cfg.Path }

// LockLost returns a channel that is closed when the exclusive lock is lost while the store is open, which can happen
// on PostgreSQL when the server restarts and another core is faster. The core must stop then. Without a lock it is
// never closed.
func (s *Store) LockLost() <-chan struct{} {
	if s.lock == nil {
		return nil
	}
	return s.lock.lost()
}

// Ping reports whether the database answers and is not known to be damaged.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.Damage(); err != nil {
		return err
	}
	var one int
	if err := s.reader.WithContext(ctx).Raw("SELECT 1").Scan(&one).Error; err != nil {
		return fmt.Errorf("ping the database: %w", err)
	}
	return nil
}

func (s *Store) onClose(f func() error) { s.closers = append(s.closers, f) }

func closeDB(db *sql.DB) func() error { return db.Close }

// Exclusive reports whether this store holds the lock that only one core may hold.
func (s *Store) Exclusive() bool { return s.cfg.Exclusive }
