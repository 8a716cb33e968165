package containers

import (
	"net/http"
	"path"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/plugins/codehost/github/githubtest"
	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// slowEnough is how long a new container takes to become healthy, so that its progress can be watched.
const slowEnough = 4 * time.Second

// followJobPage waits on the page of a job for its end, which must show without a reload, and for words on it.
func followJobPage(b *kit.Browser, what, status string, words ...string) {
	b.T.Helper()
	b.Do(chromedp.WaitVisible(chromedp.CSS("#job")), chromedp.WaitReady(chromedp.CSS("html.js")))
	b.Mark()
	b.Do(chromedp.WaitVisible(chromedp.CSS("#job progress")), chromedp.WaitVisible(chromedp.CSS("#log .line")))
	b.Picture("containers-walk-" + what)
	for _, w := range append([]string{status}, words...) {
		b.Shows(w)
	}
	b.Marked(what)
}

// TestContainersWalk walks through an update, one that is rolled back by itself, and a rollback by hand, as a person does.
func TestContainersWalk(t *testing.T) {
	t.Parallel()
	bin := dockertest.NewestCompose(t)
	a := kit.StartApp(t, bin, dockertest.Behaviour{Version: "1.0.0", Healthcheck: true})
	c := kit.StartCore(t, kit.ContainersHCL(bin.Path, ""))
	b := kit.Browse(t, c)
	b.Open("/stacks")
	b.Shows(a.Project)
	st := c.StackNamed(t, a.Project)
	web := st.Service(t, "web")
	page := "/services/" + st.ID + "/" + web.ID

	second := a.Push(t, dockertest.Behaviour{Version: "1.1.0", Healthcheck: true, SlowStart: slowEnough, StartPeriod: slowEnough,
		PadBytes: 1 << 20})
	b.Open(page)
	b.Press("form[action='/stacks/check'] button", "#job")
	b.Shows("1 with a new version")
	b.Press("main table a.btn", "button[value='apply']")
	b.Shows(second)
	b.Shows("--no-deps --scale web=1 web")
	b.Press("button[value='dry-run']", "#job")
	b.Shows("nothing was changed")
	b.Press("main .actions a.btn.p", "button[value='apply']")
	b.Press("button[value='apply']", "#job")
	followJobPage(b, "update", "success", "Running now")
	if _, _, digests := kit.RunningImage(t, a.Dir, "web"); !kit.HasDigest(digests, second) {
		t.Errorf("runs %v, want %s", digests, second)
	}

	crash := a.Push(t, dockertest.Behaviour{Version: "1.2.0", Crash: true})
	web = c.Check(t, web.ID)
	if web.Candidate == nil || web.Candidate.Digest != crash {
		t.Fatalf("candidate %+v, want %s", web.Candidate, crash)
	}
	b.Open(page)
	b.Press("#update", "button[value='apply']")
	b.Press("button[value='apply']", "#job")
	followJobPage(b, "rolled-back", "rolled back", "The new container did not become healthy", "The previous image is running again")
	if _, _, digests := kit.RunningImage(t, a.Dir, "web"); !kit.HasDigest(digests, second) {
		t.Errorf("after the rollback runs %v, want %s", digests, second)
	}

	b.Open(page)
	b.Press("#rollback", "form[action$='/rollback'] button")
	b.Press("form[action$='/rollback'] button", "#job")
	followJobPage(b, "rollback", "success")
	if _, _, digests := kit.RunningImage(t, a.Dir, "web"); !kit.HasDigest(digests, st.Service(t, "web").Image.Digest) {
		t.Errorf("after the rollback by hand runs %v, want %s", digests, st.Service(t, "web").Image.Digest)
	}
	b.Open(page)
	b.Confirm("dl.runs summary.btn", "", "#job")
	b.Shows("success")
	watchLog(b, page, dockertest.FindContainer(t, a.Dir, "web"))
}

// watchLog opens the log of a service, which goes on when its container is restarted.
func watchLog(b *kit.Browser, page, container string) {
	b.T.Helper()
	const lines = `document.querySelectorAll("#log .line").length`
	b.Open(page)
	b.Press("header a[href$='/logs']", "#log .line")
	b.Shows("version ")
	b.Mark()
	before, err := kit.Evaluate[int](b, lines)
	if err != nil {
		b.T.Fatal(err)
	}
	dockertest.Docker(b.T, "restart", "-t", "1", container)
	kit.Eventually(b.T, kit.BrowserLimit, "the log has the line of the restarted container", func() bool {
		now, err := kit.Evaluate[int](b, lines)
		return err == nil && now > before
	})
	b.Marked("the log")
	b.Do(chromedp.WaitVisible(chromedp.CSS("[data-live-sign]:not(.cut)")))
	b.Picture("containers-walk-log")
}

// TestContainersHooksPage sets the package webhooks up in the browser, and sees a delivery and the check that it leads to
// without a reload.
func TestContainersHooksPage(t *testing.T) {
	t.Parallel()
	c, a, host := startWithPackageHost(t)
	c.StackNamed(t, a.Project)
	b := kit.Browse(t, c)
	source := kit.ReadAxe(t)
	b.Open("/host-packages")
	b.Shows("No repository is tracked")
	b.Do(chromedp.Click(chromedp.CSS("[name=enabled]")),
		chromedp.SendKeys(chromedp.CSS("#callback"), "https://patchbay.example.org/api/webhooks/host-packages"),
		chromedp.SendKeys(chromedp.CSS("#pat"), plantedPAT))
	b.Press("#hook-settings .btn.p", ".toast.ok")
	b.Shows("A token is set.")
	// It would cover the button, and be taken for the next one.
	b.Do(chromedp.Click(chromedp.CSS(".toast [data-dismiss]")))
	b.Press("[data-open=new-target]", "#input")
	b.Do(chromedp.SendKeys(chromedp.CSS("#input"), a.Repo))
	b.Press("form[action$='/targets'] button", ".toast.ok")
	b.Do(chromedp.Click(chromedp.CSS("form[action$='/repos/select'] button")))
	b.Shows("The choice for " + a.Repo)
	b.Mark()
	b.Do(chromedp.WaitVisible(chromedp.CSS("td .pill.ok")))
	b.Marked("the webhook that is made")
	hooks := host.Hooks(a.Repo)
	if len(hooks) != 1 {
		t.Fatalf("the code host has the hooks %+v", hooks)
	}
	digest := a.Push(t, dockertest.Behaviour{Version: "2", Healthcheck: true})
	body := githubtest.Published(a.Repo, path.Base(a.Repo), "1", digest, true)
	for range 2 {
		h := http.Header{"X-Github-Event": {"package"}, "X-Github-Delivery": {"delivery-of-the-test"},
			"X-Hub-Signature-256": {githubtest.Sign(hooks[0].Secret, body)}}
		c.Send(t, kit.Request{Path: "/api/webhooks/host-packages", Body: string(body), Header: h})
		b.Shows("delivery-of-the-test")
		b.Do(chromedp.WaitVisible(chromedp.CSS(".sub a[href^='/queue/']")))
	}
	b.Marked("the inbox")
	b.Walk("containers-hooks", "/host-packages", source, kit.Wide, kit.Narrow)
	b.As(kit.Wide)
	b.Open("/host-packages")
	b.Press("form[action$='/sync'] button", "#job")
	b.Shows("unchanged")
	b.Open("/host-packages")
	b.Confirm("td .ask summary", "", ".toast.ok")
	b.Shows("not selected")
	kit.Eventually(t, 20*time.Second, "the webhook is taken away", func() bool { return len(host.Hooks(a.Repo)) == 0 })
}
