package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/core/testkit/dockertest"
)

// containersPages are the pages of the containers service, by the name of their picture.
func containersPages(st stack, web service, jobs map[string]string) [][2]string {
	svc := "/services/" + st.ID + "/" + web.ID
	return [][2]string{
		{"home", "/system"}, {"stacks", "/stacks"}, {"stacks-none", "/stacks?q=nothing-has-this-name"}, {"stack", "/stacks/" + st.ID},
		{"update", "/stacks/update?service=" + web.ID}, {"service", svc + "?window=3m"}, {"queue", "/queue"}, {"queue-none", "/queue?status=canceled"},
		{"job-update", "/queue/" + jobs["update"]}, {"job-check", "/queue/" + jobs["check"]}, {"job-plan", "/queue/" + jobs["plan"]}, {"job-back", "/queue/" + jobs["back"]},
		{"job-discovery", "/queue/" + jobs["discovery"]}, {"inference", "/queue/version-inference"}, {"discovery", "/discovery"}, {"deploy", "/deploy-check"},
		{"settings", "/settings"}, {"hooks-off", "/host-packages"},
	}
}

// TestContainersPages looks at every page of the service in every size, theme and language, with something on each.
func TestContainersPages(t *testing.T) {
	bins := dockertest.Compose(t)
	a := startApp(t, bins[len(bins)-1], dockertest.Behaviour{Version: "1.0.0", Healthcheck: true})
	c := startCore(t, containersHCL(bins[len(bins)-1].Path, ""))
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
	c.api(t, http.MethodPost, "/api/ignores", fmt.Sprintf(`{"scope":{"type":"service","serviceId":%q},"match":{"kind":"semver","value":">=9"},"note":"too early"}`, web.ID), http.StatusOK)
	c.api(t, http.MethodPost, "/api/deploy-check/report/refresh", "", http.StatusAccepted)

	b.open("/deploy-check")
	b.do(chromedp.WaitVisible(chromedp.CSS(".checks-list")))
	for _, l := range looks() {
		b.as(l)
		for _, page := range containersPages(st, c.service(t, web.ID), jobs) {
			b.look(l, "containers-"+page[0], page[1], source)
		}
	}
}
