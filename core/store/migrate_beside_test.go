package store_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

// TestMigrateBesideOthers: while other cores use the database, a newer one only adds to the schema.
func TestMigrateBesideOthers(t *testing.T) {
	for name, c := range map[string]struct {
		step   string
		refuse bool
	}{
		"a table":              {"CREATE TABLE more (id BIGINT PRIMARY KEY);\n-- A comment; with a mark.\nINSERT INTO more VALUES (1);", false},
		"an index":             {"CREATE INDEX things_by_name ON things (name);", false},
		"a column":             {"ALTER TABLE things ADD COLUMN more TEXT;", false},
		"a column with value":  {"ALTER TABLE things ADD COLUMN more TEXT NOT NULL DEFAULT '';", false},
		"a column without one": {"ALTER TABLE things ADD COLUMN more TEXT NOT NULL;", true},
		"a unique index":       {"CREATE UNIQUE INDEX things_once ON things (name);", true},
		"less":                 {"ALTER TABLE things DROP COLUMN name;", true},
		"other rows":           {"UPDATE things SET name = '';", true},
		"new rows":             {"INSERT INTO things (id) VALUES (2);", true},
		"less after more":      {"CREATE TABLE more (id BIGINT);\nDROP TABLE things;", true},
	} {
		t.Run(name, func(t *testing.T) {
			url := testkit.Postgres(t)
			files := fstest.MapFS{"0001_things.sql": {Data: []byte("-- +goose Up\nCREATE TABLE things (id BIGINT PRIMARY KEY, name TEXT);")}}
			cfg := store.Config{Dialect: store.Postgres, URL: url, Shared: true, MigrateWithoutCopy: true}
			var others []string
			testkit.OpenStore(t, cfg, store.Migrations{Module: "things", FS: files})
			files["0002_next.sql"] = &fstest.MapFile{Data: []byte("-- +goose Up\n" + c.step)}
			next, err := store.Open(t.Context(), cfg)
			testkit.Must(t, err)
			defer next.Close()
			store.ListOthers(next, func(context.Context, *store.Store) ([]string, error) { return others, nil })
			if others = []string{"b"}; c.refuse {
				err := next.Migrate(t.Context(), store.Migrations{Module: "things", FS: files})
				if err == nil || !strings.Contains(err.Error(), "things: 0002_next.sql") || !strings.Contains(err.Error(), "stop b") {
					t.Errorf("not refused: %v", err)
				}
				others = nil
			}
			testkit.Must(t, next.Migrate(t.Context(), store.Migrations{Module: "things", FS: files}))
		})
	}
}
