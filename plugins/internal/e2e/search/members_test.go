package search

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// hostileText must never become markup or run.
const hostileText = `"><script>document.hurt=1</script><img src=x onerror="document.hurt=2">`

// requireUnhurt fails the test when a text has run, or pointed a link at a script.
func requireUnhurt(b *kit.Browser, what string) {
	b.T.Helper()
	bad, err := kit.Evaluate[bool](b, `!!document.hurt || !!document.querySelector("main img, main script, a[href^='javascript:'], a[href^='data:']")`)
	if err != nil || bad {
		b.T.Errorf("%s: a text has become markup, %v", what, err)
	}
}

// TestSearchMembers: a member has pages for the own tokens, and nothing that others write runs in anybody's browser.
func TestSearchMembers(t *testing.T) {
	t.Parallel()
	up := kit.StartUpstream(t)
	c := kit.NewCore(t, kit.WebHCL(up.URL, "", "log_bodies = true"), "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false")
	admin := c.CLI("user", "create", "-email", "ada@example.com", "-name", "Ada "+hostileText, "-role", "admin")
	member := c.CLI("user", "create", "-email", "bob@example.com", "-name", "Bob Ross")
	own := c.CLI("token", "create", "-note", hostileText)[3:7]
	foreign := c.CLI("token", "create", "-note", "Somebody else's")[3:7]
	key := c.AddKeys("key-one")[0]
	db := c.Writable(t)
	for _, query := range []string{
		"UPDATE search_tokens SET owner_id = (SELECT id FROM users WHERE email = 'bob@example.com') WHERE id = '" + own + "'",
		"UPDATE search_keys SET reason = '<script>document.hurt=3</script>', group_name = '<img src=x onerror=alert(1)>'",
	} {
		if _, err := db.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	c.Start()
	t.Cleanup(c.Stop)
	up.Script(kit.Scripted{Path: "/search", Times: 20, Status: 200, Header: map[string]string{"Content-Type": "application/json"},
		Body: fmt.Sprintf(
			`{"results":[{"title":%q,"url":"javascript:document.hurt=4","content":%q,"score":0.9},{"title":"Data","url":"data:text/html,x","content":"x"}]}`, hostileText, hostileText)})
	b := kit.Browse(t, c)
	source := kit.ReadAxe(t)
	b.Expect("403")
	b.Expect("404")

	b.SignIn(member)
	searchPlayground(b, own, hostileText)
	requireUnhurt(b, "playground")
	s := showcase{Core: c}
	row := s.newest()
	for name, path := range map[string]string{
		"home": "/system", "tokens": "/search/tokens", "token": "/search/tokens/" + own, "requests": "/search/requests",
		"request": fmt.Sprintf("/search/requests/%d", row), "playground": "/search/playground", "guide": "/search/guide",
	} {
		b.Walk(kit.HostilePage+"member-"+name, path, source, kit.Wide)
		requireUnhurt(b, name)
		if text, err := kit.Evaluate[string](b, "document.documentElement.outerHTML"); err != nil || strings.Contains(text, foreign) ||
			strings.Contains(text, key) {
			t.Errorf("%s shows a member what belongs to others, %v", name, err)
		}
	}
	b.As(kit.Wide)
	b.Open("/search/tokens/" + foreign)
	b.Shows("There is no such access token.")
	b.Open("/search/keys")
	b.Shows("administrator")

	b.Open("/system/account")
	b.SignOut()
	b.SignIn(admin)
	for _, path := range []string{
		"/system", "/search/overview", "/search/tokens", "/search/tokens/" + own, "/search/keys", "/search/keys/" + key, "/search/requests",
		fmt.Sprintf("/search/requests/%d", row), "/search/playground",
	} {
		b.Open(path)
		b.Do(chromedp.WaitVisible(chromedp.CSS("#main")))
		requireUnhurt(b, path)
	}
}
