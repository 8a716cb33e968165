package app

import (
	"context"
	"testing"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/proxy"
)

// TestTokensEndWithTheirOwner: once a user is disabled, the access tokens that the user owns are refused, at once.
func TestTokensEndWithTheirOwner(t *testing.T) {
	a := startApp(t, nil)
	ctx := t.Context()
	_, _, err := a.users.Create(ctx, "root@example.com", "Root", auth.Admin)
	must(t, err)
	ann, _, err := a.users.Create(ctx, "ann@example.com", "Ann", auth.Member)
	must(t, err)
	service := serviceOf[interface {
		CreateToken(context.Context, access.NewToken) (string, error)
		Try(context.Context, proxy.Trial) (proxy.TrialAnswer, error)
	}](t, a, "search")
	text, err := service.CreateToken(ctx, access.NewToken{OwnerID: ann.ID})
	must(t, err)
	try := func() fault.Code {
		_, err := service.Try(ctx, proxy.Trial{TokenID: text[3:7], Operation: proxy.OpSearch, Body: []byte(`{"query":"x"}`)})
		return fault.CodeOf(err)
	}
	before := try()
	if before == fault.NotFound {
		t.Fatal("the token cannot be used at all")
	}
	for _, off := range []bool{true, false} {
		_, err := a.users.Change(ctx, ann.ID, auth.UserChange{Disabled: &off})
		must(t, err)
		want := before
		if off {
			want = fault.NotFound
		}
		if got := try(); got != want {
			t.Errorf("disabled %t: got %q, want %q", off, got, want)
		}
	}
}
