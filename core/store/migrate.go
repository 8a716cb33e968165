package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"regexp"

	"github.com/pressly/goose/v3"
)

//go:embed migrations
var own embed.FS

// ErrNewer is in the chain of every NewerError.
var ErrNewer = errors.New("the database is newer than this program")

// NewerError tells that a newer Patchbay has used the database.
type NewerError struct {
	// Module is whose tables are newer.
	Module string
	// Database and Program are the versions of the module's schema.
	Database, Program int64
}

// Error implements error.
func (e *NewerError) Error() string {
	return fmt.Sprintf("migrate %s: the database has schema version %d and this program knows %d; "+
		"start the newer program again, or restore a backup from before the upgrade", e.Module, e.Database, e.Program)
}

// Is makes errors.Is(err, ErrNewer) true.
func (e *NewerError) Is(target error) bool { return target == ErrNewer }

// Migrations are the schema of one module: sqlite/NNNN_name.sql and postgres/NNNN_name.sql in goose's format. Applied
// versions are kept in the table goose_<module>.
type Migrations struct {
	// Module is lower case: letters, digits and underscores, beginning with a letter.
	Module string
	// FS holds a folder for each dialect.
	FS fs.FS
}

// Migrate brings the store's own tables and those of the modules up to date, in the order given. It changes nothing
// when any module's tables are newer than the program, which is a *NewerError. Two processes may call it at once.
func (s *Store) Migrate(ctx context.Context, modules ...Migrations) error {
	folder, err := fs.Sub(own, "migrations")
	if err != nil {
		return fmt.Errorf("read the store's migrations: %w", err)
	}
	unlock, err := s.lockMigrations(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.migrateAll(ctx, append([]Migrations{{Module: "store", FS: folder}}, modules...)); err != nil {
		return err
	}
	s.migrated.Store(true)
	return nil
}

func (s *Store) migrateAll(ctx context.Context, modules []Migrations) error {
	providers := make([]*goose.Provider, len(modules))
	for i, m := range modules {
		p, err := s.provider(m)
		if err != nil {
			return fmt.Errorf("read the migrations of %s: %w", m.Module, err)
		}
		if err := refuseNewer(ctx, m.Module, p); err != nil {
			return err
		}
		providers[i] = p
	}
	for i, p := range providers {
		done, err := p.Up(ctx)
		if err != nil {
			return fmt.Errorf("migrate %s: %w", modules[i].Module, err)
		}
		for _, d := range done {
			s.log.Info("migrated", "module", modules[i].Module, "version", d.Source.Version, "took", d.Duration)
		}
	}
	return nil
}

func (s *Store) provider(m Migrations) (*goose.Provider, error) {
	if !regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`).MatchString(m.Module) {
		return nil, fmt.Errorf("bad module name %q", m.Module)
	}
	folder, err := fs.Sub(m.FS, string(s.cfg.Dialect))
	if err != nil {
		return nil, err
	}
	db, err := s.writerSQL()
	if err != nil {
		return nil, err
	}
	dialect := goose.DialectSQLite3
	if s.cfg.Dialect == Postgres {
		dialect = goose.DialectPostgres
	}
	return goose.NewProvider(dialect, db, folder, goose.WithTableName("goose_"+m.Module), goose.WithDisableGlobalRegistry(true))
}

func refuseNewer(ctx context.Context, module string, p *goose.Provider) error {
	current, target, err := p.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("read the schema version of %s: %w", module, err)
	}
	if current > target {
		return &NewerError{Module: module, Database: current, Program: target}
	}
	return nil
}

func (s *Store) writerSQL() (*sql.DB, error) { return s.writer.db.DB() }
