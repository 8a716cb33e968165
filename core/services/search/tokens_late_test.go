package search

import (
	"context"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

// TestTokenIsChangedAgainBeforeTheTableHears: of two changes of a token the table keeps the one that was committed last, also when it
// hears of that one first.
func TestTokenIsChangedAgainBeforeTheTableHears(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		e := newEnvOn(t, testkit.OpenStore(t, cfg, Migrations()))
		for name, again := range map[string]func(id string) error{
			"disabled": func(id string) error { return e.svc.SetTokenEnabled(context.Background(), id, false) },
			"deleted":  func(id string) error { return e.svc.DeleteToken(context.Background(), id) },
		} {
			id := idOf(e.token(nil))
			testkit.Must(t, e.store.Tx(t.Context(), "change twice", func(ctx context.Context) error {
				// It runs after the commit, and before the table hears of what follows.
				e.store.AfterCommit(ctx, func() { testkit.Must(t, again(id)) })
				return e.svc.SetTokenEnabled(ctx, id, true)
			}))
			if tok := e.svc.Table().Get(id); tok != nil && tok.Enabled {
				t.Errorf("%s: the token is good", name)
			}
		}
	})
}
