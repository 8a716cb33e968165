package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// submit presses a button, and waits for what follows on the page that answers: the page before may show the same.
func (b *browser) submit(button, then string) {
	b.t.Helper()
	b.do(chromedp.WaitVisible(chromedp.CSS(button)))
	b.mark()
	b.pressUntil(button, then, "window.untouched === undefined")
}

// sendForm opens a page, fills fields in, pairs of a selector and a text, sends a form by its button and waits for what follows.
func (b *browser) sendForm(path, button, then string, fields ...string) {
	b.t.Helper()
	b.open(path)
	for i := 0; i+1 < len(fields); i += 2 {
		b.fillIn(fields[i], fields[i+1])
	}
	b.submit(button, then)
}

// answerBelow opens the question below a button, without a script, says yes and waits for what follows.
func (b *browser) answerBelow(path, action, then string) {
	b.t.Helper()
	b.open(path)
	details := fmt.Sprintf("details.ask:has(form[action$='%s'])", action)
	b.press(details+" > summary", details+" .asked form button")
	b.submit(details+" .asked form button", then)
}

// filterList sends the filter of a list, and waits for the rows of the answer.
func (b *browser) filterList(path string) {
	b.t.Helper()
	b.sendForm(path, ".filters button", "[data-row]")
	evaluated(b, "the address has the filter", `location.search !== ""`, true)
}

// TestSearchWithoutScript: tokens, keys, users and API keys are made and changed by plain forms, and everything is read.
func TestSearchWithoutScript(t *testing.T) {
	t.Parallel()
	c := startConsole(t)
	b := browse(t, c)
	b.setUp(c)
	b.withoutScript(true)

	b.sendForm("/search/tokens?open=new-token", "form[action='/search/tokens'] .btn.p", ".code pre", "#note", "Help centre")
	b.open("/search/tokens")
	b.press("[data-row] a", "#settings")
	token, err := evaluate[string](b, "location.pathname")
	if err != nil {
		t.Fatal(err)
	}
	b.sendForm(token, "#settings .btn.p", ".toast.ok", "#f-note", "Night shift", "#f-group", "people")
	b.shows("Night shift")
	b.sendForm(token, "form[action$='/disable'] button", "form[action$='/enable'] button")
	b.press("form[action$='/enable'] button", "form[action$='/disable'] button")
	b.answerBelow(token, "/rotate", ".code pre")
	b.sendForm(token, "form[action$='/reveal'] button", ".code pre")

	b.sendForm("/search/keys?open=new-keys", "form[action='/search/keys'] .btn.p", ".toast.ok", "#keys", "upstream-key-one\nupstream-key-two",
		"#group", "main")
	b.open("/search/keys")
	b.press("[data-row] a", "form[action$='/disable'] button, details.ask:has(form[action$='/disable'])")
	key, err := evaluate[string](b, "location.pathname")
	if err != nil {
		t.Fatal(err)
	}
	b.sendForm(key, "form[action$='/disable'] button", ".toast.ok")
	b.shows("disabled")

	b.sendForm("/search/playground?operation=search&token="+strings.TrimPrefix(token, "/search/tokens/"),
		"main form[action='/search/playground'] .btn.p", ".hits", "#in-query", "how to begin")
	b.sendForm("/search/guide", "form[action$='/guide/test'] button", "main .note")
	b.filterList("/search/requests")
	b.open("/search/requests")
	b.press("[data-row] a", "dl.facts")
	b.open("/search/overview")
	b.shows("Requests")

	b.sendForm("/system/users?open=new-user", "form[action='/system/users'] .btn.p", ".code pre", "#email", "grace@example.com", "#name",
		"Grace Hopper")
	b.open("/system/users")
	const grace = "tr:has(form[action$='/link']):nth-child(2)"
	b.press(grace+" form[action$='/link'] button", ".code pre")
	b.sendForm("/system/account?open=new-key", "form[action='/system/account/keys'] .btn.p", ".code pre", "#key-name", "Backup job")
	b.filterList("/system/audit")
	b.open("/system/plugins/instance/search.docs")
	b.press("form[action$='/check'] button", ".toast.ok")
}

// TestConsoleWithoutScript: whoever starts a core looks around, becomes its administrator, renames and revokes a passkey, signs out and
// in again by plain forms. Only a new passkey takes a script.
func TestConsoleWithoutScript(t *testing.T) {
	t.Parallel()
	c := startConsoleWith(t, "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=")
	b := browse(t, c)
	b.withoutScript(true)
	b.open(c.setupPath())
	b.submit("[formaction$='/look-around']", ".side nav")
	b.open("/system/account")
	b.submit("form[action$='/first-administrator'] button", "#email")
	b.fillIn("#email", "ada@example.com")
	b.fillIn("#name", "Ada Lovelace")
	b.submit("main form .btn.p", "#passkeys")
	b.sendForm("/system/account?open=new-key", "form[action='/system/account/keys'] .btn.p", ".code pre", "#key-name", "Backup job")
	key, err := evaluate[string](b, `document.querySelector(".code pre").textContent.trim()`)
	if err != nil {
		t.Fatal(err)
	}

	b.withoutScript(false)
	b.authenticator(true)
	b.open("/system/account")
	b.addPasskey("Laptop")
	b.withoutScript(true)
	b.open("/system/account")
	b.press("#passkeys [data-row] details:not(.ask) > summary", "form[action$='/rename'] .btn")
	b.fillIn("form[action$='/rename'] input", "Office")
	b.submit("form[action$='/rename'] .btn", ".toast.ok")
	b.shows("Office")
	b.open("/system/account")
	const revoke = "#passkeys details.ask:has(form[action*='/passkeys/'][action$='/revoke'])"
	b.press(revoke+" > summary", revoke+" .asked form button")
	b.fillIn(revoke+" .asked form input:not([type=hidden])", "Office")
	b.expect("409")
	b.submit(revoke+" .asked form button", "main .card")
	b.shows("This is your last passkey")

	b.open("/system")
	b.submit(".side .wide .who button", "input#key")
	b.fillIn("#key", key)
	b.submit("form[action='/system/sign-in'] button", ".side nav")
	b.shows("Ada Lovelace")
}
