package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"gorm.io/gorm"
)

// defaultWatch is the default interval of Watch.
const defaultWatch = 500 * time.Millisecond

// markForeign counts a commit of a process other than the core, so that the core's Watch notices it. The core's own
// commits are not counted.
func (s *Store) markForeign(ctx context.Context, db *gorm.DB) error {
	if s.cfg.Exclusive || s.cfg.Shared || !s.migrated.Load() {
		return nil
	}
	return db.WithContext(ctx).Exec("UPDATE store_changes SET seq = seq + 1 WHERE id = 1").Error
}

// Watch calls changed after writes by other processes, within about interval (0 means 500 ms), until ctx ends. Several
// writes may give one call; a call without a foreign write is possible and harmless. Writes of other Patchbay processes
// that called Migrate are noticed always; those of other tools on a SQLite file, while this process itself does not write. Migrate must
// have run. It blocks and returns the reason, which is ctx's error in the end.
func (s *Store) Watch(ctx context.Context, interval time.Duration, changed func()) error {
	if interval <= 0 {
		interval = defaultWatch
	}
	probe, err := s.newProbe(ctx)
	if err != nil {
		return err
	}
	defer probe.close()
	// What others wrote between the caller's reading and this moment would not be noticed otherwise.
	changed()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		fresh, err := probe.foreignWrite(ctx)
		if err != nil && ctx.Err() == nil {
			s.log.Warn("cannot check for changes by other programs", "error", err)
		}
		if fresh {
			changed()
		}
	}
}

// probe holds the state of the database when it was last checked.
type probe struct {
	store   *Store
	db      *sql.DB // SQLite only: a connection of its own, for its own view of data_version
	seq     int64
	version int64
	commits int64
}

func (s *Store) newProbe(ctx context.Context) (*probe, error) {
	p := &probe{store: s}
	if s.cfg.Dialect == SQLite {
		db, err := sql.Open("sqlite3", s.dsn("mode=ro&_query_only=1&_txlock=deferred"))
		if err != nil {
			return nil, fmt.Errorf("open a connection to watch: %w", err)
		}
		db.SetMaxOpenConns(1)
		db.SetMaxIdleConns(1)
		p.db = db
	}
	if _, err := p.foreignWrite(ctx); err != nil {
		p.close()
		return nil, fmt.Errorf("look for foreign writes: %w", err)
	}
	return p, nil
}

func (p *probe) close() {
	if p.db != nil {
		_ = p.db.Close()
	}
}

// foreignWrite reports whether another process has written since the last call.
func (p *probe) foreignWrite(ctx context.Context) (bool, error) {
	quiet, moved, err := p.checkVersion(ctx)
	if err != nil {
		return false, err
	}
	if p.db != nil && !moved {
		return false, nil
	}
	var seq int64
	if err := p.store.reader.WithContext(ctx).Raw("SELECT seq FROM store_changes WHERE id = 1").Scan(&seq).Error; err != nil {
		return false, err
	}
	counted := seq != p.seq
	p.seq = seq
	return counted || (moved && quiet), nil
}

// checkVersion reports whether the file has changed, and whether this process has committed nothing meanwhile.
func (p *probe) checkVersion(ctx context.Context) (quiet, moved bool, err error) {
	if p.db == nil {
		return false, false, nil
	}
	var version int64
	if err := p.db.QueryRowContext(ctx, "PRAGMA data_version").Scan(&version); err != nil {
		return false, false, err
	}
	commits := p.store.commits.Load()
	quiet, moved = commits == p.commits, version != p.version
	p.version, p.commits = version, commits
	return quiet, moved, nil
}
