package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/pressly/goose/v3"
)

//go:embed migrations
var ownMigrations embed.FS

// ErrNewer is in the chain of every NewerError.
var ErrNewer = errors.New("the database is newer than this program")

// NewerError says that a newer Patchbay has used the database.
type NewerError struct {
	// Module is whose tables are newer.
	Module string
	// Database and Program are the versions of the module's schema.
	Database, Program int64
}

// Error implements error.
func (e *NewerError) Error() string {
	return fmt.Sprintf("migrate %s: the database has schema version %d and this program knows %d; "+
		"start the newer version of patchbay again, or go back to the data from before the upgrade: "+
		"patchbay restore FILE, where FILE is a backup or the copy whose name has .before-migration-", e.Module, e.Database, e.Program)
}

// Is makes errors.Is(err, ErrNewer) true.
func (e *NewerError) Is(target error) bool { return target == ErrNewer }

// Migrations are the schema of one module: NNNN_name.sql for both dialects, or sqlite/NNNN_name.sql and
// postgres/NNNN_name.sql where the dialects differ. A file is the line "-- +goose Up" and SQL, which runs in a transaction.
// There is no way down: who goes back to an older program restores a backup. Applied versions are kept in the table
// goose_<module>.
//
// A file for both dialects is written for SQLite, where an INTEGER has 64 bits, with two types besides: INT, an integer of
// 32 bits in PostgreSQL, and BOOL, which is an integer in the strict tables of SQLite.
type Migrations struct {
	// Module is lower case: letters, digits and underscores, beginning with a letter.
	Module string
	// FS holds the files, and those of one dialect in a folder of its name.
	FS fs.FS
	// Times are the columns that RepairTimes looks at.
	Times []StoredTime
	// Prepare, if set, makes or upgrades on PostgreSQL the tables of a library, whose names begin with LibraryPrefix, each time after the
	// module's migrations.
	Prepare func(ctx context.Context, pool *pgxpool.Pool) error
}

// EmbeddedMigrations returns the migrations that a package embeds as its folder "migrations".
func EmbeddedMigrations(module string, files embed.FS, times ...StoredTime) Migrations {
	folder, err := fs.Sub(files, "migrations")
	if err != nil { // only for a bad name
		folder = files
	}
	return Migrations{Module: module, FS: folder, Times: times}
}

// Migrate brings the store's own tables and those of the modules up to date, in the order given. It changes nothing
// when any module's tables are newer than the program, which is a *NewerError. Two processes may call it at once.
func (s *Store) Migrate(ctx context.Context, modules ...Migrations) error {
	unlock, err := s.lockMigrations(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.migrateAll(ctx, append([]Migrations{EmbeddedMigrations("store", ownMigrations)}, modules...)); err != nil {
		return err
	}
	s.times = nil
	for _, m := range modules {
		s.times = append(s.times, m.Times...)
	}
	s.migrated.Store(true)
	return nil
}

// Migrated tells what Migrate has done: whether it made the tables of an empty database, and how many migrations it ran.
func (s *Store) Migrated() (created bool, steps int) { return s.created, s.steps }

func (s *Store) migrateAll(ctx context.Context, modules []Migrations) error {
	providers, used, behind := make([]*goose.Provider, len(modules)), false, false
	for i, m := range modules {
		p, err := s.newProvider(m)
		if err != nil {
			return fmt.Errorf("read the migrations of %s: %w", m.Module, err)
		}
		current, target, err := p.GetVersions(ctx)
		if err != nil {
			return fmt.Errorf("read the schema version of %s: %w", m.Module, err)
		}
		if current > target {
			return &NewerError{Module: m.Module, Database: current, Program: target}
		}
		if current < target {
			if err := checkOthers(ctx, s, m, current); err != nil {
				return err
			}
		}
		providers[i], used, behind = p, used || current > 0, behind || current < target
	}
	s.created = !used
	if used && behind {
		if err := s.copyBeforeMigration(ctx); err != nil {
			return fmt.Errorf("copy the database before its schema changes: %w", err)
		}
	}
	for i, p := range providers {
		done, err := p.Up(ctx)
		if err != nil {
			return fmt.Errorf("migrate %s: %w", modules[i].Module, err)
		}
		for _, d := range done {
			s.steps++
			s.log.Debug("migrated", "module", modules[i].Module, "version", d.Source.Version, "took", d.Duration)
		}
		if prepare := modules[i].Prepare; prepare != nil && s.cfg.Dialect == Postgres {
			if err := prepare(ctx, s.pool); err != nil {
				return fmt.Errorf("migrate %s: %w", modules[i].Module, err)
			}
		}
	}
	return nil
}

// newProvider returns the goose provider for the migrations of one module.
func (s *Store) newProvider(m Migrations) (*goose.Provider, error) {
	if !regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`).MatchString(m.Module) {
		return nil, fmt.Errorf("bad module name %q", m.Module)
	}
	db, err := s.writer.db.DB()
	if err != nil {
		return nil, err
	}
	migrations, err := readMigrations(m.FS, s.cfg.Dialect)
	if err != nil {
		return nil, err
	}
	dialect := goose.DialectSQLite3
	if s.cfg.Dialect == Postgres {
		dialect = goose.DialectPostgres
	}
	return goose.NewProvider(dialect, db, nil, goose.WithTableName("goose_"+m.Module), goose.WithDisableGlobalRegistry(true),
		goose.WithGoMigrations(migrations...))
}

// readMigrations returns the migrations of one dialect. They run as functions, because goose's own reader of SQL
// allocates a buffer of 4 MB for each line that it reads.
func readMigrations(folder fs.FS, dialect Dialect) ([]*goose.Migration, error) {
	names, err := fs.Glob(folder, "*.sql")
	if err != nil {
		return nil, err
	}
	own, err := fs.Glob(folder, string(dialect)+"/*.sql")
	if err != nil {
		return nil, err
	}
	types := columnTypes(dialect)
	var migrations []*goose.Migration
	for _, name := range append(names, own...) {
		version, err := goose.NumericComponent(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, err
		}
		before, up, ok := strings.Cut(string(text), upMark)
		if !ok || strings.Contains(before+up, "+goose") {
			return nil, fmt.Errorf("%s: the file must begin with %q, and have no other mark", name, upMark)
		}
		if path.Dir(name) == "." {
			up = types.Replace(up)
		}
		migrations = append(migrations, goose.NewGoMigration(version, runSQL(name, up), nil))
	}
	return migrations, nil
}

// columnTypes returns the replacements that make the text of a file for both dialects one for dialect.
func columnTypes(dialect Dialect) *strings.Replacer {
	if dialect == Postgres {
		return strings.NewReplacer(" INTEGER PRIMARY KEY AUTOINCREMENT", " BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
			" INTEGER", " BIGINT", " BLOB", " BYTEA", " REAL", " DOUBLE PRECISION",
			") STRICT, WITHOUT ROWID;", ");", ") STRICT;", ");", ") WITHOUT ROWID;", ");")
	}
	return strings.NewReplacer(" INT ", " INTEGER ", " BOOL NOT NULL DEFAULT FALSE", " INTEGER NOT NULL DEFAULT 0",
		" BOOL NOT NULL DEFAULT TRUE", " INTEGER NOT NULL DEFAULT 1", " BOOL ", " INTEGER ")
}

const upMark = "-- +goose Up\n"

// runSQL returns a function that executes all statements of a file.
func runSQL(file, statements string) *goose.GoFunc {
	return &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, statements); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		return nil
	}}
}
