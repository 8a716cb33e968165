package e2e

import (
	"fmt"
	"net/http"
	"path"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/plugins/codehost/github/githubtest"
	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
)

// slowEnough is how long a new container takes to become healthy, so that its progress can be watched.
const slowEnough = 4 * time.Second

// mark leaves a sign in the page that a reload would wipe out, and marked tells whether it is still there.
func (b *browser) mark() {
	b.t.Helper()
	if _, err := evaluate[bool](b, `window.untouched = true`); err != nil {
		b.t.Fatal(err)
	}
}

func (b *browser) marked(what string) {
	b.t.Helper()
	if is, err := evaluate[bool](b, `window.untouched === true`); err != nil || !is {
		b.t.Errorf("%s: the page was loaded again, %v", what, err)
	}
}

// followed waits on the page of a job for its end, which must show without a reload, and for words on it.
func (b *browser) followed(what, status string, words ...string) {
	b.t.Helper()
	b.do(chromedp.WaitVisible(chromedp.CSS("#job")), chromedp.WaitReady(chromedp.CSS("html.js")))
	b.mark()
	b.do(chromedp.WaitVisible(chromedp.CSS("#job progress")), chromedp.WaitVisible(chromedp.CSS("#log .line")))
	b.picture("containers-walk-" + what)
	for _, w := range append([]string{status}, words...) {
		b.shows(w)
	}
	b.marked(what)
}

// TestContainersWalk walks through an update, one that is rolled back by itself, and a rollback by hand, as a person does.
func TestContainersWalk(t *testing.T) {
	t.Parallel()
	bin := dockertest.NewestCompose(t)
	a := startApp(t, bin, dockertest.Behaviour{Version: "1.0.0", Healthcheck: true})
	c := startCore(t, containersHCL(bin.Path, ""))
	b := browse(t, c)
	b.open("/stacks")
	b.shows(a.project)
	st := c.stackNamed(t, a.project)
	web := st.service(t, "web")
	page := "/services/" + st.ID + "/" + web.ID

	second := a.push(t, dockertest.Behaviour{Version: "1.1.0", Healthcheck: true, SlowStart: slowEnough, StartPeriod: slowEnough,
		PadBytes: 1 << 20})
	b.open(page)
	b.press("form[action='/stacks/check'] button", "#job")
	b.shows("1 with a new version")
	b.press("main table a.btn", "button[value='apply']")
	b.shows(second)
	b.shows("--no-deps --scale web=1 web")
	b.press("button[value='dry-run']", "#job")
	b.shows("nothing was changed")
	b.press("main .actions a.btn.p", "button[value='apply']")
	b.press("button[value='apply']", "#job")
	b.followed("update", "success", "Running now")
	if _, _, digests := running(t, a.dir, "web"); !hasDigest(digests, second) {
		t.Errorf("runs %v, want %s", digests, second)
	}

	crash := a.push(t, dockertest.Behaviour{Version: "1.2.0", Crash: true})
	web = c.check(t, web.ID)
	if web.Candidate == nil || web.Candidate.Digest != crash {
		t.Fatalf("candidate %+v, want %s", web.Candidate, crash)
	}
	b.open(page)
	b.press("#update", "button[value='apply']")
	b.press("button[value='apply']", "#job")
	b.followed("rolled-back", "rolled back", "The new container did not become healthy", "The former image runs again")
	if _, _, digests := running(t, a.dir, "web"); !hasDigest(digests, second) {
		t.Errorf("after the rollback runs %v, want %s", digests, second)
	}

	b.open(page)
	b.press("#rollback", "form[action$='/rollback'] button")
	b.press("form[action$='/rollback'] button", "#job")
	b.followed("rollback", "success")
	if _, _, digests := running(t, a.dir, "web"); !hasDigest(digests, st.service(t, "web").Image.Digest) {
		t.Errorf("after the rollback by hand runs %v, want %s", digests, st.service(t, "web").Image.Digest)
	}
	b.open(page)
	b.confirm("dl.runs summary.btn", "", "#job")
	b.shows("success")
	b.watchLog(page, dockertest.FindContainer(t, a.dir, "web"))
}

// watchLog opens the log of a service, which goes on when its container is restarted.
func (b *browser) watchLog(page, container string) {
	b.t.Helper()
	const lines = `document.querySelectorAll("#log .line").length`
	b.open(page)
	b.press("header a[href$='/logs']", "#log .line")
	b.shows("version ")
	b.mark()
	before, err := evaluate[int](b, lines)
	if err != nil {
		b.t.Fatal(err)
	}
	dockertest.Docker(b.t, "restart", "-t", "1", container)
	eventually(b.t, browserLimit, "the log has the line of the restarted container", func() bool {
		now, err := evaluate[int](b, lines)
		return err == nil && now > before
	})
	b.marked("the log")
	b.do(chromedp.WaitVisible(chromedp.CSS("[data-live-sign]:not(.cut)")))
	b.picture("containers-walk-log")
}

// TestContainersHooksPage sets the package webhooks up in the browser, and sees a delivery and the check that it leads to
// without a reload.
func TestContainersHooksPage(t *testing.T) {
	t.Parallel()
	bin := dockertest.NewestCompose(t)
	a := startApp(t, bin, dockertest.Behaviour{Version: "1", Healthcheck: true})
	host := githubtest.New(t)
	const pat = "planted-personal-access-token"
	host.Token(pat, "ops")
	host.AddOrg("demo")
	host.AddRepo(githubtest.Repo{FullName: a.repo})
	c := startCore(t, fmt.Sprintf(`codehost "github" "main" {
  config { base_url = %q }
}
`, host.URL)+containersHCL(bin.Path, fmt.Sprintf("  codehost = codehost.main\n  package_hosts = [%q]\n", a.reg.Host)))
	c.stackNamed(t, a.project)
	b := browse(t, c)
	source := axe(t)
	b.open("/host-packages")
	b.shows("No repository is tracked")
	b.do(chromedp.Click(chromedp.CSS("[name=enabled]")),
		chromedp.SendKeys(chromedp.CSS("#callback"), "https://patchbay.example.org/api/webhooks/host-packages"),
		chromedp.SendKeys(chromedp.CSS("#pat"), pat))
	b.press("#hook-settings .btn.p", ".toast.ok")
	b.shows("A token is set.")
	// It would cover the button, and be taken for the next one.
	b.do(chromedp.Click(chromedp.CSS(".toast [data-dismiss]")))
	b.press("[data-open=new-target]", "#input")
	b.do(chromedp.SendKeys(chromedp.CSS("#input"), a.repo))
	b.press("form[action$='/targets'] button", ".toast.ok")
	b.do(chromedp.Click(chromedp.CSS("form[action$='/repos/select'] button")))
	b.shows("The choice for " + a.repo)
	b.mark()
	b.do(chromedp.WaitVisible(chromedp.CSS("td .pill.ok")))
	b.marked("the webhook that is made")
	hooks := host.Hooks(a.repo)
	if len(hooks) != 1 {
		t.Fatalf("the code host has the hooks %+v", hooks)
	}
	digest := a.push(t, dockertest.Behaviour{Version: "2", Healthcheck: true})
	body := githubtest.Published(a.repo, path.Base(a.repo), "1", digest, true)
	for range 2 {
		h := http.Header{"X-Github-Event": {"package"}, "X-Github-Delivery": {"delivery-of-the-test"},
			"X-Hub-Signature-256": {githubtest.Sign(hooks[0].Secret, body)}}
		c.send(t, request{path: "/api/webhooks/host-packages", body: string(body), header: h})
		b.shows("delivery-of-the-test")
		b.do(chromedp.WaitVisible(chromedp.CSS(".sub a[href^='/queue/']")))
	}
	b.marked("the inbox")
	b.walk("containers-hooks", "/host-packages", source, wide, narrow)
	b.as(wide)
	b.open("/host-packages")
	b.press("form[action$='/sync'] button", "#job")
	b.shows("unchanged")
	b.open("/host-packages")
	b.confirm("td .ask summary", "", ".toast.ok")
	b.shows("not selected")
	eventually(t, 20*time.Second, "the webhook is taken away", func() bool { return len(host.Hooks(a.repo)) == 0 })
}
