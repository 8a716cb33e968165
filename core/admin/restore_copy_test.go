package admin

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/settings"
	"github.com/patchbay-dev/patchbay/core/store"
)

// TestRestoreOfACopy puts back what is copied before a migration: the database alone. A copy of another kind of database is refused.
func TestRestoreOfACopy(t *testing.T) {
	copies, sources := map[store.Dialect]string{}, map[store.Dialect]settings.Source{}
	for _, dialect := range []store.Dialect{store.SQLite, store.Postgres} {
		st, src := newInstallation(t, dialect)
		testkit.Require(t, "postgresql-client", store.Config{Dialect: dialect}.CheckTools() == nil, "install postgresql-client")
		insert := func(n int) {
			t.Helper()
			must(t, st.Tx(t.Context(), "insert", func(ctx context.Context) error {
				return st.Writer(ctx).Exec("INSERT INTO pairs (writer, n, side) VALUES (7, ?, 'a')", n).Error
			}))
		}
		insert(1)
		copies[dialect], sources[dialect] = filepath.Join(t.TempDir(), "patchbay.before-migration-20270131T120000.000Z"), src
		must(t, st.Backup(t.Context(), copies[dialect]))
		insert(2)
		must(t, st.Close())
		done, diags, err := Restore(t.Context(), src, Restoring{Archive: copies[dialect], Overwrite: true, MaxSize: 1})
		must(t, diags.Err())
		must(t, err)
		if len(done.Kept) != 1 || len(done.Beside) > 0 {
			t.Errorf("%s: restore has kept %q, beside others %q", dialect, done.Kept, done.Beside)
		}
		var found []int
		must(t, openDatabase(t, src, false).DB(t.Context()).Raw("SELECT n FROM pairs WHERE writer = 7").Scan(&found).Error)
		if fmt.Sprint(found) != "[1]" {
			t.Errorf("%s: the rows are %v", dialect, found)
		}
	}
	for dialect, other := range map[store.Dialect]store.Dialect{store.SQLite: store.Postgres, store.Postgres: store.SQLite} {
		_, _, err := Restore(t.Context(), sources[dialect], Restoring{Archive: copies[other], Overwrite: true})
		if err == nil || !strings.Contains(err.Error(), "another kind of database") {
			t.Errorf("%s with a copy of %s: %v", dialect, other, err)
		}
	}
}
