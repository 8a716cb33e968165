package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// swapCore runs a core with two folders, one of which is searched.
func swapCore(t *testing.T) *core {
	t.Helper()
	c := localCore(t, "# Two folders, of which one is searched.\n"+localHCL, "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false")
	if err := os.Mkdir(filepath.Join(c.dir, "manual"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.dir, "manual", "restart.md"), []byte("# Manual\n\nHow plugins restart stands in the manual.\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	c.start()
	t.Cleanup(c.stop)
	return c
}

// fillIn puts a text in place of what stands in a field, or chooses an option.
func (b *browser) fillIn(selector, text string) {
	b.t.Helper()
	b.do(chromedp.WaitVisible(chromedp.CSS(selector)))
	if _, err := evaluate[string](b, fmt.Sprintf(`document.querySelector(%q).value = %q`, selector, text)); err != nil {
		b.t.Fatalf("%v, at %s", err, b.where())
	}
}

// TestProviderIsSwappedInTheBrowser: an administrator has search answer from another instance, without an editor. Something wrong is
// shown at its field, and what was typed stays.
func TestProviderIsSwappedInTheBrowser(t *testing.T) {
	t.Parallel()
	for _, script := range []bool{true, false} {
		t.Run(map[bool]string{true: "WithScript", false: "WithoutScript"}[script], func(t *testing.T) {
			t.Parallel()
			c := swapCore(t)
			token := c.token()
			eventually(t, startWithin, "the documents answer", func() bool {
				return strings.Contains(c.search(t, token, http.StatusOK).body, "file:docs/guide.md")
			})
			b := browse(t, c)
			b.setUp(c)
			if !script {
				if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled,
					emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
					t.Fatal(err)
				}
			}
			b.open("/system")
			b.press("a[href='/system/plugins']", "a[href='/system/plugins/use/search/backend']")
			b.press("a[href='/system/plugins/use/search/backend']", "a[href^='/system/plugins/add/search/local']")
			b.press("a[href^='/system/plugins/add/search/local']", "#name")
			b.fillIn("#name", "manual")
			b.fillIn("#v-folders", "no-such-folder")
			b.fillIn("[id='use.search.backend']", "instead")
			b.press("main form .btn.p", "#v-folders-error")
			b.shows("no-such-folder")
			if kept, err := evaluate[string](b, `document.querySelector('#v-folders').value + ' ' + document.querySelector('#name').value`); err != nil || kept != "no-such-folder manual" {
				t.Errorf("the form has %q, %v", kept, err)
			}
			b.fillIn("#v-folders", "manual")
			b.press("main form .btn.p", "pre.diff")
			b.shows("+  backend = search.manual")
			b.press("form[action$='/apply'] .btn.p", ".note.ok")
			b.shows("The change is in use")

			text, err := os.ReadFile(c.config)
			if err != nil {
				t.Fatal(err)
			}
			contains(t, string(text), "# Two folders, of which one is searched.\n", `search "local" "manual" {`, "backend = search.manual")
			contains(t, c.logs(), "configuration reloaded")
			eventually(t, startWithin, "the manual answers", func() bool {
				return strings.Contains(c.search(t, token, http.StatusOK).body, "file:manual/restart.md")
			})

			// Now nobody refers to the former instance, which can be taken out.
			b.open("/system/plugins/instance/search.docs")
			b.press("form[action$='/propose'] .btn.bad", "pre.diff")
			b.press("form[action$='/apply'] .btn.p", ".note.ok")
			if text, err = os.ReadFile(c.config); err != nil || strings.Contains(string(text), `"docs" {`) {
				t.Errorf("the file is\n%s", text)
			}
			c.search(t, token, http.StatusOK)
		})
	}
}

// TestChangeNeedsAPasskey: an API key sees what would change, and what to write by hand. It cannot apply it.
func TestChangeNeedsAPasskey(t *testing.T) {
	t.Parallel()
	c := swapCore(t)
	key := c.cli("user", "create", "-email", "grace@example.com", "-name", "Grace", "-role", "admin")
	b := browse(t, c)
	b.open("/system/sign-in?next=/system/plugins/add/search/local")
	b.do(chromedp.SendKeys(chromedp.CSS("#key"), key))
	b.press("main form[action='/system/sign-in'] .btn", "#name")
	b.fillIn("#name", "manual")
	b.fillIn("#v-folders", "manual")
	b.press("main form .btn.p", "pre.diff")
	b.shows("signed in with a passkey")
	b.shows("patchbay config check")
	path, err := evaluate[string](b, `location.pathname`)
	if err != nil {
		t.Fatal(err)
	}
	a := c.send(t, request{method: http.MethodPost, path: path + "/apply", token: key})
	if a.status != http.StatusForbidden && a.status != http.StatusNotFound {
		t.Errorf("status %d: %s", a.status, a.body)
	}
	if text, err := os.ReadFile(c.config); err != nil || strings.Contains(string(text), `"manual"`) {
		t.Errorf("the file is\n%s", text)
	}
}

// TestKillWhileAChangeIsApplied: the core dies when the new file stands there, loaded or not. The next start uses it.
func TestKillWhileAChangeIsApplied(t *testing.T) {
	t.Parallel()
	c := swapCore(t)
	token := c.token()
	b := browse(t, c)
	b.expect("ERR_")
	b.setUp(c)
	b.open("/system/plugins/add/search/local?for=search.backend")
	b.fillIn("#name", "manual")
	b.fillIn("#v-folders", "manual")
	b.fillIn("[id='use.search.backend']", "instead")
	b.press("main form .btn.p", "pre.diff")
	before, err := os.ReadFile(c.config)
	if err != nil {
		t.Fatal(err)
	}
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		for deadline := time.Now().Add(browserLimit); time.Now().Before(deadline); {
			if now, err := os.ReadFile(c.config); err == nil && string(now) != string(before) {
				break
			}
		}
		c.kill9()
	}()
	b.do(chromedp.Click(chromedp.CSS("form[action$='/apply'] .btn.p")))
	<-killed
	c.start()
	eventually(t, startWithin, "the manual answers", func() bool {
		return strings.Contains(c.search(t, token, http.StatusOK).body, "file:manual/restart.md")
	})
}
