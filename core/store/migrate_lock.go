package store

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/patchbay-dev/patchbay/core/event"
)

// migrateKey is the number of the advisory lock that migrating processes take on PostgreSQL.
const migrateKey int64 = advisoryKey + 1

// migrateWait and migratePoll bound and pace the wait for another process that migrates a SQLite file.
const (
	migrateWait = 2 * time.Minute
	migratePoll = 20 * time.Millisecond
)

// lockMigrations keeps a second process from migrating at the same time.
func (s *Store) lockMigrations(ctx context.Context) (func(), error) {
	ctx, cancel := context.WithTimeout(ctx, migrateWait)
	defer cancel()
	if s.cfg.Dialect == Postgres {
		cfg, err := s.cfg.parseDirectURL()
		if err != nil {
			return nil, err
		}
		return lockMigrationsServer(ctx, cfg.ConnConfig)
	}
	return lockMigrationsFile(ctx, s.cfg.Path+".migrate.lock")
}

func lockMigrationsFile(ctx context.Context, path string) (func(), error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock file %s: %w", path, err)
	}
	for syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		if event.Sleep(ctx, migratePoll) != nil {
			_ = file.Close()
			return nil, fmt.Errorf("wait for another process to migrate (%s): %w", path, ctx.Err())
		}
	}
	return func() { _ = file.Close() }, nil
}

func lockMigrationsServer(ctx context.Context, cfg *pgx.ConnConfig) (func(), error) {
	if err := checkSessions(ctx, cfg); err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("connect for the migration lock: %w", err)
	}
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", migrateKey); err != nil {
		closeConn(conn)
		return nil, fmt.Errorf("wait for another process to migrate: %w", err)
	}
	return func() { unlockAndClose(conn) }, nil
}
