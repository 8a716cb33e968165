package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

const consoleConfig = `
search "local" "docs" {
  config {
    folders = ["docs"]
  }
}
search "local" "spare" {
  config {
    folders = ["docs"]
  }
}
service "search" {
  base_url = "/search"
  backend  = [search.docs, search.spare]
}
`

// startConsole runs a core that nobody enters without signing in.
func startConsole(t *testing.T) *core {
	t.Helper()
	return startConsoleWith(t, "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false")
}

// startConsoleWith is startConsole with other settings in the environment.
func startConsoleWith(t *testing.T, env ...string) *core {
	t.Helper()
	c := newCore(t, consoleConfig, env...)
	if err := os.Mkdir(filepath.Join(c.dir, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.dir, "docs", "start.md"), []byte("# Start\n\nHow to begin with Patchbay.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.start()
	t.Cleanup(c.stop)
	return c
}

// setUp makes the first administrator by the printed link.
func (b *browser) setUp(c *core) {
	b.t.Helper()
	b.open(c.setupPath())
	b.do(chromedp.SendKeys(chromedp.CSS("#email"), "ada@example.com"), chromedp.SendKeys(chromedp.CSS("#name"), "Ada Lovelace"))
	b.press("main form .btn.p", "#passkeys")
	b.shows("Welcome. Add a passkey now")
}

// addPasskey registers one on the account page.
func (b *browser) addPasskey(name string) {
	b.t.Helper()
	b.press("[data-open=new-passkey]", "#passkey-name")
	b.do(chromedp.SendKeys(chromedp.CSS("#passkey-name"), name), chromedp.Click(chromedp.CSS("form[data-passkey=register] button")))
	b.shows(name)
}

func (b *browser) signOut() {
	b.t.Helper()
	b.press(".side .wide .who button", "input#key")
	b.shows("You are signed out.")
}

// TestConsoleSignIn goes the way of a first administrator: the set-up link, a passkey, out and in again. The last passkey stays,
// and a secret is shown after another look at it.
func TestConsoleSignIn(t *testing.T) {
	t.Parallel()
	c := startConsole(t)
	b := browse(t, c)
	b.authenticator(true)
	// The page in place of another one has the status 401.
	b.expect("401")

	b.open("/system/jobs")
	b.shows("Sign in to see this page.")
	link := c.setupPath()
	b.setUp(c)
	b.addPasskey("Laptop")

	b.open(link)
	b.shows("was used already")
	b.open("/system/account")
	b.signOut()
	b.open("/system/jobs")
	b.press("form[data-passkey=signin] button", ".side nav")
	b.shows("Jobs")
	if at, err := evaluate[string](b, "location.pathname"); err != nil || at != "/system/jobs" {
		t.Errorf("after the sign-in the page is %q, %v", at, err)
	}

	b.open("/system/account")
	b.expect("409")
	b.confirm("#passkeys summary.link.bad", "Laptop", "main .card")
	b.shows("This is your last passkey")

	b.open("/system/account")
	b.press("[data-open=new-key]", "#key-name")
	b.do(chromedp.SendKeys(chromedp.CSS("#key-name"), "Backup job"))
	b.press("form[action='/system/account/keys'] .btn.p", ".code pre")
	db := c.writable(t)
	if _, err := db.Exec("UPDATE sessions SET checked_at = 0"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	b.open("/system/account")
	b.press("form[action$='/reveal'] button", ".code pre")
	b.shows("svc_ak_")
	b.signOut()
	b.open("/system/jobs")
	b.shows("Sign in to see this page.")

	key := c.run("", "user", "create", "-email", "grace@example.com", "-name", "Grace Hopper")
	if key.status != 0 {
		t.Fatalf("user create: %s", key.stderr)
	}
	b.open("/system/sign-in?next=//evil.example/")
	b.do(chromedp.SendKeys(chromedp.CSS("#key"), "svc_ak_wrong_wrong_wrong_wrong_wrong_wrong"))
	b.press("main form[action='/system/sign-in'] .btn", "[role=alert]:not([hidden])")
}

// TestConsoleWithoutVerification: a device that does not ask who uses it is no passkey.
func TestConsoleWithoutVerification(t *testing.T) {
	t.Parallel()
	c := startConsole(t)
	b := browse(t, c)
	b.authenticator(false)
	b.setUp(c)
	b.press("[data-open=new-passkey]", "#passkey-name")
	b.do(chromedp.SendKeys(chromedp.CSS("#passkey-name"), "Stick"), chromedp.Click(chromedp.CSS("form[data-passkey=register] button")),
		chromedp.WaitVisible(chromedp.CSS("[data-failure]")))
	b.open("/system/account")
	b.shows("No passkey yet")
}
