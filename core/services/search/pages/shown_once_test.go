package pages

import (
	"net/http"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/webtest"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
)

// TestTokensAreShownOnce: what makes, asks for or replaces a token leads to a page with its text, which is stored nowhere and is
// without it when it is loaded again. Loading it again makes nothing.
func TestTokensAreShownOnce(t *testing.T) {
	s := newSite(t)
	v := s.as(s.admin, "en")
	shown := func(p webtest.Page, what string) string {
		t.Helper()
		to := p.Header.Get("Location")
		if p.Status != http.StatusSeeOther || !strings.HasPrefix(to, "/search/tokens/") || strings.Contains(to, "th-") {
			t.Fatalf("%s: status %d, to %q\n%s", what, p.Status, to, p.Body)
		}
		s.as(s.bob, "en").Get(to).Lacks(t, what+", somebody else", "th-")
		p = v.Get(to)
		p.Is(t, what, 200)
		at := strings.Index(p.Body, "th-")
		if at < 0 || p.Header.Get("Cache-Control") != "no-store" {
			t.Fatalf("%s: no token, or it may be stored: %q", what, p.Header.Get("Cache-Control"))
		}
		v.Get(to).Lacks(t, what+", once more", p.Body[at:at+32])
		return p.Body[at : at+32]
	}
	first := shown(v.Post("/search/tokens", "note", hostile, "group", "g"), "a new token")
	id := access.TokenID(first)
	if again := shown(v.Post("/search/tokens/"+id+"/reveal"), "the token"); again != first {
		t.Errorf("revealed %q, want %q", again, first)
	}
	second := shown(v.Post("/search/tokens/"+id+"/rotate"), "the new text")
	if second == first || access.TokenID(second) != id {
		t.Errorf("replaced by %q", second)
	}
	for _, path := range []string{"/search/tokens", "/search/tokens/" + id, "/search/guide", "/search/playground"} {
		v.Get(path).Lacks(t, path, first, second, second[8:])
	}
	p := v.Post("/search/tokens/"+id+"/settings", "note", "n", "group", "h", "owner", s.bobID, "credits_day", "7", "expires", "2031-02-03")
	if p.Status != http.StatusSeeOther {
		t.Fatalf("settings: %d\n%s", p.Status, p.Body)
	}
	v.Get("/search/tokens/"+id).Is(t, "what was set", 200, `value="7"`, `value="2031-02-03"`, "bob", "The token")
	for action, word := range map[string]string{"disable": "enable", "enable": "disable"} {
		if p := v.Post("/search/tokens/" + id + "/" + action); p.Status != http.StatusSeeOther {
			t.Errorf("%s: %d", action, p.Status)
		}
		v.Get("/search/tokens/"+id).Is(t, action, 200, "/"+word+`"`)
	}
	v.Post("/search/tokens/"+id+"/delete").Is(t, "delete without the name", http.StatusBadRequest, "Type the name to confirm")
	if p := v.Post("/search/tokens/"+id+"/delete", "confirm_name", id); p.Status != http.StatusSeeOther ||
		p.Header.Get("Location") != "/search/tokens" {
		t.Errorf("delete: %d to %q", p.Status, p.Header.Get("Location"))
	}
	v.Get("/search/tokens/"+id).Is(t, "deleted", 404)
}
