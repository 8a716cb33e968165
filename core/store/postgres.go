package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/postgres"
)

// The size of the pool when the URL does not set pool_max_conns, and how many connections transactions leave to reads.
const (
	postgresConns    = 16
	postgresReserved = 2
)

func (s *Store) openPostgres(ctx context.Context) error {
	pool, err := s.openPool(ctx)
	if err != nil {
		return err
	}
	direct, err := s.cfg.parseDirectURL()
	if err != nil {
		return err
	}
	if s.cfg.DirectURL != "" {
		if err := checkSameDatabase(ctx, pool, direct.ConnConfig); err != nil {
			return err
		}
	}
	if s.cfg.Exclusive {
		if err := s.lockServer(ctx, direct.ConnConfig, false); err != nil {
			return err
		}
	}
	s.pool = pool
	db := stdlib.OpenDBFromPool(pool)
	s.onClose(closeDB(db))
	writer, err := s.openGorm(postgresDialect{&postgres.Dialector{Config: &postgres.Config{Conn: db}}}, false)
	if err != nil {
		return err
	}
	s.reader, err = s.openGorm(postgresDialect{&postgres.Dialector{Config: &postgres.Config{Conn: db}}}, true)
	if err != nil {
		return err
	}
	slots := max(1, int(pool.Config().MaxConns)-postgresReserved)
	s.writer = &lane{db: writer, gate: newGate(slots)}
	s.queue = s.writer
	return nil
}

// LockShared takes the lock of the database as one of several cores. A core alone and a restore are kept away by it, and keep it away: the
// error is a *LockedError then. It is for a store with Shared, once.
func LockShared(ctx context.Context, s *Store) error {
	direct, err := s.cfg.parseDirectURL()
	if err != nil {
		return err
	}
	return s.lockServer(ctx, direct.ConnConfig, true)
}

// errURL does not say what is wrong: a URL holds a password, and so may its parser's message.
var errURL = errors.New("it is not a valid postgres:// URL")

func (c Config) parseURL() (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(c.URL)
	if err != nil {
		return nil, errURL
	}
	return cfg, nil
}

// parseDirectURL returns the connection for what needs a session of its own.
func (c Config) parseDirectURL() (*pgxpool.Config, error) {
	c.URL = cmp.Or(c.DirectURL, c.URL)
	return c.parseURL()
}

// CheckDirectURL is CheckURL for DirectURL.
func (c Config) CheckDirectURL() error {
	_, err := c.parseDirectURL()
	return err
}

// CheckURL reports whether URL can be read. It connects to nothing, and no error shows any of the URL.
func (c Config) CheckURL() error {
	_, err := c.parseURL()
	return err
}

func (s *Store) openPool(ctx context.Context) (*pgxpool.Pool, error) {
	cfg, err := s.cfg.parseURL()
	if err != nil {
		return nil, fmt.Errorf("read the database URL: %w, check storage url", err)
	}
	if !strings.Contains(s.cfg.URL, "pool_max_conns") {
		cfg.MaxConns = postgresConns
	}
	if s.cfg.DirectURL != "" && !strings.Contains(s.cfg.URL, "default_query_exec_mode") {
		// A pooler that shares sessions forgets prepared statements.
		cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	at := fmt.Sprintf("%s:%d/%s", cfg.ConnConfig.Host, cfg.ConnConfig.Port, cfg.ConnConfig.Database)
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("open the database %s: %w", at, err)
	}
	s.onClose(func() error { pool.Close(); return nil })
	if err := pool.Ping(ctx); err != nil {
		return nil, fmt.Errorf("connect to the database %s: %w; check that the server runs and that user and password are right", at, err)
	}
	return pool, nil
}
