package e2e

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
)

// containersPages are the pages of the containers service, by the name of their picture.
func containersPages(st stack, web service, jobs map[string]string) [][2]string {
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
	a := startApp(t, bin, dockertest.Behaviour{Version: "1.0.0", Healthcheck: true})
	c := startCore(t, containersHCL(bin.Path, ""))
	b := browse(t, c)
	source := axe(t)
	st := c.stackNamed(t, a.project)
	web := st.service(t, "web")
	jobs := map[string]string{"discovery": c.beginJob(t, "/api/discovery/scan", "")}
	c.finished(t, jobs["discovery"], "success")

	a.push(t, dockertest.Behaviour{Version: "1.1.0", Healthcheck: true})
	web = c.check(t, web.ID)
	jobs["plan"] = c.beginJob(t, "/api/updates", updateBody(web, `,"mode":"dry-run"`))
	c.finished(t, jobs["plan"], "success")
	jobs["update"] = c.beginJob(t, "/api/updates", updateBody(web, ""))
	c.finished(t, jobs["update"], "success")
	a.push(t, dockertest.Behaviour{Version: "1.2.0", Crash: true})
	web = c.check(t, web.ID)
	jobs["back"] = c.beginJob(t, "/api/updates", updateBody(web, ""))
	c.finished(t, jobs["back"], "rolled_back")
	jobs["check"] = c.beginJob(t, "/api/checks", fmt.Sprintf(`{"scope":"stack","stackId":%q}`, st.ID))
	c.finished(t, jobs["check"], "success")
	c.api(t, http.MethodPost, "/api/ignores",
		fmt.Sprintf(`{"scope":{"type":"service","serviceId":%q},"match":{"kind":"semver","value":">=9"},"note":"too early"}`, web.ID),
		http.StatusOK)
	c.api(t, http.MethodPost, "/api/deploy-check/report/refresh", "", http.StatusAccepted)

	// An edit that nobody has applied is shown before an update and before a rollback.
	file := filepath.Join(a.dir, "docker-compose.yml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(string(text), "    stop_grace_period: 1s\n", "    stop_grace_period: 1s\n    environment: {ADDED: \"1\"}\n", 1)
	if err := os.WriteFile(file, []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	b.open("/services/" + st.ID + "/" + web.ID + "/rollback")
	b.shows("ADDED")
	b.do(chromedp.WaitVisible(chromedp.CSS("input[name='drift']")))

	// A version that waits is on the home page, with its button.
	a.push(t, dockertest.Behaviour{Version: "1.3.0", Healthcheck: true})
	web = c.check(t, web.ID)
	b.open("/system")
	b.press("main a.btn[href='/stacks/update?service="+web.ID+"']", "button[value='apply']")
	// The list updates the services that were ticked.
	b.open("/stacks")
	b.do(chromedp.Click(chromedp.CSS("#service-" + web.ID + " .pick input")))
	b.press("#bulk button[value='update']", "input[name='picked'] ~ .actions button[value='apply']")

	b.open("/stacks/" + st.ID)
	b.press("a[href$='/files']", "#file-0 .line")
	b.shows("stop_grace_period: 1s")
	b.shows("ADDED")

	b.open("/deploy-check")
	b.do(chromedp.WaitVisible(chromedp.CSS(".checks-list")))
	for _, page := range containersPages(st, c.service(t, web.ID), jobs) {
		b.walk("containers-"+page[0], page[1], source, wide, narrow)
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
	hook := newReceiver(t)
	a := startApp(t, bin, dockertest.Behaviour{Version: "1.0.0", Healthcheck: true})
	c := startCore(t, fmt.Sprintf(`
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
`, hook.host)+containersHCL(bin.Path, "  notify = [notify.bot, notify.push, notify.hook, notify.pager]"))
	// Push is not for private windows.
	b := browseAlone(t, c)
	source := axe(t)
	web := c.stackNamed(t, a.project).service(t, "web")

	b.open("/notifications")
	b.shows("No notifications yet")
	b.do(chromedp.Evaluate[chromedp.Void](`void (location.hash = "set-webhook")`))
	b.do(chromedp.SetValue(chromedp.CSS("#webhook-url"), hook.URL+"/hook"))
	b.press(`#set-webhook button[name="on"]`, ".toast.ok")
	hook.holds()
	b.press("#ch-webhook form button", "#ch-webhook form .busy")
	b.picture("containers-notifications-sending")
	hook.release()
	b.shows("The channel has taken the test.")
	b.press("#ch-pager form button", "#ch-pager .note.bad")
	b.press("#ch-chat form button", "#ch-chat .note.bad")
	b.inspect(source, "the answers")
	b.picture("containers-notifications-answers")

	c.api(t, http.MethodPost, "/api/web-push/keys", "", http.StatusOK)
	c.api(t, http.MethodPost, "/api/web-push/subscriptions",
		`{"endpoint":"https://push.example.invalid/send/1","keys":{"p256dh":"BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM","auth":"tBHItJI5svbpez7KI4CCXg"}}`, http.StatusOK)
	b.open("/notifications")
	b.do(chromedp.Evaluate[chromedp.Void](`void (location.hash = "set-webPush")`))
	b.shows("This browser has not subscribed.")
	a.push(t, dockertest.Behaviour{Version: "1.1.0", Healthcheck: true})
	web = c.check(t, web.ID)
	update := c.beginJob(t, "/api/updates", updateBody(web, ""))
	c.finished(t, update, "success")
	b.shows("更新完成")

	// A fold that a person has opened stays open while the list around it goes on.
	const count = `document.querySelectorAll(".messages > li").length`
	before, err := evaluate[int](b, count)
	if err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Click(chromedp.CSS(".messages > li:last-child summary")))
	b.do(chromedp.Click(chromedp.CSS("#ch-webhook form button")))
	eventually(t, 20*time.Second, "the history goes on", func() bool {
		now, err := evaluate[int](b, count)
		return err == nil && now > before
	})
	if open, err := evaluate[bool](b, `document.querySelector(".messages > li:last-child details").open`); err != nil || !open {
		t.Errorf("the fold is closed, %v", err)
	}

	for _, page := range notificationPages() {
		b.walk("containers-"+page[0], page[1], source, wide, narrow)
	}
	b.walkOpened("containers-notifications-open", func() {
		b.open("/notifications")
		b.do(chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("main details").forEach((d) => { d.open = true })`))
	}, source, wide, narrow)
	b.open("/notifications/preview/job_finished")
	b.do(chromedp.ScrollIntoView(chromedp.CSS("iframe.mail")))
	b.picture("containers-notifications-mail")
	b.as(wide)
	b.expect("400")
	b.open("/notifications")
	b.do(chromedp.Evaluate[chromedp.Void](`void (location.hash = "set-chat")`), chromedp.SetValue(chromedp.CSS("#chat-chatId"), "not a chat"))
	b.press(`#set-chat button[name="on"]`, "#set-chat .error")
	b.picture("containers-notifications-refused")
}
