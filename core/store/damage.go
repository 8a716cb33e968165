package store

import (
	"errors"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// damage is how a statement found out that the database is damaged.
type damage struct{ err error }

// noteDamage remembers the first error that says that the file is damaged. The database counts as damaged until the next start.
func (s *Store) noteDamage(err error) {
	var engine sqlite3.Error
	if err == nil || !errors.As(err, &engine) || engine.Code != sqlite3.ErrCorrupt && engine.Code != sqlite3.ErrNotADB {
		return
	}
	if s.damage.CompareAndSwap(nil, &damage{err}) {
		s.log.Error("database damaged: changes are refused; stop Patchbay and restore a backup", "file", s.cfg.Path, "error", err)
		close(s.damaged)
	}
}

// Damage returns what was found out about a damaged database, or nil.
func (s *Store) Damage() error {
	if d := s.damage.Load(); d != nil {
		return s.explainDiskError(d.err)
	}
	return nil
}

// Damaged returns a channel that is closed when the database turns out to be damaged.
func (s *Store) Damaged() <-chan struct{} { return s.damaged }
