package console_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestFind: administrators find pages, users, instances and actions, members only what they may open.
func TestFind(t *testing.T) {
	s := newSite(t)
	admin, member := s.signedIn(s.admin), s.signedIn(s.member)
	for text, want := range map[string]string{
		"audit": `href="/system/audit"`, "ADA": `href="/system/users#user-`, "docs": `href="/system/plugins/instance/search.docs"`,
		"invite": `href="/system/users?open=new-user"`, "": `href="/system/jobs"`,
	} {
		admin.Get("/system/find?q="+text).Says(t, want)
		admin.Get("/system/find?part=options&q="+text).Says(t, `role="option"`, want)
		p := member.Get("/system/find?q=" + text)
		if p.Status != http.StatusOK || strings.Contains(p.Body, want) {
			t.Errorf("a member finds %s by %q: status %d", want, text, p.Status)
		}
	}
	member.Get("/system/find?q=account").Says(t, `href="/system/account"`)
	if p := admin.Get("/system/find?q=" + strings.Repeat("%E4%B8%AD", 200)); p.Status != http.StatusOK {
		t.Errorf("a long text: status %d", p.Status)
	}
	admin.Get("/system/find?q="+"%3Cscript%3Ealert(1)%3C%2Fscript%3E").Says(t, "&lt;script&gt;", "No results")
}

// TestNavigationCounts: what waits stands beside its page, for administrators.
func TestNavigationCounts(t *testing.T) {
	s := newSite(t)
	const count = `<span class="count">`
	s.signedIn(s.admin).Get("/system/plugins").Says(t, count+"2")
	if p := s.signedIn(s.member).Get("/system/account"); strings.Contains(p.Body, count) {
		t.Error("a member sees counts")
	}
}
