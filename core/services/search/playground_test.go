package search

import (
	"testing"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
	"github.com/patchbay-dev/patchbay/core/services/search/proxy"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

func TestTrialCountsAsAnyCall(t *testing.T) {
	e := newEnv(t)
	id := idOf(e.token(&access.Limits{RequestsHour: 1, CreditsHour: 9, CreditsDay: 9, CreditsMonth: 9}))
	live := e.svc.Live()
	defer live.Close()
	try := func(id, op, body string) (proxy.TrialAnswer, fault.Code) {
		a, err := e.svc.Try(t.Context(), proxy.Trial{TokenID: id, Operation: op, Body: []byte(body), RequestID: "req_page", Client: "192.0.2.1"})
		if err == nil {
			return a, ""
		}
		return a, fault.CodeOf(err)
	}
	for _, bad := range [][3]string{{"nope", sdk.OpSearch, `{"query":"x"}`}, {id, "dance", `{}`}} {
		if _, code := try(bad[0], bad[1], bad[2]); code != fault.NotFound {
			t.Errorf("%v: got %q", bad, code)
		}
	}
	for _, body := range []string{`{`, `{}`, `{"query":"x","max_results":99}`} {
		if _, code := try(id, sdk.OpSearch, body); code != fault.InvalidRequest {
			t.Errorf("%s: got %q", body, code)
		}
	}
	a, code := try(id, sdk.OpSearch, `{"query":"x"}`)
	if code != "" || a.Status != 200 || string(a.Body) != `{"results":[]}` {
		t.Fatalf("got %q %+v", code, a)
	}
	if _, code := try(id, sdk.OpSearch, `{"query":"x"}`); code != fault.QuotaExhausted {
		t.Errorf("the trial was not counted: got %q", code)
	}
	ev := <-live.Events()
	if r, ok := ev.Data.(audit.RequestLog); !ok || r.RequestID != "req_page" || r.TokenID != id || r.ClientIP != "192.0.2.1" {
		t.Errorf("got %+v", ev)
	}
	if ops := e.svc.Operations(); len(ops) != 5 || ops[0].Name != sdk.OpCrawl {
		t.Errorf("got %+v", ops)
	}
}
