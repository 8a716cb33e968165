package console

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// swapCore runs a core with two folders, one of which is searched.
func swapCore(t *testing.T) *kit.Core {
	t.Helper()
	c := kit.LocalCore(t, "# Two folders, of which one is searched.\n"+kit.LocalHCL, "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false")
	if err := os.Mkdir(filepath.Join(c.Dir, "manual"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.Dir, "manual", "restart.md"), []byte("# Manual\n\nHow plugins restart stands in the manual.\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	c.Start()
	t.Cleanup(c.Stop)
	return c
}

// TestProviderIsSwappedInTheBrowser: an administrator has search answer from another instance, without an editor. Something wrong is
// shown at its field, and what was typed stays.
func TestProviderIsSwappedInTheBrowser(t *testing.T) {
	t.Parallel()
	for _, script := range []bool{true, false} {
		t.Run(map[bool]string{true: "WithScript", false: "WithoutScript"}[script], func(t *testing.T) {
			t.Parallel()
			c := swapCore(t)
			token := c.Token()
			kit.Eventually(t, kit.StartWithin, "the documents answer", func() bool {
				return strings.Contains(c.Search(t, token, http.StatusOK).Body, "file:docs/guide.md")
			})
			b := kit.Browse(t, c)
			b.SetUp(c)
			if !script {
				if _, err := chromedp.Call(b.Ctx, emulation.SetScriptExecutionDisabled,
					emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
					t.Fatal(err)
				}
			}
			b.Open("/system")
			b.Press("a[href='/system/plugins']", "a[href='/system/plugins/use/search/backend']")
			b.Press("a[href='/system/plugins/use/search/backend']", "a[href^='/system/plugins/add/search/local']")
			b.Press("a[href^='/system/plugins/add/search/local']", "#name")
			b.FillIn("#name", "manual")
			b.FillIn("#v-folders", "no-such-folder")
			b.FillIn("[id='use.search.backend']", "instead")
			b.Press("main form .btn.p", "#v-folders-error")
			b.Shows("no-such-folder")
			if kept, err := kit.Evaluate[string](b, `document.querySelector('#v-folders').value + ' ' + document.querySelector('#name').value`); err != nil || kept != "no-such-folder manual" {
				t.Errorf("the form has %q, %v", kept, err)
			}
			b.FillIn("#v-folders", "manual")
			b.Press("main form .btn.p", "pre.diff")
			b.Shows("+  backend = search.manual")
			b.Press("form[action$='/apply'] .btn.p", ".note.ok")
			b.Shows("The change is in use")

			text, err := os.ReadFile(c.Config)
			if err != nil {
				t.Fatal(err)
			}
			kit.Contains(t, string(text), "# Two folders, of which one is searched.\n", `search "local" "manual" {`, "backend = search.manual")
			kit.Contains(t, c.Logs(), "configuration reloaded")
			kit.Eventually(t, kit.StartWithin, "the manual answers", func() bool {
				return strings.Contains(c.Search(t, token, http.StatusOK).Body, "file:manual/restart.md")
			})

			// Now nobody refers to the former instance, which can be taken out.
			b.Open("/system/plugins/instance/search.docs")
			b.Press("form[action$='/propose'] .btn.bad", "pre.diff")
			b.Press("form[action$='/apply'] .btn.p", ".note.ok")
			if text, err = os.ReadFile(c.Config); err != nil || strings.Contains(string(text), `"docs" {`) {
				t.Errorf("the file is\n%s", text)
			}
			c.Search(t, token, http.StatusOK)
		})
	}
}

// TestChangeNeedsAPasskey: an API key sees what would change, and what to write by hand. It cannot apply it.
func TestChangeNeedsAPasskey(t *testing.T) {
	t.Parallel()
	c := swapCore(t)
	key := c.CLI("user", "create", "-email", "grace@example.com", "-name", "Grace", "-role", "admin")
	b := kit.Browse(t, c)
	b.Open("/system/sign-in?next=/system/plugins/add/search/local")
	b.Do(chromedp.SendKeys(chromedp.CSS("#key"), key))
	b.Press("main form[action='/system/sign-in'] .btn", "#name")
	b.FillIn("#name", "manual")
	b.FillIn("#v-folders", "manual")
	b.Press("main form .btn.p", "pre.diff")
	b.Shows("signed in with a passkey")
	b.Shows("patchbay config check")
	path, err := kit.Evaluate[string](b, `location.pathname`)
	if err != nil {
		t.Fatal(err)
	}
	a := c.Send(t, kit.Request{Method: http.MethodPost, Path: path + "/apply", Token: key})
	if a.Status != http.StatusForbidden && a.Status != http.StatusNotFound {
		t.Errorf("status %d: %s", a.Status, a.Body)
	}
	if text, err := os.ReadFile(c.Config); err != nil || strings.Contains(string(text), `"manual"`) {
		t.Errorf("the file is\n%s", text)
	}
}

// TestKillWhileAChangeIsApplied: the core dies when the new file stands there, loaded or not. The next start uses it.
func TestKillWhileAChangeIsApplied(t *testing.T) {
	t.Parallel()
	c := swapCore(t)
	token := c.Token()
	b := kit.Browse(t, c)
	b.Expect("ERR_")
	b.SetUp(c)
	b.Open("/system/plugins/add/search/local?for=search.backend")
	b.FillIn("#name", "manual")
	b.FillIn("#v-folders", "manual")
	b.FillIn("[id='use.search.backend']", "instead")
	b.Press("main form .btn.p", "pre.diff")
	before, err := os.ReadFile(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		for deadline := time.Now().Add(kit.BrowserLimit); time.Now().Before(deadline); {
			if now, err := os.ReadFile(c.Config); err == nil && string(now) != string(before) {
				break
			}
		}
		c.Kill()
	}()
	b.Do(chromedp.Click(chromedp.CSS("form[action$='/apply'] .btn.p")))
	<-killed
	c.Start()
	kit.Eventually(t, kit.StartWithin, "the manual answers", func() bool {
		return strings.Contains(c.Search(t, token, http.StatusOK).Body, "file:manual/restart.md")
	})
}
