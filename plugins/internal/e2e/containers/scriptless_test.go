package containers

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/plugins/codehost/github/githubtest"
	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// reloadUntilShown opens the page that is open until it shows a text: nothing brings it up to date without a script.
func reloadUntilShown(b *kit.Browser, text string) {
	b.T.Helper()
	path, err := kit.Evaluate[string](b, "location.pathname + location.search")
	if err != nil {
		b.T.Fatal(err)
	}
	kit.Eventually(b.T, kit.BrowserLimit, "the page shows "+text, func() bool {
		b.Open(path)
		shown, err := kit.Evaluate[bool](b, fmt.Sprintf(`document.querySelector("main").innerText.includes(%q)`, text))
		return err == nil && shown
	})
}

// useHooksWithoutScript tracks a repository, has its webhook made, says which of two stays, and gives it up, by plain forms.
func useHooksWithoutScript(b *kit.Browser, host *githubtest.Server, repo string) {
	b.T.Helper()
	b.SendForm("/host-packages", "form[action$='/repos/select'] button", ".toast.ok")
	b.SendForm("/host-packages", "header form[action$='/sync'] button", "#job")
	reloadUntilShown(b, "success")
	host.AddHook(repo, host.Hooks(repo)[0])
	b.SendForm("/host-packages", "[data-row] form[action$='/sync'] button", "#job")
	reloadUntilShown(b, "success")
	b.Open("/host-packages")
	b.Press("a[href*='/host-packages/conflict']", "form[action$='/conflict']")
	b.FillIn("form[action$='/conflict'] .typed input", repo)
	b.Submit("form[action$='/conflict'] .btn", ".toast.ok")
	if n := len(host.Hooks(repo)); n != 1 {
		b.T.Errorf("the repository has %d webhooks", n)
	}
	b.AnswerBelow("/host-packages", "/repos/bulk", ".toast.ok")
	b.AnswerBelow("/host-packages", "/targets/remove", ".toast.ok")
	b.AnswerBelow("/host-packages", "/repos/select", ".toast.ok")
	b.AnswerBelow("/host-packages", "/repos/delete", "#job")
}

// TestContainersWithoutScript: a stack is checked, updated with its preview and rolled back, and settings, ignore rules, webhooks and
// channels are changed, by plain forms.
func TestContainersWithoutScript(t *testing.T) {
	t.Parallel()
	bin := dockertest.NewestCompose(t)
	a := kit.StartApp(t, bin, dockertest.Behaviour{Version: "1.0.0", Healthcheck: true})
	hook, host := kit.NewReceiver(t), githubtest.New(t)
	const pat = "planted-personal-access-token"
	host.Token(pat, "ops")
	host.AddRepo(githubtest.Repo{FullName: a.Repo})
	c := kit.StartCore(t, fmt.Sprintf(`codehost "github" "main" {
  config { base_url = %q }
}
notify "webhook" "hook" {
  config { allow_hosts = [%q] }
}
notify "webpush" "push" {}
`, host.URL, hook.Host)+kit.ContainersHCL(bin.Path, fmt.Sprintf("  codehost = codehost.main\n  package_hosts = [%q]\n  notify = [notify.hook, notify.push]\n", a.Reg.Host)))
	st := c.StackNamed(t, a.Project)
	web := st.Service(t, "web")
	page := "/services/" + st.ID + "/" + web.ID
	a.Push(t, dockertest.Behaviour{Version: "1.1.0", Healthcheck: true})
	b := kit.Browse(t, c)
	b.WithoutScript(true)

	b.SendForm(page, "form[action='/stacks/check'] button", "#job")
	reloadUntilShown(b, "1 with a new version")
	b.Open(page)
	b.Press("#update", "button[value='apply']")
	b.Shows("--no-deps --scale web=1 web")
	b.Press("button[value='apply']", "#job")
	reloadUntilShown(b, "Running now")
	b.Open(page)
	b.Press("#rollback", "form[action$='/rollback'] button")
	b.Submit("form[action$='/rollback'] button", "#job")
	reloadUntilShown(b, "success")
	b.Open(page)
	b.Press("header a[href$='/logs']", "#log .line")
	c.Check(t, web.ID)
	b.SendForm(page, "form[action$='/ignore-version'] button", ".toast.ok")

	b.SendForm(page, "form[action='"+page+"/settings'] .btn.p", ".toast.ok", "#healthTimeoutSeconds", "45")
	b.SendForm(page+"?open=new-ignore", "form[action$='/ignores'] .btn.p", ".toast.ok", "#value", "9.9.9")
	b.SendForm("/settings", "#instance .btn.p", ".toast.ok", "#url", "https://patchbay.example.com/")

	b.Open("/notifications")
	b.Press("details:has(> #set-webhook) > summary", "#webhook-url")
	b.FillIn("#webhook-url", hook.URL+"/hook")
	b.Submit("#set-webhook button[name=on]", ".toast.ok")
	b.SendForm("/notifications", "#ch-webhook form[action$='/test'] button", ".toast.ok")
	reloadUntilShown(b, "delivered")
	b.SendForm("/notifications", "#events .btn.p", ".toast.ok")
	b.SendForm("/notifications", "#ch-webhook form[action$='/switch'] button", ".toast.ok")
	b.Open("/notifications")
	b.Press("details:has(> #set-webPush) > summary", "form[action$='/notifications/keys'] button")
	b.Submit("form[action$='/notifications/keys'] button", ".toast.ok")
	db := c.Writable(t)
	if _, err := db.Exec("INSERT INTO notify_subscriptions (id,endpoint,p256dh,auth,sealed_as,label,created_by,created_at,updated_at) VALUES ('sub_1','https://push.example.invalid/1','','','notify_subscriptions','Chromium','',1,1)"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	const remove = "details.ask:has(form[action$='/subscriptions/remove'])"
	b.Open("/notifications")
	b.Press("details:has(> #set-webPush) > summary", remove+" > summary")
	b.Press(remove+" > summary", remove+" .asked form button")
	b.Submit(remove+" .asked form button", ".toast.ok")

	b.Open("/host-packages")
	b.Do(chromedp.Click(chromedp.CSS("#hook-settings [name=enabled]")))
	b.FillIn("#callback", "https://patchbay.example.org/api/webhooks/host-packages")
	b.FillIn("#pat", pat)
	b.Submit("#hook-settings .btn.p", ".toast.ok")
	b.SendForm("/host-packages?open=new-target", "form[action$='/targets'] button", ".toast.ok", "#input", a.Repo)
	useHooksWithoutScript(b, host, a.Repo)
	b.SendForm("/deploy-check", "main header form button", "main")
	b.SendForm("/discovery", "main header form button", "#job")
}
