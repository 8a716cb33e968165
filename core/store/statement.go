package store

import (
	"context"

	"gorm.io/gorm"
)

// RunStatement calls fn, which runs one statement and no more on the connection that it gets, in a write transaction of its own. On
// PostgreSQL this takes one round trip, where Tx takes three. Inside a transaction it joins that one. The name and the error of a busy
// writer are those of Tx.
func (s *Store) RunStatement(ctx context.Context, name string, fn func(conn gorm.ConnPool) error) error {
	if s.cfg.Dialect != Postgres || !s.cfg.Exclusive && !s.cfg.Shared || s.InTx(ctx) {
		return s.Tx(ctx, name, func(ctx context.Context) error { return fn(s.Writer(ctx).Statement.ConnPool) })
	}
	leave, err := s.writer.gate.acquire(ctx, name, s.cfg.WriteWait)
	if err != nil {
		return err
	}
	defer leave()
	if err := fn(s.writer.db.Statement.ConnPool); err != nil {
		return err
	}
	s.commits.Add(1)
	return nil
}
