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
		"audit": `href="/system/audit"`, "ADA": `href="/system/users#user-`, "docs": `href="/system/plugins/instance/search.docs"`, "invite": `href="/system/users?open=new-user"`, "": `href="/system/jobs"`,
	} {
		admin.get("/system/find?q="+text).says(t, want)
		admin.get("/system/find?part=options&q="+text).says(t, `role="option"`, want)
		p := member.get("/system/find?q=" + text)
		if p.status != http.StatusOK || strings.Contains(p.body, want) {
			t.Errorf("a member finds %s by %q: status %d", want, text, p.status)
		}
	}
	member.get("/system/find?q=account").says(t, `href="/system/account"`)
	if p := admin.get("/system/find?q=" + strings.Repeat("%E4%B8%AD", 200)); p.status != http.StatusOK {
		t.Errorf("a long text: status %d", p.status)
	}
	admin.get("/system/find?q="+"%3Cscript%3Ealert(1)%3C%2Fscript%3E").says(t, "&lt;script&gt;", "Nothing found")
}

// TestNavigationCounts: what waits stands beside its page, for administrators.
func TestNavigationCounts(t *testing.T) {
	s := newSite(t)
	const count = `<span class="count">`
	s.signedIn(s.admin).get("/system/plugins").says(t, count+"2")
	if p := s.signedIn(s.member).get("/system/account"); strings.Contains(p.body, count) {
		t.Error("a member sees counts")
	}
}
