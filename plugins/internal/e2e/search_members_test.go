package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// hostileText must never become markup or run.
const hostileText = `"><script>document.hurt=1</script><img src=x onerror="document.hurt=2">`

// signIn signs in with an API key.
func (b *browser) signIn(key string) {
	b.t.Helper()
	b.open("/system/sign-in")
	b.do(chromedp.SendKeys(chromedp.CSS("#key"), key))
	b.press("main form[action='/system/sign-in'] .btn", ".side")
}

// unhurt fails the test when a text has run, or pointed a link at a script.
func (b *browser) unhurt(what string) {
	b.t.Helper()
	bad, err := evaluate[bool](b, `!!document.hurt || !!document.querySelector("main img, main script, a[href^='javascript:'], a[href^='data:']")`)
	if err != nil || bad {
		b.t.Errorf("%s: a text has become markup, %v", what, err)
	}
}

// TestSearchMembers: a member has pages for the own tokens, and nothing that others write runs in anybody's browser.
func TestSearchMembers(t *testing.T) {
	t.Parallel()
	up := startUpstream(t)
	c := newCore(t, webHCL(up.url, "", "log_bodies = true"), "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false")
	admin := c.cli("user", "create", "-email", "ada@example.com", "-name", "Ada "+hostileText, "-role", "admin")
	member := c.cli("user", "create", "-email", "bob@example.com", "-name", "Bob Ross")
	own := c.cli("token", "create", "-note", hostileText)[3:7]
	foreign := c.cli("token", "create", "-note", "Somebody else's")[3:7]
	key := c.addKeys("key-one")[0]
	db := c.writable(t)
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
	c.start()
	t.Cleanup(c.stop)
	up.script(scripted{Path: "/search", Times: 20, Status: 200, Header: map[string]string{"Content-Type": "application/json"},
		Body: fmt.Sprintf(
			`{"results":[{"title":%q,"url":"javascript:document.hurt=4","content":%q,"score":0.9},{"title":"Data","url":"data:text/html,x","content":"x"}]}`, hostileText, hostileText)})
	b := browse(t, c)
	source := axe(t)
	b.expect("403")
	b.expect("404")

	b.signIn(member)
	b.search(own, hostileText)
	b.unhurt("playground")
	s := showcase{core: c}
	row := s.newest()
	for name, path := range map[string]string{
		"home": "/system", "tokens": "/search/tokens", "token": "/search/tokens/" + own, "requests": "/search/requests",
		"request": fmt.Sprintf("/search/requests/%d", row), "playground": "/search/playground", "guide": "/search/guide",
	} {
		b.walk(hostilePage+"member-"+name, path, source, wide)
		b.unhurt(name)
		if text, err := evaluate[string](b, "document.documentElement.outerHTML"); err != nil || strings.Contains(text, foreign) ||
			strings.Contains(text, key) {
			t.Errorf("%s shows a member what belongs to others, %v", name, err)
		}
	}
	b.as(wide)
	b.open("/search/tokens/" + foreign)
	b.shows("There is no such access token.")
	b.open("/search/keys")
	b.shows("administrator")

	b.open("/system/account")
	b.signOut()
	b.signIn(admin)
	for _, path := range []string{
		"/system", "/search/overview", "/search/tokens", "/search/tokens/" + own, "/search/keys", "/search/keys/" + key, "/search/requests",
		fmt.Sprintf("/search/requests/%d", row), "/search/playground",
	} {
		b.open(path)
		b.do(chromedp.WaitVisible(chromedp.CSS("#main")))
		b.unhurt(path)
	}
}
