package search

import (
	"testing"

	"github.com/patchbay-dev/patchbay/core/services/search/access"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

func TestRefusalNamesWhatIsNeeded(t *testing.T) {
	e := newEnv(t)
	e.listen()
	token := e.token(&access.Limits{RequestsHour: 10, CreditsHour: 30, CreditsDay: 30, CreditsMonth: 30})
	g := e.post("research", token, `{"input":"i"}`)
	if g.status != 429 || g.json["needed"] != 40.0 || g.json["used"] != 0.0 || g.json["scope"] != "credits" {
		t.Errorf("%d %s", g.status, g.body)
	}
	if _, err := e.call(e.svc, idOf(token), sdk.OpSearch, `{"query":"q"}`); err != nil {
		t.Errorf("a call that fits: %v", err)
	}
}
