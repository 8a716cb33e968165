package releases

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/codehost/github/githubtest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// TestReleasesSignIn links an account at the code host in the browser, signs in with it, and is refused by the host and by the core.
func TestReleasesSignIn(t *testing.T) {
	t.Parallel()
	hub := kit.FillHub(t)
	address := testkit.FreeAddress(t)
	public := "http://" + strings.Replace(address, "127.0.0.1", "localhost", 1)
	app := githubtest.OAuthApp{ClientID: "app-of-patchbay", Secret: "secret-of-patchbay", Callback: public + "/releases/sign-in/callback",
		Login: "ada", Token: "ghp_a_token_of_ada_lovelace"}
	hub.SetOAuthApp(app)
	signIn := fmt.Sprintf("\n  sign_in {\n    name = \"GitHub\"\n    client_id = %q\n    client_secret = %q\n  }\n}\n", app.ClientID,
		app.Secret)
	hcl := strings.TrimSuffix(kit.ReleasesHCL(hub, `"acme/engine"`), "}\n") + signIn
	c := kit.NewCore(t, hcl, "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false", "SVC_HTTP_ADDR="+address, "SVC_PUBLIC_URL="+public)
	c.Start()
	t.Cleanup(c.Stop)
	b := kit.Browse(t, c)
	host, err := url.Parse(hub.URL)
	if err != nil {
		t.Fatal(err)
	}
	if err := kit.Shared.Network.Relay(host.Host); err != nil {
		t.Fatal(err)
	}
	source := kit.ReadAxe(t)
	b.SetUp(c)
	b.Expect("401")
	b.Expect(hub.URL + "/login/oauth/authorize?")
	const way = "a[href^='/releases/sign-in']"
	signOut := func() {
		t.Helper()
		kit.RequireValue(b, "the session ends", `fetch("/system/api/auth/session", {method: "DELETE"}).then(r => r.status)`, 204)
		b.Open("/system/sign-in")
	}
	b.Open("/releases/settings")
	b.Press(way, ".toast.ok")
	kit.RequireValue(b, "the account is one to sign in with", `document.querySelectorAll(".account .pill.info").length`, 1)
	b.Walk("releases-linked", "/releases/settings", source, kit.Wide, kit.Narrow)
	b.As(kit.Wide)
	signOut()
	b.Open("/releases/settings")
	b.Walk("releases-sign-in", "/system/sign-in?next=/releases/settings", source, kit.Wide, kit.Narrow)
	b.As(kit.Wide)
	b.Open("/system/sign-in?next=/releases/settings")
	b.Press(way, "form[action$='/settings']")
	kit.RequireValue(b, "the account is one to sign in with", `document.querySelectorAll(".account .pill.info").length`, 1)
	// Somebody whom nobody here knows.
	signOut()
	b.Expect("403")
	hub.Token("ghp_a_token_of_grace_hopper", "grace")
	app.Login, app.Token = "grace", "ghp_a_token_of_grace_hopper"
	hub.SetOAuthApp(app)
	b.Press(way, "h1")
	b.Shows("is not linked to a user here")
	// The host says no, in its own words.
	b.Open("/system/sign-in")
	app.Login = ""
	hub.SetOAuthApp(app)
	b.Press(way, "h1")
	b.Shows("The user has denied your application access.")
	b.Expect("400")
	b.Open("/releases/sign-in/callback?code=x&state=y")
	b.Shows("This sign-in is unknown")
}
