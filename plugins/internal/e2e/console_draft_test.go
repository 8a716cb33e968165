package e2e

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// TestFormsSurviveTheEndOfASession: what was typed into a form is there again after the sign-in, ready to be sent.
func TestFormsSurviveTheEndOfASession(t *testing.T) {
	t.Parallel()
	c := localCore(t, localHCL)
	c.env = append(c.env, "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false")
	key := c.cli("user", "create", "-email", "ada@example.com", "-name", "Ada Lovelace", "-role", "admin")
	c.start()
	t.Cleanup(c.stop)
	b := browse(t, c)
	b.expect("401")
	b.signIn(key)
	b.open("/system/users")
	b.press("[data-open=new-user]", "#email")
	b.do(chromedp.SendKeys(chromedp.CSS("#email"), "grace@example.com"), chromedp.SendKeys(chromedp.CSS("#name"), "Grace Hopper"))
	db := c.writable(t)
	if _, err := db.Exec("DELETE FROM sessions"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	b.press("#new-user form .btn.p", "input#key")
	b.do(chromedp.SendKeys(chromedp.CSS("#key"), key))
	b.press("main form[action='/system/sign-in'] .btn", "#new-user[open]")
	evaluated(b, "the text is back", `document.getElementById("email").value + " " + document.getElementById("name").value`,
		"grace@example.com Grace Hopper")
	b.shows("What you had typed is back")
}
