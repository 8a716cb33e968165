package console

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// TestFormsSurviveTheEndOfASession: what was typed into a form is there again after the sign-in, ready to be sent.
func TestFormsSurviveTheEndOfASession(t *testing.T) {
	t.Parallel()
	c := kit.LocalCore(t, kit.LocalHCL)
	c.Env = append(c.Env, "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false")
	key := c.CLI("user", "create", "-email", "ada@example.com", "-name", "Ada Lovelace", "-role", "admin")
	c.Start()
	t.Cleanup(c.Stop)
	b := kit.Browse(t, c)
	b.Expect("401")
	b.SignIn(key)
	b.Open("/system/users")
	b.Press("[data-open=new-user]", "#email")
	b.Do(chromedp.SendKeys(chromedp.CSS("#email"), "grace@example.com"), chromedp.SendKeys(chromedp.CSS("#name"), "Grace Hopper"))
	db := c.Writable(t)
	if _, err := db.Exec("DELETE FROM sessions"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	b.Press("#new-user form .btn.p", "input#key")
	b.Do(chromedp.SendKeys(chromedp.CSS("#key"), key))
	b.Press("main form[action='/system/sign-in'] .btn", "#new-user[open]")
	kit.RequireValue(b, "the text is back", `document.getElementById("email").value + " " + document.getElementById("name").value`,
		"grace@example.com Grace Hopper")
	b.Shows("What you had typed is back")
}
