package pages

import (
	"context"
	"net/http"
	"testing"

	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
	"github.com/patchbay-dev/patchbay/core/services/search/proxy"
)

// try sends a request with a token, whatever comes of it.
func (s *site) try(id, query string) {
	s.Helper()
	_, _ = s.service.Try(context.Background(),
		proxy.Trial{TokenID: id, Operation: "search", Body: []byte(`{"query":"` + query + `"}`), RequestID: "req_01J00000000000000000000000",
			Client: "192.0.2.7"})
	must(s, s.service.Flush(context.Background()))
}

// A failed request says why, in the list and on its page, without what it had asked for or the key.
func TestWhyARequestFailed(t *testing.T) {
	s := newSite(t)
	s.keys("", "tvly-secret-of-the-pool")
	_, id := s.token(s.bobID, "the bot")
	s.backend.answers(http.StatusBadRequest, `{"detail":{"error":"Cannot search confidential words with tvly-secret-of-the-pool today"}}`)
	s.try(id, "confidential words")
	rows, err := s.service.Requests(t.Context(), audit.LogFilter{TokenIDs: []string{id}}, "", 1)
	must(t, err)
	const want = "Cannot search [redacted] with [redacted] today"
	for name, v := range map[string]*visitor{"administrator": s.as(s.admin, "en"), "member": s.as(s.bob, "zh")} {
		list := v.Get("/search/requests")
		list.Is(t, name+": list", http.StatusOK, want, "the bot")
		list.Lacks(t, name+": list", "confidential", "tvly-secret")
		v.Get("/search/requests/"+itoa(rows.Items[0].ID)).Is(t, name+": page", http.StatusOK, want, "the bot")
		v.Get("/search/tokens/"+id).Is(t, name+": token", http.StatusOK, want)
	}
	s.as(s.admin, "en").Get("/search/requests?result=refused").Is(t, "filter without a match", http.StatusOK, "Nothing matches")
}

// A request that was refused names the limit, and so do the token's row and page.
func TestWhichLimitIsUsedUp(t *testing.T) {
	s := newSite(t)
	s.keys("", "tvly-secret-of-the-pool")
	_, id := s.token("", "the bot")
	one := int64(1)
	must(t, s.service.AssignToken(t.Context(), id, access.TokenChange{RequestsHour: &access.Override{Value: &one}}))
	v := s.as(s.admin, "en")
	v.Get("/search/tokens").Lacks(t, "tokens before", "1 of 1 used")
	s.try(id, "first")
	s.try(id, "second")
	rows, err := s.service.Requests(t.Context(), audit.LogFilter{TokenIDs: []string{id}}, "", 1)
	must(t, err)
	if l := rows.Items[0].Limit.Of; rows.Items[0].HTTPStatus != 429 || l == nil || l.Scope != "requests" || l.Window != "hour" ||
		l.Used != 1 || l.Limit != 1 || l.ResetAt.IsZero() {
		t.Errorf("request %+v, limit %+v", rows.Items[0], l)
	}
	for _, path := range []string{"/search/requests", "/search/requests/" + itoa(rows.Items[0].ID), "/search/tokens", "/search/tokens/" + id} {
		v.Get(path).Is(t, path, http.StatusOK, "Requests per hour: 1 of 1 used", "Resets")
	}
	s.as(s.admin, "zh").Get("/search/requests").Is(t, "in Chinese", http.StatusOK, "已用 1 / 1")
}
