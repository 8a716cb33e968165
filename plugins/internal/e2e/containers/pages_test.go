package containers

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// containersPages are the pages of the containers service, by the name of their picture.
func containersPages(st kit.Stack, web kit.Service, jobs map[string]string) [][2]string {
	svc := "/services/" + st.ID + "/" + web.ID
	return [][2]string{
		{"home", "/system"}, {"stacks", "/stacks"}, {"stacks-none", "/stacks?q=nothing-has-this-name"}, {"stack", "/stacks/" + st.ID},
		{"update", "/stacks/update?service=" + web.ID}, {"service", svc + "?window=3m"}, {"log", svc + "/logs"},
		{"files", "/stacks/" + st.ID + "/files"}, {"rollback", svc + "/rollback"}, {"queue", "/queue"}, {"queue-none", "/queue?status=canceled"},
		{"job-update", "/queue/" + jobs["update"]}, {"job-check", "/queue/" + jobs["check"]}, {"job-plan", "/queue/" + jobs["plan"]},
		{"job-back", "/queue/" + jobs["back"]},
		{"job-discovery", "/queue/" + jobs["discovery"]}, {"inference", "/queue/version-inference"}, {"discovery", "/discovery"},
		{"deploy", "/deploy-check"},
		{"settings", "/settings"}, {"hooks-off", "/host-packages"},
	}
}

// TestContainersPages looks at every page of the service in every size, theme and language, with something on each.
func TestContainersPages(t *testing.T) {
	t.Parallel()
	bin := dockertest.NewestCompose(t)
	a := kit.StartApp(t, bin, dockertest.Behaviour{Version: "1.0.0", Healthcheck: true})
	c := kit.StartCore(t, kit.ContainersHCL(bin.Path, ""))
	b := kit.Browse(t, c)
	source := kit.ReadAxe(t)
	st := c.StackNamed(t, a.Project)
	web := st.Service(t, "web")
	jobs := map[string]string{"discovery": c.BeginJob(t, "/api/discovery/scan", "")}
	c.Finished(t, jobs["discovery"], "success")

	a.Push(t, dockertest.Behaviour{Version: "1.1.0", Healthcheck: true})
	web = c.Check(t, web.ID)
	jobs["plan"] = c.BeginJob(t, "/api/updates", kit.UpdateBody(web, `,"mode":"dry-run"`))
	c.Finished(t, jobs["plan"], "success")
	jobs["update"] = c.BeginJob(t, "/api/updates", kit.UpdateBody(web, ""))
	c.Finished(t, jobs["update"], "success")
	a.Push(t, dockertest.Behaviour{Version: "1.2.0", Crash: true})
	web = c.Check(t, web.ID)
	jobs["back"] = c.BeginJob(t, "/api/updates", kit.UpdateBody(web, ""))
	c.Finished(t, jobs["back"], "rolled_back")
	jobs["check"] = c.BeginJob(t, "/api/checks", fmt.Sprintf(`{"scope":"stack","stackId":%q}`, st.ID))
	c.Finished(t, jobs["check"], "success")
	c.API(t, http.MethodPost, "/api/ignores",
		fmt.Sprintf(`{"scope":{"type":"service","serviceId":%q},"match":{"kind":"semver","value":">=9"},"note":"too early"}`, web.ID),
		http.StatusOK)
	c.API(t, http.MethodPost, "/api/deploy-check/report/refresh", "", http.StatusAccepted)

	// An edit that nobody has applied is shown before an update and before a rollback.
	file := filepath.Join(a.Dir, "docker-compose.yml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(string(text), "    stop_grace_period: 1s\n", "    stop_grace_period: 1s\n    environment: {ADDED: \"1\"}\n", 1)
	if err := os.WriteFile(file, []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	b.Open("/services/" + st.ID + "/" + web.ID + "/rollback")
	b.Shows("ADDED")
	b.Do(chromedp.WaitVisible(chromedp.CSS("input[name='drift']")))

	// A version that waits is on the home page, with its button.
	a.Push(t, dockertest.Behaviour{Version: "1.3.0", Healthcheck: true})
	web = c.Check(t, web.ID)
	b.Open("/system")
	b.Press("main a.btn[href='/stacks/update?service="+web.ID+"']", "button[value='apply']")
	// The list updates the services that were ticked.
	b.Open("/stacks")
	b.Do(chromedp.Click(chromedp.CSS("#service-" + web.ID + " .pick input")))
	b.Press("#bulk button[value='update']", "input[name='picked'] ~ .actions button[value='apply']")

	b.Open("/stacks/" + st.ID)
	b.Press("a[href$='/files']", "#file-0 .line")
	b.Shows("stop_grace_period: 1s")
	b.Shows("ADDED")

	b.Open("/deploy-check")
	b.Do(chromedp.WaitVisible(chromedp.CSS(".checks-list")))
	for _, page := range containersPages(st, c.Service(t, web.ID), jobs) {
		b.Walk("containers-"+page[0], page[1], source, kit.Wide, kit.Narrow)
	}
}

// notificationPages are the pages of notifications, by the name of their picture.
func notificationPages() [][2]string {
	return [][2]string{
		{"notifications", "/notifications"}, {"notifications-older", "/notifications?before=ntm_0"},
		{"notifications-job", "/notifications/preview/job_finished"},
		{"notifications-version", "/notifications/preview/new_version_discovered"},
		{"notifications-anomaly", "/notifications/preview/ghcr_webhook_anomaly"},
		{"notifications-test", "/notifications/preview/notification_test"},
	}
}

// TestNotificationsPages: channels in every state, a test whose answer comes into the page, and all of it in every look.
func TestNotificationsPages(t *testing.T) {
	t.Parallel()
	bin := dockertest.NewestCompose(t)
	hook := kit.NewReceiver(t)
	a := kit.StartApp(t, bin, dockertest.Behaviour{Version: "1.0.0", Healthcheck: true})
	c := kit.StartCore(t, fmt.Sprintf(`
notify "telegram" "bot" {}
notify "webpush" "push" {}
notify "webhook" "hook" {
  config {
    allow_hosts = [%q]
  }
}
notify "shoutrrr" "pager" {
  config { urls = ["gotify://127.0.0.1:1/AbCdEfGhIjKlMnO?disabletls=yes"] }
}
`, hook.Host)+kit.ContainersHCL(bin.Path, "  notify = [notify.bot, notify.push, notify.hook, notify.pager]"))
	// Push is not for private windows.
	b := kit.BrowseAlone(t, c)
	source := kit.ReadAxe(t)
	web := c.StackNamed(t, a.Project).Service(t, "web")

	b.Open("/notifications")
	b.Shows("No notifications yet")
	b.Do(chromedp.Evaluate[chromedp.Void](`void (location.hash = "set-webhook")`))
	b.Do(chromedp.SetValue(chromedp.CSS("#webhook-url"), hook.URL+"/hook"))
	b.Press(`#set-webhook button[name="on"]`, ".toast.ok")
	hook.Holds()
	b.Press("#ch-webhook form button", "#ch-webhook form .busy")
	b.Picture("containers-notifications-sending")
	hook.Release()
	b.Shows("The channel has taken the test.")
	b.Press("#ch-pager form button", "#ch-pager .note.bad")
	b.Press("#ch-chat form button", "#ch-chat .note.bad")
	b.Inspect(source, "the answers")
	b.Picture("containers-notifications-answers")

	c.API(t, http.MethodPost, "/api/web-push/keys", "", http.StatusOK)
	c.API(t, http.MethodPost, "/api/web-push/subscriptions",
		`{"endpoint":"https://push.example.invalid/send/1","keys":{"p256dh":"BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM","auth":"tBHItJI5svbpez7KI4CCXg"}}`, http.StatusOK)
	b.Open("/notifications")
	b.Do(chromedp.Evaluate[chromedp.Void](`void (location.hash = "set-webPush")`))
	b.Shows("This browser has not subscribed.")
	a.Push(t, dockertest.Behaviour{Version: "1.1.0", Healthcheck: true})
	web = c.Check(t, web.ID)
	update := c.BeginJob(t, "/api/updates", kit.UpdateBody(web, ""))
	c.Finished(t, update, "success")
	b.Shows("更新完成")

	// A fold that a person has opened stays open while the list around it goes on.
	const count = `document.querySelectorAll(".messages > li").length`
	before, err := kit.Evaluate[int](b, count)
	if err != nil {
		t.Fatal(err)
	}
	b.Do(chromedp.Click(chromedp.CSS(".messages > li:last-child summary")))
	b.Do(chromedp.Click(chromedp.CSS("#ch-webhook form button")))
	kit.Eventually(t, 20*time.Second, "the history goes on", func() bool {
		now, err := kit.Evaluate[int](b, count)
		return err == nil && now > before
	})
	if open, err := kit.Evaluate[bool](b, `document.querySelector(".messages > li:last-child details").open`); err != nil || !open {
		t.Errorf("the fold is closed, %v", err)
	}

	for _, page := range notificationPages() {
		b.Walk("containers-"+page[0], page[1], source, kit.Wide, kit.Narrow)
	}
	b.WalkOpened("containers-notifications-open", func() {
		b.Open("/notifications")
		b.Do(chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("main details").forEach((d) => { d.open = true })`))
	}, source, kit.Wide, kit.Narrow)
	b.Open("/notifications/preview/job_finished")
	b.Do(chromedp.ScrollIntoView(chromedp.CSS("iframe.mail")))
	b.Picture("containers-notifications-mail")
	b.As(kit.Wide)
	b.Expect("400")
	b.Open("/notifications")
	b.Do(chromedp.Evaluate[chromedp.Void](`void (location.hash = "set-chat")`), chromedp.SetValue(chromedp.CSS("#chat-chatId"), "not a chat"))
	b.Press(`#set-chat button[name="on"]`, "#set-chat .error")
	b.Picture("containers-notifications-refused")
}
