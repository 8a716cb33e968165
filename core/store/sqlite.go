package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	sqlite3 "github.com/mattn/go-sqlite3"
	"gorm.io/driver/sqlite"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/privatedir"
)

// sqliteReaders is the size of the pool of read connections.
const sqliteReaders = 4

// sqliteStatements is how many prepared statements each connection keeps. The statements that run for every request or
// every group commit are parsed once.
const sqliteStatements = 64

// The memory of a writing connection for pages, in KiB, and after how many pages in the log a commit moves them into the database.
// Indexes over texts and hashes touch many pages: with the defaults of 2 MiB and 1,000 pages they are read, and moved, again and again.
const (
	sqliteWriterCache = 16 << 10
	sqliteCheckpoint  = 4000
)

// busyPoll is the pause between two attempts to connect to a busy file.
const busyPoll = 20 * time.Millisecond

func (s *Store) openSQLite(ctx context.Context) error {
	if err := prepareFile(s.cfg.Path); err != nil {
		return err
	}
	if s.cfg.Exclusive {
		if err := s.lockFile(); err != nil {
			return err
		}
		s.openReserve()
	}
	for _, l := range []**lane{&s.writer, &s.queue} {
		opened, err := s.openLane(ctx)
		if err != nil {
			return err
		}
		*l = opened
	}
	db, err := s.openConns(ctx, "mode=ro&_query_only=1&_txlock=deferred", sqliteReaders)
	if err != nil {
		return err
	}
	s.reader, err = s.openGorm(sqliteDialect{sqlite.Dialector{Conn: db}}, true)
	return err
}

func (s *Store) openLane(ctx context.Context) (*lane, error) {
	db, err := s.openConns(ctx, "_journal_mode=WAL&_txlock=immediate&_cache_size=-"+strconv.Itoa(sqliteWriterCache), 1)
	if err != nil {
		return nil, err
	}
	// The pool has this one connection for as long as it is open.
	if _, err := db.ExecContext(ctx, "PRAGMA wal_autocheckpoint = "+strconv.Itoa(sqliteCheckpoint)); err != nil {
		return nil, explainSQLite(s.cfg.Path, err)
	}
	handle, err := s.openGorm(sqliteDialect{sqlite.Dialector{Conn: db}}, false)
	if err != nil {
		return nil, err
	}
	return &lane{db: handle, gate: newGate(1)}, nil
}

func (s *Store) openConns(ctx context.Context, params string, conns int) (*sql.DB, error) {
	db, err := sql.Open("sqlite3", s.dsn(params))
	if err != nil {
		return nil, fmt.Errorf("open the database %s: %w", s.cfg.Path, err)
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	s.onClose(closeDB(db))
	if err := s.connectFile(ctx, db); err != nil {
		return nil, explainSQLite(s.cfg.Path, err)
	}
	return db, nil
}

// connectFile connects. SQLite reports "busy" at once, whatever the busy time-out, when a new file is changed to WAL
// or one is recovered after a crash while another process does the same, so that connectFile waits.
func (s *Store) connectFile(ctx context.Context, db *sql.DB) error {
	deadline := time.Now().Add(s.cfg.WriteWait)
	for {
		var tables int
		err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master").Scan(&tables)
		if !isBusy(err) || time.Now().After(deadline) {
			return err
		}
		if event.Sleep(ctx, busyPoll) != nil {
			return ctx.Err()
		}
	}
}

// dsn returns the address of the file with its path escaped: in a file: address, "%", "?" and "#" have a meaning.
func (s *Store) dsn(params string) string {
	path := (&url.URL{Path: filepath.ToSlash(s.cfg.Path)}).EscapedPath()
	wait := strconv.FormatInt(s.cfg.WriteWait.Milliseconds(), 10)
	return "file:" + path + "?_busy_timeout=" + wait + "&_synchronous=NORMAL&_foreign_keys=on&_stmt_cache_size=" +
		strconv.Itoa(sqliteStatements) + "&" + params
}

// prepareFile creates the directory and the file. Its errors say in plain words what prevents that.
func prepareFile(path string) error {
	if strings.TrimSpace(path) == "" {
		return errors.New("open the database: no path is set, set storage path to a file such as data/patchbay.sqlite3")
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the data directory %s: %w; choose another path or make the directory yourself", dir, err)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("open the database %s: it is a directory; set the path to a file in it", path)
	}
	probe, err := os.CreateTemp(dir, ".patchbay-probe-*")
	if err != nil {
		return fmt.Errorf("write to the data directory %s: %w; %s", dir, err,
			privatedir.OwnerRemedy(dir, "make it writable for the user that runs patchbay"))
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return fmt.Errorf("write to the data directory %s: %w", dir, err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("open the database %s: %w; %s", path, err,
			privatedir.OwnerRemedy(path, "make it readable and writable for the user that runs patchbay"))
	}
	return file.Close()
}

// explainSQLite adds the file and a remedy to an error of the engine.
func explainSQLite(path string, err error) error {
	var engine sqlite3.Error
	if !errors.As(err, &engine) {
		return fmt.Errorf("open the database %s: %w", path, err)
	}
	return fmt.Errorf("open the database %s: %w; %s", path, err, remedyFor(engine.Code))
}

// remedyFor returns what an operator can do about an error of SQLite.
func remedyFor(code sqlite3.ErrNo) string {
	switch code {
	case sqlite3.ErrNotADB:
		return "the file is not an SQLite database, choose another path or restore a backup"
	case sqlite3.ErrCorrupt:
		return "the file is damaged, restore a backup"
	case sqlite3.ErrFull:
		return "the disk is full, free some space"
	case sqlite3.ErrIoErr:
		return "the disk reports an error, check it and the file system"
	case sqlite3.ErrReadonly, sqlite3.ErrPerm, sqlite3.ErrAuth, sqlite3.ErrCantOpen:
		return "make the file and its directory writable for the user that runs patchbay"
	case sqlite3.ErrBusy, sqlite3.ErrLocked:
		return "another program holds it, close that program"
	}
	return "check the file and its directory"
}

// explainDiskError adds the file and a remedy to an error of the disk during a transaction.
func (s *Store) explainDiskError(err error) error {
	var known *fault.Error
	if IsDiskFull(err) && !errors.As(err, &known) {
		return noSpace(fmt.Errorf("write to the database %s: %w", s.cfg.Path, err))
	}
	var engine sqlite3.Error
	if !errors.As(err, &engine) {
		return err
	}
	switch engine.Code {
	case sqlite3.ErrFull, sqlite3.ErrIoErr, sqlite3.ErrReadonly, sqlite3.ErrCorrupt, sqlite3.ErrNotADB:
		return fmt.Errorf("write to the database %s: %w; %s", s.cfg.Path, err, remedyFor(engine.Code))
	}
	return err
}

// isBusy reports whether another connection or process holds the write lock.
func isBusy(err error) bool {
	var engine sqlite3.Error
	return errors.As(err, &engine) && (engine.Code == sqlite3.ErrBusy || engine.Code == sqlite3.ErrLocked)
}
