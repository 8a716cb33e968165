package console

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
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
func startConsole(t *testing.T) *kit.Core {
	t.Helper()
	return startConsoleWith(t, "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false")
}

// startConsoleWith is startConsole with other settings in the environment.
func startConsoleWith(t *testing.T, env ...string) *kit.Core {
	t.Helper()
	c := kit.NewCore(t, consoleConfig, env...)
	if err := os.Mkdir(filepath.Join(c.Dir, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.Dir, "docs", "start.md"), []byte("# Start\n\nHow to begin with Patchbay.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Start()
	t.Cleanup(c.Stop)
	return c
}

// addPasskey registers one on the account page.
func addPasskey(b *kit.Browser, name string) {
	b.T.Helper()
	b.Press("[data-open=new-passkey]", "#passkey-name")
	b.Do(chromedp.SendKeys(chromedp.CSS("#passkey-name"), name), chromedp.Click(chromedp.CSS("form[data-passkey=register] button")))
	b.Shows(name)
}

// TestConsoleSignIn goes the way of a first administrator: the set-up link, a passkey, out and in again. The last passkey stays,
// and a secret is shown after another look at it.
func TestConsoleSignIn(t *testing.T) {
	t.Parallel()
	c := startConsole(t)
	b := kit.Browse(t, c)
	b.Authenticator(true)
	// The page in place of another one has the status 401.
	b.Expect("401")

	b.Open("/system/jobs")
	b.Shows("Sign in to see this page.")
	link := c.SetupPath()
	b.SetUp(c)
	addPasskey(b, "Laptop")

	b.Open(link)
	b.Shows("already used")
	b.Open("/system/account")
	b.SignOut()
	b.Open("/system/jobs")
	b.Press("form[data-passkey=signin] button", ".side nav")
	b.Shows("Jobs")
	if at, err := kit.Evaluate[string](b, "location.pathname"); err != nil || at != "/system/jobs" {
		t.Errorf("after the sign-in the page is %q, %v", at, err)
	}

	b.Open("/system/account")
	b.Expect("409")
	b.Confirm("#passkeys summary.link.bad", "Laptop", "main .card")
	b.Shows("This is your last passkey")

	b.Open("/system/account")
	b.Press("[data-open=new-key]", "#key-name")
	b.Do(chromedp.SendKeys(chromedp.CSS("#key-name"), "Backup job"))
	b.Press("form[action='/system/account/keys'] .btn.p", ".code pre")
	db := c.Writable(t)
	if _, err := db.Exec("UPDATE sessions SET checked_at = 0"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	b.Open("/system/account")
	b.Press("form[action$='/reveal'] button", ".code pre")
	b.Shows("svc_ak_")
	b.SignOut()
	b.Open("/system/jobs")
	b.Shows("Sign in to see this page.")

	key := c.Run("", "user", "create", "-email", "grace@example.com", "-name", "Grace Hopper")
	if key.Status != 0 {
		t.Fatalf("user create: %s", key.Stderr)
	}
	b.Open("/system/sign-in?next=//evil.example/")
	b.Do(chromedp.SendKeys(chromedp.CSS("#key"), "svc_ak_wrong_wrong_wrong_wrong_wrong_wrong"))
	b.Press("main form[action='/system/sign-in'] .btn", "[role=alert]:not([hidden])")
}

// TestConsoleWithoutVerification: a device that does not ask who uses it is no passkey.
func TestConsoleWithoutVerification(t *testing.T) {
	t.Parallel()
	c := startConsole(t)
	b := kit.Browse(t, c)
	b.Authenticator(false)
	b.SetUp(c)
	b.Press("[data-open=new-passkey]", "#passkey-name")
	b.Do(chromedp.SendKeys(chromedp.CSS("#passkey-name"), "Stick"), chromedp.Click(chromedp.CSS("form[data-passkey=register] button")),
		chromedp.WaitVisible(chromedp.CSS("[data-failure]")))
	b.Open("/system/account")
	b.Shows("No passkey yet")
}
