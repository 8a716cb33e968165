package search

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/keys"
	"github.com/patchbay-dev/patchbay/core/store"
)

// TestAdminLists lists more keys than are read at once, and tokens with their own limits; what was deleted is not among them.
func TestAdminLists(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		ring, err := secret.NewKeyring(make([]byte, 32))
		if err != nil {
			t.Fatal(err)
		}
		admin, ctx := NewAdmin(testkit.OpenStore(t, cfg, Migrations()), ring, nil), context.Background()
		values := make([]string, access.ListPage+2)
		for i := range values {
			values[i] = fmt.Sprintf("upstream-%04d", i)
		}
		added, err := admin.AddKeys(ctx, "team", values)
		if err == nil {
			err = admin.DeleteKey(ctx, added[0].ID)
		}
		if err != nil {
			t.Fatal(err)
		}
		upstreamKeys, err := admin.ListKeys(ctx)
		found := map[string]bool{}
		for _, k := range upstreamKeys {
			found[k.ID] = k.Group == "team" && k.Status == keys.KeyActive
		}
		if err != nil || len(found) != access.ListPage+1 || found[added[0].ID] || !found[added[1].ID] {
			t.Errorf("%d keys are listed, %v", len(found), err)
		}

		limit, ends := int64(7), time.Now().Add(time.Hour).Truncate(time.Second)
		if _, err := admin.CreateToken(ctx, access.NewToken{Note: "limited", ExpiresAt: ends,
			Own: access.TokenLimits{CreditsDay: &limit}}); err != nil {
			t.Fatal(err)
		}
		tokens, err := admin.ListTokens(ctx)
		if err != nil || len(tokens) != 1 || tokens[0].Note != "limited" || !tokens[0].ExpiresAt.Equal(ends) ||
			*tokens[0].Limits.CreditsDay != 7 || tokens[0].Limits.RequestsHour != nil {
			t.Errorf("the tokens are %+v, %v", tokens, err)
		}
		limit = -1
		if _, err := admin.CreateToken(ctx, access.NewToken{Own: access.TokenLimits{CreditsDay: &limit}}); err == nil {
			t.Error("a negative limit is taken")
		}
		if _, err := admin.CreateToken(ctx, access.NewToken{ExpiresAt: time.Now().Add(-time.Second)}); err == nil {
			t.Error("an end in the past is taken")
		}
		if err := admin.DeleteToken(ctx, tokens[0].ID); err != nil {
			t.Fatal(err)
		}
		if tokens, err := admin.ListTokens(ctx); err != nil || len(tokens) != 0 {
			t.Errorf("after the deletion there are %+v, %v", tokens, err)
		}
	})
}
