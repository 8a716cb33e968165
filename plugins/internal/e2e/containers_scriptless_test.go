package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/plugins/codehost/github/githubtest"
	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
)

// reloaded opens the page that is open until it shows a text: nothing brings it up to date without a script.
func (b *browser) reloaded(text string) {
	b.t.Helper()
	path, err := evaluate[string](b, "location.pathname + location.search")
	if err != nil {
		b.t.Fatal(err)
	}
	eventually(b.t, browserLimit, "the page shows "+text, func() bool {
		b.open(path)
		shown, err := evaluate[bool](b, fmt.Sprintf(`document.querySelector("main").innerText.includes(%q)`, text))
		return err == nil && shown
	})
}

// TestContainersWithoutScript: a stack is checked, updated with its preview and rolled back, and settings, ignore rules, webhooks and
// channels are changed, by plain forms.
func TestContainersWithoutScript(t *testing.T) {
	t.Parallel()
	bins := dockertest.Compose(t)
	a := startApp(t, bins[len(bins)-1], dockertest.Behaviour{Version: "1.0.0", Healthcheck: true})
	hook, host := newReceiver(t), githubtest.New(t)
	const pat = "planted-personal-access-token"
	host.Token(pat, "ops")
	host.AddRepo(githubtest.Repo{FullName: a.repo})
	c := startCore(t, fmt.Sprintf(`codehost "github" "main" {
  config { base_url = %q }
}
notify "webhook" "hook" {
  config { allow_hosts = [%q] }
}
`, host.URL, hook.host)+containersHCL(bins[len(bins)-1].Path, fmt.Sprintf("  codehost = codehost.main\n  package_hosts = [%q]\n  notify = [notify.hook]\n", a.reg.Host)))
	st := c.stackNamed(t, a.project)
	web := st.service(t, "web")
	page := "/services/" + st.ID + "/" + web.ID
	a.push(t, dockertest.Behaviour{Version: "1.1.0", Healthcheck: true})
	b := browse(t, c)
	b.withoutScript(true)

	b.sendForm(page, "form[action='/stacks/check'] button", "#job")
	b.reloaded("1 with a new version")
	b.open(page)
	b.press("#update", "button[value='apply']")
	b.shows("up -d --no-deps web")
	b.press("button[value='apply']", "#job")
	b.reloaded("Running now")
	b.open(page)
	b.press("#rollback", "form[action$='/rollback'] button")
	b.submit("form[action$='/rollback'] button", "#job")
	b.reloaded("success")
	b.open(page)
	b.press("header a[href$='/logs']", "#log .line")

	b.sendForm(page, "form[action='"+page+"/settings'] .btn.p", ".toast.ok", "#healthTimeoutSeconds", "45")
	b.sendForm(page+"?open=new-ignore", "form[action$='/ignores'] .btn.p", ".toast.ok", "#value", "9.9.9")
	b.sendForm("/settings", "#instance .btn.p", ".toast.ok", "#url", "https://patchbay.example.com/")

	b.open("/notifications")
	b.press("details:has(> #set-webhook) > summary", "#webhook-url")
	b.fillIn("#webhook-url", hook.URL+"/hook")
	b.submit("#set-webhook button[name=on]", ".toast.ok")
	b.sendForm("/notifications", "#ch-webhook form[action$='/test'] button", ".toast.ok")
	b.reloaded("delivered")
	b.sendForm("/notifications", "#events .btn.p", ".toast.ok")
	b.sendForm("/notifications", "#ch-webhook form[action$='/switch'] button", ".toast.ok")

	b.open("/host-packages")
	b.do(chromedp.Click(chromedp.CSS("#hook-settings [name=enabled]")))
	b.fillIn("#callback", "https://patchbay.example.org/api/webhooks/host-packages")
	b.fillIn("#pat", pat)
	b.submit("#hook-settings .btn.p", ".toast.ok")
	b.sendForm("/host-packages?open=new-target", "form[action$='/targets'] button", ".toast.ok", "#input", a.repo)
	b.sendForm("/host-packages", "form[action$='/repos/select'] button", ".toast")
	b.sendForm("/deploy-check", "main header form button", "main")
	b.sendForm("/discovery", "main header form button", "#job")
}
