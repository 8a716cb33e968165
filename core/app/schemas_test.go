package app

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/keys"
	"github.com/patchbay-dev/patchbay/core/settings"
	"github.com/patchbay-dev/patchbay/core/store"
)

// schemaFolder holds a small database of each schema so far; its README says how they are made.
const schemaFolder = "testdata/schemas"

// TestEverySchemaMigrates opens databases that the core has written with each schema so far. They get the schema of a fresh database,
// and what they hold is found.
func TestEverySchemaMigrates(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		dumps, err := filepath.Glob(filepath.Join(schemaFolder, "*."+string(cfg.Dialect)+".sql.gz"))
		must(t, err)
		if len(dumps) == 0 {
			t.Fatal("there is no dump")
		}
		want := findSchema(t, testkit.OpenStore(t, cfg, settings.Source{Services: Modules()}.Migrations()...))
		for _, dump := range dumps {
			t.Run(strings.TrimSuffix(filepath.Base(dump), ".sql.gz"), func(t *testing.T) {
				cfg := freshConfig(t, cfg.Dialect)
				loadDump(t, cfg, dump)
				f := newFormer(t, cfg)
				if diff := cmp.Diff(want, findSchema(t, f.store)); diff != "" {
					t.Errorf("its schema is not that of a fresh database (-fresh +migrated):\n%s", diff)
				}
				f.checkRecords()
			})
		}
	})
}

// checkRecords looks for the user, the access token and the upstream key that every dump has.
func (f *former) checkRecords() {
	t, ctx := f.t, f.t.Context()
	t.Helper()
	users, err := f.users.List(ctx)
	must(t, err)
	if len(users) != 1 || users[0].Email != "ann@example.org" || users[0].Role != auth.Admin {
		t.Errorf("the users are %+v", users)
	}
	tokens, err := f.search.FindTokens(ctx, access.TokenFilter{}, 1, 20)
	must(t, err)
	if len(tokens.Items) != 1 || tokens.Items[0].Note != "token of ann@example.org" {
		t.Fatalf("the tokens are %+v", tokens.Items)
	}
	text, err := f.search.TokenText(ctx, tokens.Items[0].ID)
	must(t, err)
	if access.TokenID(text) != tokens.Items[0].ID {
		t.Errorf("the token %s is %q", tokens.Items[0].ID, text)
	}
	found, err := f.search.FindKeys(ctx, keys.KeyFilter{}, 1, 20)
	must(t, err)
	if len(found.Items) != 1 || found.Items[0].Status != keys.KeyActive {
		t.Errorf("the upstream keys are %+v", found.Items)
	}
}

// markNewer makes a database look as if a newer program had used it.
func markNewer(t *testing.T, st *store.Store) {
	t.Helper()
	must(t, st.Tx(t.Context(), "mark as newer", func(ctx context.Context) error {
		return st.Writer(ctx).Exec("INSERT INTO goose_search (version_id, is_applied) VALUES (?, ?)", 9999, true).Error
	}))
}

// TestNewerDatabaseIsRefused: the error names the part, both versions and what to do, and nothing is written.
func TestNewerDatabaseIsRefused(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		migrations := settings.Source{Services: Modules()}.Migrations()
		st := testkit.OpenStore(t, cfg, migrations[:len(migrations)-1]...)
		markNewer(t, st)
		before := findSchema(t, st)
		err := st.Migrate(t.Context(), migrations...)
		var newer *store.NewerError
		if !errors.As(err, &newer) || newer.Module != "search" || newer.Database != 9999 || newer.Program <= 0 {
			t.Fatalf("the error is %v", err)
		}
		for _, advice := range []string{"migrate search: ", "schema version 9999", "start the newer version of patchbay again",
			"patchbay restore FILE", ".before-migration-"} {
			if !strings.Contains(err.Error(), advice) {
				t.Errorf("the error %q lacks %q", err, advice)
			}
		}
		if diff := cmp.Diff(before, findSchema(t, st)); diff != "" {
			t.Errorf("the schema was changed: %s", diff)
		}
	})
}

// TestStartRefusesNewerDatabase starts the core on a database that a newer one has used.
func TestStartRefusesNewerDatabase(t *testing.T) {
	r, _ := newReloadable(t, map[string]string{"testsearch": testplugin.Well},
		"search \"testsearch\" \"main\" {}\nservice \"search\" { backend = search.main }\n")
	r.start()
	markNewer(t, r.store)
	must(t, r.Close())
	a, _, err := Start(t.Context(), Config{Path: r.path, Env: r.env, Version: "test", Logger: hclog.NewNullLogger()})
	if !errors.Is(err, store.ErrNewer) {
		t.Errorf("the error is %v", err)
	}
	if a != nil {
		must(t, a.Close())
	}
	if copies, _ := filepath.Glob(filepath.Join(filepath.Dir(r.path), "data", "*before-migration*")); len(copies) > 0 {
		t.Errorf("there are copies: %q", copies)
	}
}
