package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrSharedSessions is in the chain of the error for a connection that leads through a pooler which gives the same session to several
// clients. A lock would belong to whoever comes next, and would stay when its core has ended.
var ErrSharedSessions = errors.New("storage url leads through a pooler that shares sessions (PgBouncer: pool_mode=transaction); " +
	"name the server itself in direct_url")

// probeTime bounds the answer of a session that a pooler may have given away.
const probeTime = 2 * time.Second

// checkSessions finds out whether a session stays with its connection: it leaves a mark in one, has a second connection begin a
// transaction, and looks for the mark. A pooler in transaction mode hands the first session to the second connection.
func checkSessions(ctx context.Context, cfg *pgx.ConnConfig) error {
	cfg = cfg.Copy()
	// A pooler forgets prepared statements.
	cfg.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	first, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return fmt.Errorf("connect to the database: %w", err)
	}
	defer closeConn(first)
	second, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return fmt.Errorf("connect to the database: %w", err)
	}
	defer closeConn(second)
	mark := rand.Text()
	if _, err := first.Exec(ctx, "SELECT set_config('patchbay.probe', $1, false)", mark); err != nil {
		return fmt.Errorf("mark a session: %w", err)
	}
	tx, err := second.Begin(ctx)
	if err != nil {
		return fmt.Errorf("begin a transaction beside a marked session: %w", err)
	}
	defer func() { _ = tx.Rollback(ctx) }()
	if _, err := tx.Exec(ctx, "SELECT 1"); err != nil {
		return fmt.Errorf("begin a transaction beside a marked session: %w", err)
	}
	probing, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	var found string
	err = first.QueryRow(probing, "SELECT coalesce(current_setting('patchbay.probe', true), '')").Scan(&found)
	if ctx.Err() == nil && (err != nil || found != mark) {
		return ErrSharedSessions
	}
	return ctx.Err()
}

// checkSameDatabase returns an error if the direct connection leads to another database, or another schema, than the pool: a lock there
// would protect nothing.
func checkSameDatabase(ctx context.Context, pool *pgxpool.Pool, direct *pgx.ConnConfig) error {
	const query = `SELECT concat_ws(' ', current_database(), current_schema(), (SELECT oid FROM pg_database WHERE datname = current_database()))`
	conn, err := pgx.ConnectConfig(ctx, direct)
	if err != nil {
		return fmt.Errorf("connect to the database of storage direct_url: %w", err)
	}
	defer closeConn(conn)
	var pooled, own string
	if err := errors.Join(pool.QueryRow(ctx, query).Scan(&pooled), conn.QueryRow(ctx, query).Scan(&own)); err != nil {
		return fmt.Errorf("compare the databases of storage url and direct_url: %w", err)
	}
	if pooled != own {
		return errors.New("storage direct_url leads to another database or schema than url: name the server that the pooler stands before")
	}
	return nil
}
