package pages

import (
	"net/http"
	"strings"
	"testing"

	service "github.com/patchbay-dev/patchbay/core/services/containers"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// TestPickedUpdates: an update of the services that were ticked, or that the filter shows, names what it takes along and what
// it leaves out, and works by plain forms.
func TestPickedUpdates(t *testing.T) {
	s := newSite(t, "/")
	v := s.as(s.admin, "en")
	names := []string{"blog", "shop", "wiki"}
	ids := map[string]string{}
	for _, name := range names {
		ids[name] = s.project(name, "web", webRepo).ID
	}
	v.get("/stacks").Lacks(t, "nothing to pick", `form="bulk"`, `id="bulk"`)
	s.publish(webRepo+":1", 2)
	v.began(v.post("/stacks/check"))
	for _, name := range names {
		v.get("/stacks").Is(t, "the list", http.StatusOK, `value="`+ids[name]+`" form="bulk" aria-label="Select `+name+` / web"`,
			`action="/stacks/update"`, "Update 3 services")
	}
	v.get("/stacks?q=shop").Is(t, "the filtered list", http.StatusOK, `href="/stacks/update?q=shop"`, "Update the service shown",
		`<input type="hidden" name="q" value="shop">`)
	v.get("/stacks").Lacks(t, "without a filter", "shown</a>")

	filtered := v.get("/stacks/update?q=shop")
	filtered.Is(t, "by the filter", http.StatusOK, "1 service will be updated", updateTarget(s.find("shop", "web")), `name="picked"`,
		"2 services with new versions are not part of this update", "blog / web", "wiki / web", `href="/stacks?q=shop"`)
	filtered.Lacks(t, "by the filter", updateTarget(s.find("blog", "web")))
	if p := v.get("/stacks/update?action=update&q=shop"); p.Header.Get("Location") != "/stacks?q=shop" {
		t.Errorf("without a tick it leads to %q, %d", p.Header.Get("Location"), p.Status)
	}
	two := "/stacks/update?action=update&id=" + ids["blog"] + "&id=" + ids["wiki"]
	v.get(two).Is(t, "by ticks", http.StatusOK, "2 services will be updated", "1 service with a new version is not part of this update",
		"shop / web", "one job for each fully selected stack")
	v.SetLanguage("zh")
	v.get(two).Is(t, "in Chinese", http.StatusOK, "将更新 2 个服务", "另有 1 个有新版本的服务不在本次更新中")
	v.SetLanguage("en")

	both := []string{"picked", "yes", "mode", "apply", "backup", "skip", "target", updateTarget(s.find("blog", "web")), "target",
		updateTarget(s.find("wiki", "web"))}
	p := v.post("/stacks/update", both...)
	if p.Status != http.StatusSeeOther || p.Header.Get("Location") != jobsPath {
		t.Fatalf("two services lead to %q, %d: %s", p.Header.Get("Location"), p.Status, p.Body)
	}
	jobs, _, err := s.service.ListJobs(t.Context(), service.JobFilter{Types: []string{work.JobUpdate}})
	must(t, err)
	if len(jobs) != 2 {
		t.Errorf("two services are %d jobs", len(jobs))
	}
	for _, j := range jobs {
		if end := s.ended(j.ID); end.Status != "success" || end.Scope != work.ScopeService {
			t.Errorf("a job of scope %s ends %s", end.Scope, end.Status)
		}
	}
	if got := s.find("shop", "web").Image.Digest; got != made256("digest", 1) {
		t.Errorf("what was not picked runs %s", got)
	}
	v.post("/stacks/update", "picked", "yes", "mode", "apply").Is(t, "no target", http.StatusBadRequest, "targets")
	one := v.began(v.post("/stacks/update", "picked", "yes", "mode", "dry-run", "target", updateTarget(s.find("shop", "web"))))
	if !strings.HasPrefix(one.ID, "job_") || one.Mode != "dry-run" {
		t.Errorf("one service is the job %+v", one)
	}
}

// TestJobTellsWhatItLeftOut: the page of an update of everything names the services whose versions were rolled back before.
func TestJobTellsWhatItLeftOut(t *testing.T) {
	s := newSite(t, "/")
	v := s.as(s.admin, "en")
	s.project("blog", "web", webRepo)
	web := s.project("shop", "web", webRepo)
	s.publish(webRepo+":1", 2)
	v.began(v.post("/stacks/check"))
	v.began(v.post("/stacks/update", "service", web.ID, "target", updateTarget(s.find("shop", "web")), "mode", "apply", "backup", "skip"))
	back := v.began(v.post("/services/" + web.StackID + "/" + web.ID + "/rollback"))
	v.began(v.post("/stacks/check"))
	for _, mode := range []string{"dry-run", "apply"} {
		job := v.began(v.post("/stacks/update", "target", updateTarget(s.find("blog", "web")), "mode", mode, "backup", "skip"))
		v.get("/queue/"+job.ID).Is(t, mode, http.StatusOK, "1 service is left out: its new version was rolled back", "shop / web",
			"/queue/"+back.ID)
	}
}
