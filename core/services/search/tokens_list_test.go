package search

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/store"
)

// TestTokenNotes: the notes are those of the tokens that are asked for, with those of deleted tokens.
func TestTokenNotes(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		e := newEnvOn(t, testkit.OpenStore(t, cfg, Migrations()))
		var ids []string
		for _, note := range []string{"one", "two", "three"} {
			text, err := e.svc.CreateToken(t.Context(), access.NewToken{Note: note})
			testkit.Must(t, err)
			ids = append(ids, access.TokenID(text))
		}
		testkit.Must(t, e.svc.DeleteToken(t.Context(), ids[1]))
		for _, tc := range []struct {
			ids  []string
			want map[string]string
		}{
			{nil, map[string]string{}},
			{[]string{ids[0], ids[1], "none"}, map[string]string{ids[0]: "one", ids[1]: "two"}},
		} {
			if got, err := e.svc.TokenNotes(t.Context(), tc.ids); err != nil || !cmp.Equal(tc.want, got) {
				t.Errorf("the notes of %v are %v, %v", tc.ids, got, err)
			}
		}
	})
}
