package search

import (
	"slices"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
)

// TestTokensAreDisabledInTwoOrdersAtOnce: neither waits for the other without end, and the ids that there are not come in the order asked.
func TestTokensAreDisabledInTwoOrdersAtOnce(t *testing.T) {
	cfg := testkit.PostgresConfig(t)
	e := newEnvOn(t, testkit.OpenStore(t, cfg, Migrations()))
	a, b, held := idOf(e.token(nil)), idOf(e.token(nil)), idOf(e.token(nil))
	disable := func(ids ...string) func() error {
		return func() error {
			updated, missing, err := e.svc.SetTokensEnabled(t.Context(), ids, false)
			if err == nil && (updated != len(ids)-2 || !slices.Equal(missing, []string{"none", "gone"})) {
				t.Errorf("got %d, %v for %v", updated, missing, ids)
			}
			return err
		}
	}
	first, second := testkit.Overlap(t, cfg, "SELECT 1 FROM search_tokens WHERE id = '"+held+"' FOR UPDATE",
		disable("none", a, held, b, "gone"), disable("none", b, a, "gone"))
	testkit.Must(t, first)
	testkit.Must(t, second)
}
