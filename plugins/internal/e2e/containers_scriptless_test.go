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

// useHooksWithoutScript tracks a repository, has its webhook made, says which of two stays, and gives it up, by plain forms.
func (b *browser) useHooksWithoutScript(host *githubtest.Server, repo string) {
	b.t.Helper()
	b.sendForm("/host-packages", "form[action$='/repos/select'] button", ".toast.ok")
	b.sendForm("/host-packages", "header form[action$='/sync'] button", "#job")
	b.reloaded("success")
	host.AddHook(repo, host.Hooks(repo)[0])
	b.sendForm("/host-packages", "[data-row] form[action$='/sync'] button", "#job")
	b.reloaded("success")
	b.open("/host-packages")
	b.press("a[href*='/host-packages/conflict']", "form[action$='/conflict']")
	b.fillIn("form[action$='/conflict'] .typed input", repo)
	b.submit("form[action$='/conflict'] .btn", ".toast.ok")
	if n := len(host.Hooks(repo)); n != 1 {
		b.t.Errorf("the repository has %d webhooks", n)
	}
	b.answerBelow("/host-packages", "/repos/bulk", ".toast.ok")
	b.answerBelow("/host-packages", "/targets/remove", ".toast.ok")
	b.answerBelow("/host-packages", "/repos/select", ".toast.ok")
	b.answerBelow("/host-packages", "/repos/delete", "#job")
}

// TestContainersWithoutScript: a stack is checked, updated with its preview and rolled back, and settings, ignore rules, webhooks and
// channels are changed, by plain forms.
func TestContainersWithoutScript(t *testing.T) {
	t.Parallel()
	bin := dockertest.NewestCompose(t)
	a := startApp(t, bin, dockertest.Behaviour{Version: "1.0.0", Healthcheck: true})
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
notify "webpush" "push" {}
`, host.URL, hook.host)+containersHCL(bin.Path, fmt.Sprintf("  codehost = codehost.main\n  package_hosts = [%q]\n  notify = [notify.hook, notify.push]\n", a.reg.Host)))
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
	b.shows("--no-deps --scale web=1 web")
	b.press("button[value='apply']", "#job")
	b.reloaded("Running now")
	b.open(page)
	b.press("#rollback", "form[action$='/rollback'] button")
	b.submit("form[action$='/rollback'] button", "#job")
	b.reloaded("success")
	b.open(page)
	b.press("header a[href$='/logs']", "#log .line")
	c.check(t, web.ID)
	b.sendForm(page, "form[action$='/ignore-version'] button", ".toast.ok")

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
	b.open("/notifications")
	b.press("details:has(> #set-webPush) > summary", "form[action$='/notifications/keys'] button")
	b.submit("form[action$='/notifications/keys'] button", ".toast.ok")
	db := c.writable(t)
	if _, err := db.Exec("INSERT INTO notify_subscriptions (id,endpoint,p256dh,auth,sealed_as,label,created_by,created_at,updated_at) VALUES ('sub_1','https://push.example.invalid/1','','','notify_subscriptions','Chromium','',1,1)"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	const remove = "details.ask:has(form[action$='/subscriptions/remove'])"
	b.open("/notifications")
	b.press("details:has(> #set-webPush) > summary", remove+" > summary")
	b.press(remove+" > summary", remove+" .asked form button")
	b.submit(remove+" .asked form button", ".toast.ok")

	b.open("/host-packages")
	b.do(chromedp.Click(chromedp.CSS("#hook-settings [name=enabled]")))
	b.fillIn("#callback", "https://patchbay.example.org/api/webhooks/host-packages")
	b.fillIn("#pat", pat)
	b.submit("#hook-settings .btn.p", ".toast.ok")
	b.sendForm("/host-packages?open=new-target", "form[action$='/targets'] button", ".toast.ok", "#input", a.repo)
	b.useHooksWithoutScript(host, a.repo)
	b.sendForm("/deploy-check", "main header form button", "main")
	b.sendForm("/discovery", "main header form button", "#job")
}
