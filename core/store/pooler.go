package store

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// ErrSharedSessions is in the chain of the error for a connection that leads through a pooler which gives the same session to several
// clients. A lock would belong to whoever comes next, and would stay when its core has ended.
var ErrSharedSessions = errors.New("storage url (or direct_url, where it is set) leads through a pooler that shares sessions (PgBouncer: pool_mode=transaction); " +
	"name the server itself in direct_url")

// probeTime bounds the answer of a session that a pooler may have given away.
const probeTime = 2 * time.Second

// probeHolders is how many transactions are open while a session looks for its mark.
const probeHolders = 2

// checkSessions finds out whether a session stays with its connection: it leaves a mark in one, has other connections begin transactions,
// and looks for the mark. A pooler in transaction mode hands the first session to another connection, or has it wait for one.
func checkSessions(ctx context.Context, cfg *pgx.ConnConfig) error {
	cfg = cfg.Copy()
	// A pooler forgets prepared statements.
	cfg.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	first, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return fmt.Errorf("connect to the database: %w", err)
	}
	defer closeConn(first)
	mark := rand.Text()
	if _, err := first.Exec(ctx, "SELECT set_config('patchbay.probe', $1, false)", mark); err != nil {
		return fmt.Errorf("mark a session: %w", err)
	}
	probing, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	for range probeHolders {
		holder, err := pgx.ConnectConfig(ctx, cfg)
		if err != nil {
			return fmt.Errorf("connect to the database: %w", err)
		}
		defer closeConn(holder)
		if _, err := holder.Exec(probing, "BEGIN; SELECT 1"); err != nil {
			return explainProbe(ctx, probing, err)
		}
	}
	var found string
	if err := first.QueryRow(probing, "SELECT coalesce(current_setting('patchbay.probe', true), '')").Scan(&found); err != nil {
		return explainProbe(ctx, probing, err)
	}
	if found != mark {
		return ErrSharedSessions
	}
	return nil
}

// explainProbe returns what an error of a probe means: a session that does not answer in time waits for one of a pooler.
func explainProbe(ctx, probing context.Context, err error) error {
	if ctx.Err() == nil && probing.Err() != nil {
		return ErrSharedSessions
	}
	return fmt.Errorf("look for a mark in a session: %w", err)
}

// queryer asks a database.
type queryer interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// checkSameDatabase returns an error if the direct connection does not lead to the server and the database of pooled: a lock there would
// protect nothing, and a copy would be of something else. It takes a lock directly and looks for it through the pooler.
func checkSameDatabase(ctx context.Context, pooled queryer, direct *pgx.ConnConfig) error {
	conn, err := pgx.ConnectConfig(ctx, direct)
	if err != nil {
		return fmt.Errorf("connect to the database of storage direct_url: %w", err)
	}
	defer closeConn(conn)
	var number [8]byte
	if _, err := rand.Read(number[:]); err != nil {
		return fmt.Errorf("choose a lock: %w", err)
	}
	key := int64(binary.BigEndian.Uint64(number[:]))
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", key); err != nil {
		return fmt.Errorf("compare the databases of storage url and direct_url: %w", err)
	}
	defer unlockAndClose(conn)
	var directSchema, pooledSchema string
	var seen bool
	err = errors.Join(conn.QueryRow(ctx, "SELECT coalesce(current_schema(), '')").Scan(&directSchema),
		pooled.QueryRow(ctx, `SELECT coalesce(current_schema(), ''), EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
			AND objsubid = 1 AND (classid::bigint << 32) | objid::bigint = $1)`, key).Scan(&pooledSchema, &seen))
	switch {
	case err != nil:
		return fmt.Errorf("compare the databases of storage url and direct_url: %w", err)
	case !seen || directSchema != pooledSchema:
		return errors.New("storage direct_url leads to another server, database or schema than url: name the server that the pooler stands before")
	}
	return nil
}

// checkPooledDatabase is checkSameDatabase for what opens no pool.
func (c Config) checkPooledDatabase(ctx context.Context, direct *pgx.ConnConfig) error {
	cfg, err := c.parseURL()
	if err != nil {
		return err
	}
	cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	conn, err := pgx.ConnectConfig(ctx, cfg.ConnConfig)
	if err != nil {
		return fmt.Errorf("connect to the database of storage url: %w", err)
	}
	defer closeConn(conn)
	return checkSameDatabase(ctx, conn, direct)
}
