package e2e

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/codehost/github/githubtest"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// TestReleasesSignIn links an account at the code host in the browser, signs in with it, and is refused by the host and by the core.
func TestReleasesSignIn(t *testing.T) {
	t.Parallel()
	hub := fillHub(t)
	address := testkit.FreeAddress(t)
	public := "http://" + strings.Replace(address, "127.0.0.1", "localhost", 1)
	app := githubtest.OAuthApp{ClientID: "app-of-patchbay", Secret: "secret-of-patchbay", Callback: public + "/releases/sign-in/callback",
		Login: "ada", Token: "ghp_a_token_of_ada_lovelace"}
	hub.SetOAuthApp(app)
	signIn := fmt.Sprintf("\n  sign_in {\n    name = \"GitHub\"\n    client_id = %q\n    client_secret = %q\n  }\n}\n", app.ClientID,
		app.Secret)
	hcl := strings.TrimSuffix(releasesHCL(hub, `"acme/engine"`), "}\n") + signIn
	c := newCore(t, hcl, "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false", "SVC_HTTP_ADDR="+address, "SVC_PUBLIC_URL="+public)
	c.start()
	t.Cleanup(c.stop)
	b := browse(t, c)
	host, err := url.Parse(hub.URL)
	if err != nil {
		t.Fatal(err)
	}
	if err := shared.network.relay(host.Host); err != nil {
		t.Fatal(err)
	}
	source := axe(t)
	b.setUp(c)
	b.expect("401")
	b.expect(hub.URL + "/login/oauth/authorize?")
	const way = "a[href^='/releases/sign-in']"
	signOut := func() {
		t.Helper()
		evaluated(b, "the session ends", `fetch("/system/api/auth/session", {method: "DELETE"}).then(r => r.status)`, 204)
		b.open("/system/sign-in")
	}
	b.open("/releases/settings")
	b.press(way, ".toast.ok")
	evaluated(b, "the account is one to sign in with", `document.querySelectorAll(".account .pill.info").length`, 1)
	b.walk("releases-linked", "/releases/settings", source, wide, narrow)
	b.as(wide)
	signOut()
	b.open("/releases/settings")
	b.walk("releases-sign-in", "/system/sign-in?next=/releases/settings", source, wide, narrow)
	b.as(wide)
	b.open("/system/sign-in?next=/releases/settings")
	b.press(way, "form[action$='/settings']")
	evaluated(b, "the account is one to sign in with", `document.querySelectorAll(".account .pill.info").length`, 1)
	// Somebody whom nobody here knows.
	signOut()
	b.expect("403")
	hub.Token("ghp_a_token_of_grace_hopper", "grace")
	app.Login, app.Token = "grace", "ghp_a_token_of_grace_hopper"
	hub.SetOAuthApp(app)
	b.press(way, "h1")
	b.shows("is linked to no user here")
	// The host says no, in its own words.
	b.open("/system/sign-in")
	app.Login = ""
	hub.SetOAuthApp(app)
	b.press(way, "h1")
	b.shows("The user has denied your application access.")
	b.expect("400")
	b.open("/releases/sign-in/callback?code=x&state=y")
	b.shows("This sign-in is unknown")
}
