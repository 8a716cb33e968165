package pages

import (
	"net/http"
	"strings"
	"testing"

	service "github.com/patchbay-dev/patchbay/core/services/search"
)

// TestTokensAreShownOnce: what makes, asks for or replaces a token leads to a page with its text, which is stored nowhere and is
// without it when it is loaded again. Loading it again makes nothing.
func TestTokensAreShownOnce(t *testing.T) {
	s := newSite(t)
	v := s.as(s.admin, "en")
	shown := func(p page, what string) string {
		t.Helper()
		to := p.header.Get("Location")
		if p.status != http.StatusSeeOther || !strings.HasPrefix(to, "/search/tokens/") || strings.Contains(to, "th-") {
			t.Fatalf("%s: status %d, to %q\n%s", what, p.status, to, p.body)
		}
		s.as(s.bob, "en").get(to).lacks(t, what+", somebody else", "th-")
		p = v.get(to)
		p.is(t, what, 200)
		at := strings.Index(p.body, "th-")
		if at < 0 || p.header.Get("Cache-Control") != "no-store" {
			t.Fatalf("%s: no token, or it may be stored: %q", what, p.header.Get("Cache-Control"))
		}
		v.get(to).lacks(t, what+", once more", p.body[at:at+32])
		return p.body[at : at+32]
	}
	first := shown(v.post("/search/tokens", "note", hostile, "group", "g"), "a new token")
	id := service.TokenID(first)
	if again := shown(v.post("/search/tokens/"+id+"/reveal"), "the token"); again != first {
		t.Errorf("revealed %q, want %q", again, first)
	}
	second := shown(v.post("/search/tokens/"+id+"/rotate"), "the new text")
	if second == first || service.TokenID(second) != id {
		t.Errorf("replaced by %q", second)
	}
	for _, path := range []string{"/search/tokens", "/search/tokens/" + id, "/search/guide", "/search/playground"} {
		v.get(path).lacks(t, path, first, second, second[8:])
	}
	p := v.post("/search/tokens/"+id+"/settings", "note", "n", "group", "h", "owner", s.bobID, "credits_day", "7", "expires", "2031-02-03")
	if p.status != http.StatusSeeOther {
		t.Fatalf("settings: %d\n%s", p.status, p.body)
	}
	v.get("/search/tokens/"+id).is(t, "what was set", 200, `value="7"`, `value="2031-02-03"`, "bob", "The token")
	for action, word := range map[string]string{"disable": "enable", "enable": "disable"} {
		if p := v.post("/search/tokens/" + id + "/" + action); p.status != http.StatusSeeOther {
			t.Errorf("%s: %d", action, p.status)
		}
		v.get("/search/tokens/"+id).is(t, action, 200, "/"+word+`"`)
	}
	v.post("/search/tokens/"+id+"/delete").is(t, "delete without the name", http.StatusBadRequest, "Type the name to confirm")
	if p := v.post("/search/tokens/"+id+"/delete", "confirm_name", id); p.status != http.StatusSeeOther || p.header.Get("Location") != "/search/tokens" {
		t.Errorf("delete: %d to %q", p.status, p.header.Get("Location"))
	}
	v.get("/search/tokens/"+id).is(t, "deleted", 404)
}
