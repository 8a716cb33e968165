package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/jackc/pgx/v5"
)

const (
	// advisoryKey is the number of the core's advisory lock, which PostgreSQL keeps per database.
	advisoryKey int64 = 0x7061746368626179
	// lockTimeout bounds one check of the lock.
	lockTimeout = 5 * time.Second
)

// serverLock is a session advisory lock on a connection of its own. It replaces a broken connection; if another core
// has acquired the lock meanwhile, gone is closed.
type serverLock struct {
	cfg *pgx.ConnConfig
	// shared is the lock of one of several cores.
	shared   bool
	log      hclog.Logger
	interval time.Duration
	stop     context.CancelFunc
	gone     chan struct{}
	done     sync.WaitGroup
	conn     *pgx.Conn // owned by watch after the start
}

func (l *serverLock) lost() <-chan struct{} { return l.gone }

func (l *serverLock) release() error {
	l.stop()
	l.done.Wait()
	return nil
}

// lockServer takes the lock of a core and looks after it until the store is closed.
func (s *Store) lockServer(ctx context.Context, cfg *pgx.ConnConfig, shared bool) error {
	host, _ := os.Hostname()
	cfg.RuntimeParams["application_name"] = fmt.Sprintf("patchbay core, process %d on %s", os.Getpid(), host)
	conn, err := acquireServerLock(ctx, cfg, shared)
	if err != nil {
		return err
	}
	watching, stop := context.WithCancel(context.Background())
	lock := &serverLock{cfg: cfg, shared: shared, log: s.log, interval: s.cfg.LockCheck, stop: stop, gone: make(chan struct{}), conn: conn}
	lock.done.Go(func() { lock.watchConn(watching) })
	s.lock = lock
	s.onClose(lock.release)
	return nil
}

// acquireServerLock connects and acquires the lock, alone or beside others that share it. If a session holds it that does not share it,
// the error is a *LockedError.
func acquireServerLock(ctx context.Context, cfg *pgx.ConnConfig, shared bool) (*pgx.Conn, error) {
	if err := checkSessions(ctx, cfg); err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("connect for the database lock: %w", err)
	}
	question := "SELECT pg_try_advisory_lock($1)"
	if shared {
		question = "SELECT pg_try_advisory_lock_shared($1)"
	}
	var got bool
	err = conn.QueryRow(ctx, question, advisoryKey).Scan(&got)
	if err == nil && got {
		return conn, nil
	}
	defer closeConn(conn)
	if err != nil {
		return nil, fmt.Errorf("take the database lock: %w", err)
	}
	what := fmt.Sprintf("the database %s on %s:%d", cfg.Database, cfg.Host, cfg.Port)
	return nil, &LockedError{What: what, Holder: lockHolder(ctx, conn)}
}

// lockHolder returns the application name of the session that holds the lock, or "".
func lockHolder(ctx context.Context, conn *pgx.Conn) string {
	var name string
	err := conn.QueryRow(ctx, `SELECT a.application_name FROM pg_locks l JOIN pg_stat_activity a USING (pid)
		WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
		AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
		AND (l.classid::bigint << 32) | l.objid::bigint = $1 LIMIT 1`, advisoryKey).Scan(&name)
	if err != nil {
		return ""
	}
	return name
}

// watchConn checks the lock at each interval until ctx ends or the lock is lost.
func (l *serverLock) watchConn(ctx context.Context) {
	defer func() { unlockAndClose(l.conn) }()
	tick := time.NewTicker(l.interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !l.checkOnce(ctx) {
			return
		}
	}
}

// checkOnce checks the connection and replaces a broken one. It returns false when another core holds the lock.
func (l *serverLock) checkOnce(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	if l.conn != nil && isAlive(l.conn) {
		return true
	}
	if ctx.Err() == context.Canceled {
		return true
	}
	closeConn(l.conn)
	l.conn = nil
	conn, err := acquireServerLock(ctx, l.cfg, l.shared)
	var taken *LockedError
	switch {
	case err == nil:
		l.conn = conn
		l.log.Warn("database lock acquired again")
	case errors.As(err, &taken):
		l.log.Error("lost the database lock", "holder", taken.Holder)
		close(l.gone)
		return false
	default:
		l.log.Warn("database lock connection lost, reconnecting", "error", err)
	}
	return true
}

// isAlive reports whether the server answers. A stop does not interrupt it: that would break the connection on which
// the lock is about to be released.
func isAlive(conn *pgx.Conn) bool {
	ctx, cancel := context.WithTimeout(context.Background(), lockTimeout)
	defer cancel()
	return conn.Ping(ctx) == nil
}

// unlockAndClose releases the locks of a connection before it closes the connection. The server notices the end of a connection with a
// delay, and the next core may start sooner.
func unlockAndClose(conn *pgx.Conn) {
	if conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, _ = conn.Exec(ctx, "SELECT pg_advisory_unlock_all()")
	closeConn(conn)
}

func closeConn(conn *pgx.Conn) {
	if conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Close(ctx)
}
