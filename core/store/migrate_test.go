package store_test

import (
	"context"
	"errors"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

func TestMigrateTwiceIsOnce(t *testing.T) {
	forEach(t, func(t *testing.T, st *store.Store) {
		if err := st.Migrate(t.Context(), things()); err != nil {
			t.Fatal(err)
		}
		if err := add(st, t.Context(), 1, "a"); err != nil {
			t.Fatal(err)
		}
	})
}

func TestMigrateRefusesNewer(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		newer := things()
		for _, d := range []string{"sqlite", "postgres"} {
			newer.FS.(fstest.MapFS)[d+"/0002_more.sql"] = &fstest.MapFile{Data: []byte("-- +goose Up\nCREATE TABLE more (id BIGINT);\n")}
		}
		st := testkit.OpenStore(t, cfg, newer)
		other := things()
		other.Module = "other"
		err := st.Migrate(t.Context(), other, things())
		var refused *store.NewerError
		if !errors.Is(err, store.ErrNewer) || !errors.As(err, &refused) {
			t.Fatalf("got %v", err)
		}
		if *refused != (store.NewerError{Module: "things", Database: 2, Program: 1}) || !strings.Contains(err.Error(), "patchbay restore FILE") {
			t.Errorf("got %v", err)
		}
	})
}

func TestMigrateFailureNamesTheModule(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		st := testkit.OpenStore(t, cfg)
		bad := store.Migrations{Module: "bad", FS: fstest.MapFS{
			"sqlite/0001_bad.sql":   {Data: []byte("-- +goose Up\nCREATE TABEL x (id BIGINT);\n")},
			"postgres/0001_bad.sql": {Data: []byte("-- +goose Up\nCREATE TABEL x (id BIGINT);\n")},
		}}
		if err := st.Migrate(t.Context(), bad); err == nil || !strings.Contains(err.Error(), "migrate bad") {
			t.Fatalf("got %v", err)
		}
		bad.Module = `x"; DROP`
		if err := st.Migrate(t.Context(), bad); err == nil || !strings.Contains(err.Error(), "bad module name") {
			t.Fatalf("got %v", err)
		}
	})
}

// A file is carried out whole or not at all, and one that the reader does not understand is refused.
func TestMigrateWholeFiles(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		st := testkit.OpenStore(t, cfg)
		of := func(text string) store.Migrations {
			return store.Migrations{Module: "halves", FS: fstest.MapFS{
				"sqlite/0001_a.sql": {Data: []byte(text)}, "postgres/0001_a.sql": {Data: []byte(text)},
			}}
		}
		for text, want := range map[string]string{
			"-- +goose Up\nCREATE TABLE a (id BIGINT);\nCREATE TABEL b (id BIGINT);\n":                      "0001_a.sql",
			"CREATE TABLE a (id BIGINT);\n":                                                                 "must begin with",
			"-- +goose NO TRANSACTION\n-- +goose Up\nCREATE TABLE a (id BIGINT);\n":                         "must begin with",
			"-- +goose Up\n-- +goose StatementBegin\nCREATE TABLE a (id BIGINT);\n-- +goose StatementEnd\n": "must begin with",
			"-- +goose Up\nCREATE TABLE a (id BIGINT);\n-- +goose DOWN\nDROP TABLE a;\n":                    "must begin with",
			"-- +goose Up\nCREATE TABLE a (id BIGINT);\n-- +goose NO TRANSACTION\n":                         "must begin with",
		} {
			if err := st.Migrate(t.Context(), of(text)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v", text, err)
			}
		}
		if err := st.Migrate(t.Context(), of("-- +goose Up\nCREATE TABLE a (id BIGINT);\nCREATE TABLE b (id BIGINT);\n")); err != nil {
			t.Error(err)
		}
		for _, table := range []string{"a", "b"} {
			var n int64
			if err := st.DB(t.Context()).Raw("SELECT count(*) FROM " + table).Scan(&n).Error; err != nil {
				t.Errorf("table %s: %v", table, err)
			}
		}
	})
}

func TestMigrateConcurrently(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		cfg.Exclusive = false
		var wg sync.WaitGroup
		errs := make([]error, 4)
		for i := range errs {
			wg.Go(func() {
				st, err := store.Open(t.Context(), cfg)
				if err != nil {
					errs[i] = err
					return
				}
				errs[i] = errors.Join(st.Migrate(t.Context(), things()), st.Close())
			})
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	})
}

// TestMigrationForBothDialects runs one file on both, with every type that is spelled otherwise in one of them.
func TestMigrationForBothDialects(t *testing.T) {
	const text = `-- +goose Up
CREATE TABLE kinds (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    big   INTEGER NOT NULL,
    small INT NOT NULL,
    raw   BLOB NOT NULL,
    share REAL NOT NULL,
    shown BOOL NOT NULL DEFAULT TRUE
) STRICT;
`
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		s := testkit.OpenStore(t, cfg, store.Migrations{Module: "kinds", FS: fstest.MapFS{"0001_kinds.sql": {Data: []byte(text)}}})
		row := struct {
			ID, Big int64
			Small   int32
			Raw     []byte
			Share   float64
			Shown   bool
		}{Big: 1 << 40, Small: 7, Raw: []byte{0, 255}, Share: 0.5}
		err := s.Tx(t.Context(), "fill", func(ctx context.Context) error {
			return s.Writer(ctx).Exec("INSERT INTO kinds (big, small, raw, share) VALUES (?, ?, ?, ?)", row.Big, row.Small, row.Raw, row.Share).Error
		})
		if err != nil {
			t.Fatal(err)
		}
		got := row
		if err := s.DB(t.Context()).Raw("SELECT * FROM kinds").Scan(&got).Error; err != nil {
			t.Fatal(err)
		}
		if row.ID, row.Shown = 1, true; !reflect.DeepEqual(got, row) {
			t.Errorf("%+v, want %+v", got, row)
		}
	})
}

// TestMigrateWithAPoolInTheURL: the parameters of a URL that are the pool's are no parameters of the server.
func TestMigrateWithAPoolInTheURL(t *testing.T) {
	cfg := testkit.PostgresConfig(t)
	u, err := url.Parse(cfg.URL)
	must(t, err)
	query := u.Query()
	query.Set("pool_max_conns", "4")
	u.RawQuery = query.Encode()
	cfg.URL = u.String()
	testkit.OpenStore(t, cfg)
}
