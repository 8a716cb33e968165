package console

import (
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// filterList sends the filter of a list, and waits for the rows of the answer.
func filterList(b *kit.Browser, path string) {
	b.T.Helper()
	b.SendForm(path, ".filters button", "[data-row]")
	kit.RequireValue(b, "the address has the filter", `location.search !== ""`, true)
}

// TestSearchWithoutScript: tokens, keys, users and API keys are made and changed by plain forms, and everything is read.
func TestSearchWithoutScript(t *testing.T) {
	t.Parallel()
	c := startConsole(t)
	b := kit.Browse(t, c)
	b.SetUp(c)
	b.WithoutScript(true)

	b.SendForm("/search/tokens?open=new-token", "form[action='/search/tokens'] .btn.p", ".code pre", "#note", "Help centre")
	b.Open("/search/tokens")
	b.Press("[data-row] a", "#settings")
	token, err := kit.Evaluate[string](b, "location.pathname")
	if err != nil {
		t.Fatal(err)
	}
	b.SendForm(token, "#settings .btn.p", ".toast.ok", "#f-note", "Night shift", "#f-group", "people")
	b.Shows("Night shift")
	b.SendForm(token, "form[action$='/disable'] button", "form[action$='/enable'] button")
	b.Press("form[action$='/enable'] button", "form[action$='/disable'] button")
	b.AnswerBelow(token, "/rotate", ".code pre")
	b.SendForm(token, "form[action$='/reveal'] button", ".code pre")

	b.SendForm("/search/keys?open=new-keys", "form[action='/search/keys'] .btn.p", ".toast.ok", "#keys", "upstream-key-one\nupstream-key-two",
		"#group", "main")
	b.Open("/search/keys")
	b.Press("[data-row] a", "form[action$='/disable'] button, details.ask:has(form[action$='/disable'])")
	key, err := kit.Evaluate[string](b, "location.pathname")
	if err != nil {
		t.Fatal(err)
	}
	b.SendForm(key, "form[action$='/disable'] button", ".toast.ok")
	b.Shows("disabled")

	b.SendForm("/search/playground?operation=search&token="+strings.TrimPrefix(token, "/search/tokens/"),
		"main form[action='/search/playground'] .btn.p", ".hits", "#in-query", "how to begin")
	b.SendForm("/search/guide", "form[action$='/guide/test'] button", "main .note")
	filterList(b, "/search/requests")
	b.Open("/search/requests")
	b.Press("[data-row] a", "dl.facts")
	b.Open("/search/overview")
	b.Shows("Requests")

	b.SendForm("/system/users?open=new-user", "form[action='/system/users'] .btn.p", ".code pre", "#email", "grace@example.com", "#name",
		"Grace Hopper")
	b.Open("/system/users")
	const grace = "tr:has(form[action$='/link']):nth-child(2)"
	b.Press(grace+" form[action$='/link'] button", ".code pre")
	b.SendForm("/system/account?open=new-key", "form[action='/system/account/keys'] .btn.p", ".code pre", "#key-name", "Backup job")
	filterList(b, "/system/audit")
	b.Open("/system/plugins/instance/search.docs")
	b.Press("form[action$='/check'] button", ".toast.ok")
}

// TestConsoleWithoutScript: whoever starts a core looks around, becomes its administrator, renames and revokes a passkey, signs out and
// in again by plain forms. Only a new passkey takes a script.
func TestConsoleWithoutScript(t *testing.T) {
	t.Parallel()
	c := startConsoleWith(t, "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=")
	b := kit.Browse(t, c)
	b.WithoutScript(true)
	b.Open(c.SetupPath())
	b.Submit("[formaction$='/look-around']", ".side nav")
	b.Open("/system/account")
	b.Submit("form[action$='/first-administrator'] button", "#email")
	b.FillIn("#email", "ada@example.com")
	b.FillIn("#name", "Ada Lovelace")
	b.Submit("main form .btn.p", "#passkeys")
	b.SendForm("/system/account?open=new-key", "form[action='/system/account/keys'] .btn.p", ".code pre", "#key-name", "Backup job")
	key, err := kit.Evaluate[string](b, `document.querySelector(".code pre").textContent.trim()`)
	if err != nil {
		t.Fatal(err)
	}

	b.WithoutScript(false)
	b.Authenticator(true)
	b.Open("/system/account")
	addPasskey(b, "Laptop")
	b.WithoutScript(true)
	b.Open("/system/account")
	b.Press("#passkeys [data-row] details:not(.ask) > summary", "form[action$='/rename'] .btn")
	b.FillIn("form[action$='/rename'] input", "Office")
	b.Submit("form[action$='/rename'] .btn", ".toast.ok")
	b.Shows("Office")
	b.Open("/system/account")
	const revoke = "#passkeys details.ask:has(form[action*='/passkeys/'][action$='/revoke'])"
	b.Press(revoke+" > summary", revoke+" .asked form button")
	b.FillIn(revoke+" .asked form input:not([type=hidden])", "Office")
	b.Expect("409")
	b.Submit(revoke+" .asked form button", "main .card")
	b.Shows("This is your last passkey")

	b.Open("/system")
	b.Submit(".side .wide .who button", "input#key")
	b.FillIn("#key", key)
	b.Submit("form[action='/system/sign-in'] button", ".side nav")
	b.Shows("Ada Lovelace")
}
