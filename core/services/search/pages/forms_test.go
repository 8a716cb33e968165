package pages

import (
	"net/http"
	"strings"
	"testing"
)

// TestForms: what makes something is a dialog that stands open where the address or an error asks for it, without script too. A
// refused form keeps what was sent and says at the field what is wrong.
func TestForms(t *testing.T) {
	s := newSite(t)
	v := s.as(s.admin, "en")
	for path, dialog := range map[string]string{"/search/tokens": newToken, "/search/keys": newKeys} {
		open := `<dialog id="` + dialog + `" class="make" aria-labelledby="` + dialog + `-title" open`
		v.Get(path).Lacks(t, path, open)
		v.Get(path).Is(t, path, 200, `href="`+path+`?open=`+dialog+`"`)
		v.Get(path+"?open="+dialog).Is(t, path+" with the dialog", 200, open)
	}
	long := strings.Repeat("n", 501)
	p := v.Post("/search/tokens", "note", long, "group", "team")
	p.Is(t, "a note that is too long", 400, " open data-dialog", `value="`+long+`"`, `value="team"`, `id="note-error"`, `aria-invalid="true"`,
		"500")
	v.Post("/search/keys", "keys", " \n", "group", "team").Is(t, "no key", 400, " open data-dialog", `value="team"`, `id="keys-error"`,
		"The request contains no key.")
	v.Post("/search/keys", "keys", "one-key", "group", "a\x07b").Is(t, "a group with a bell", 400, "one-key", `id="group-error"`)
	if p := v.Post("/search/keys", "keys", "tvly-a-good-key", "group", "team"); p.Status != http.StatusSeeOther {
		t.Errorf("a good key: status %d\n%s", p.Status, p.Body)
	}
	s.as(s.bob, "en").Get("/search/tokens").Lacks(t, "a member", newToken)
}
