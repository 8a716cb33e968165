package containers

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/services/containers/backup"
	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

const unknownID = "svc_01K9ZS5T9W1V6Q0P9A8E7C6B5D"

// town is the host of the tests: blog has a new version of its only service, shop has one of two, and patchbay is the instance itself.
func (e *env) town() {
	e.Helper()
	e.project("blog", 1, map[string]string{"web": webRepo + ":1"})
	e.project("shop", 1, map[string]string{"app": appRepo + ":2", "db": dbRepo + ":3"})
	e.project("self", 1, map[string]string{"patchbay": imageHost + "/acme/patchbay:1"})
	e.publish(webRepo+":1", 2)
	e.publish(appRepo+":2", 3)
	e.publish(dbRepo+":3", 1)
	e.publish(imageHost+"/acme/patchbay:1", 4)
	e.discovered()
	if job, _ := e.checked(); job.Status != "success" {
		e.Fatalf("the check is %+v", job)
	}
}

// TestNobodyGetsIn: without an identity every route but the public ones answers 401, whatever the method carries.
func TestNobodyGetsIn(t *testing.T) {
	e := newEnv(t)
	mount := mountAPI(e.svc, e.svc.settings().BaseURL)
	for _, r := range mount.Routes {
		path := strings.NewReplacer("{stack_id}", "x", "{service_id}", "x", "{job_id}", "x", "{project}", "x", "{backup_id}", "x",
			":stack_id", "x", ":service_id", "x", ":job_id", "x", ":project", "x", ":backup_id", "x").Replace(r.Path)
		g := e.raw(r.Method, path, "")
		switch {
		case r.Policy == httpd.Forward && (g.status != 401 || g.json["code"] != "auth_required"):
			t.Errorf("%s %s: %d %s", r.Method, path, g.status, g.body)
		case r.Policy == httpd.Public && path != "/api/health" && path != "/api/version" && path != "/openapi.json" &&
			path != "/schemas/:name" && !strings.HasPrefix(path, "/docs"):
			t.Errorf("%s %s is public", r.Method, path)
		case strings.HasPrefix(path, "/api/webhooks/") && (g.status < 400 || g.status > 401):
			t.Errorf("%s %s without a secret: %d %s", r.Method, path, g.status, g.body)
		}
	}
	for _, path := range []string{"/api/health", "/api/version"} {
		if g := e.raw("GET", path, ""); g.status != 200 {
			t.Errorf("%s: %d %s", path, g.status, g.body)
		}
	}
}

// TestStackEndpoints goes through the endpoints of stacks and services.
func TestStackEndpoints(t *testing.T) {
	forEach(t, func(_ *testing.T, e *env) {
		e.town()
		c := newContract(e)
		if g := c.call(200, "GET", "/api/health", ""); g.body != "ok" {
			e.Errorf("health: %q", g.body)
		}
		if g := c.call(200, "GET", "/api/version", ""); g.json["version"] != "1.2.3" {
			e.Errorf("version: %s", g.body)
		}
		c.stackReads()
		c.archiving()
		c.lifecycle()
	})
}

func (c *contract) stackReads() {
	c.Helper()
	blog, web := c.stackOf("blog").ID, c.serviceOf("blog", "web").ID
	for _, filter := range []string{"", "?archived=exclude", "?archived=include", "?archived=only"} {
		c.call(200, "GET", "/api/stacks"+filter, "")
		c.call(200, "GET", "/api/discovery/projects"+filter, "")
	}
	c.refused(400, "invalid_argument", "GET", "/api/stacks?archived=maybe", "", "field", "archived")
	c.refused(400, "invalid_argument", "GET", "/api/discovery/projects?archived=maybe", "", "field", "archived")
	if g := c.refused(405, "method_not_allowed", "POST", "/api/stacks", `{"name":"x"}`); g.header.Get("Allow") != "GET" {
		c.Errorf("Allow is %q", g.header.Get("Allow"))
	}
	if g := c.send("PATCH", "/api/stacks", "{}"); g.status != 405 || g.json["code"] != "method_not_allowed" {
		c.Errorf("PATCH: %d %s", g.status, g.body)
	}
	if g := c.send("GET", "/api/nothing", ""); g.status != 404 || g.json["code"] != "not_found" {
		c.Errorf("an unknown route: %d %s", g.status, g.body)
	}
	c.call(200, "GET", "/api/stacks/"+blog, "")
	c.call(200, "GET", "/api/stacks/"+blog+"/lifecycle-status", "")
	for _, p := range []string{"", "/lifecycle-status", "/history", "/settings", "/rollback-target", "/backups", "/resource-usage/history"} {
		c.call(200, "GET", "/api/services/"+web+p, "")
		c.refused(404, "not_found", "GET", "/api/services/"+unknownID+p, "")
	}
	c.refused(404, "not_found", "GET", "/api/stacks/stk_none", "")
	c.refused(404, "not_found", "GET", "/api/stacks/stk_none/lifecycle-status", "")
	c.call(200, "GET", "/api/services/resource-usage/overview", "")
	for _, w := range []string{"3m", "1h", "24h", "7d"} {
		c.call(200, "GET", "/api/services/"+web+"/resource-usage/history?window="+w, "")
	}
	c.refused(400, "invalid_argument", "GET", "/api/services/"+web+"/resource-usage/history?window=2h", "", "field", "window")
}

func (c *contract) archiving() {
	c.Helper()
	for _, on := range []string{"stacks/" + c.stackOf("blog").ID, "services/" + c.serviceOf("blog", "web").ID, "discovery/projects/blog"} {
		c.call(200, "POST", "/api/"+on+"/archive", "")
		c.call(200, "POST", "/api/"+on+"/archive", "")
		if on != "discovery/projects/blog" {
			g := c.call(200, "GET", "/api/"+on, "")
			c.refusedWhileArchived(strings.Contains(g.body, `"archived":true`))
		}
		c.call(200, "POST", "/api/"+on+"/restore", "")
		c.call(200, "POST", "/api/"+on+"/restore", "")
	}
	for _, on := range []string{"stacks/stk_none", "services/" + unknownID, "discovery/projects/none"} {
		c.refused(404, "not_found", "POST", "/api/"+on+"/archive", "")
		c.refused(404, "not_found", "POST", "/api/"+on+"/restore", "")
	}
}

// refusedWhileArchived: what is archived is neither started nor updated.
func (c *contract) refusedWhileArchived(shown bool) {
	c.Helper()
	web := c.serviceOf("blog", "web")
	if !shown {
		c.Error("it is not shown as archived")
	}
	c.refused(409, "conflict", "POST", "/api/services/"+web.ID+"/lifecycle", `{"action":"stop"}`, "reason", "archived")
	c.refused(409, "conflict", "POST", "/api/updates", body(serviceUpdate(web)), "reason", "archived")
	g := c.call(200, "GET", "/api/services/"+web.ID+"/lifecycle-status", "")
	if g.json["unavailableReason"] != "archived" {
		c.Errorf("the status of what is archived: %s", g.body)
	}
}

func serviceUpdate(svc *record.Service) map[string]any {
	return map[string]any{"scope": "service", "serviceId": svc.ID, "targetTag": svc.Tag, "targetDigest": svc.CandidateDigest,
		"pullTags": []string{}}
}

func (c *contract) lifecycle() {
	c.Helper()
	stack, web, self := c.stackOf("blog").ID, c.serviceOf("blog", "web").ID, c.serviceOf("self", "patchbay").ID
	for _, on := range []string{"/api/stacks/" + stack, "/api/services/" + web} {
		for _, action := range []string{"stop", "start", "restart"} {
			g := c.call(200, "POST", on+"/lifecycle", fmt.Sprintf(`{"action":%q}`, action))
			id, _ := g.json["jobId"].(string)
			if job := c.ended(id); job.Status != "success" || job.Action != action || job.CreatedBy != "ann@example.com" {
				c.Errorf("%s: %+v", action, job)
			}
			want := map[string]string{"stop": "stopped", "start": "running", "restart": "running"}[action]
			if g := c.call(200, "GET", on+"/lifecycle-status", ""); g.json["state"] != want || g.json["unavailableReason"] != nil {
				c.Errorf("after %s: %s", action, g.body)
			}
		}
		c.refused(400, "invalid_argument", "POST", on+"/lifecycle", `{"action":"kill"}`, "field", "action")
		c.refused(400, "invalid_argument", "POST", on+"/lifecycle", `{}`)
	}
	c.refused(404, "not_found", "POST", "/api/stacks/stk_none/lifecycle", `{"action":"stop"}`)
	c.refused(404, "not_found", "POST", "/api/services/"+unknownID+"/lifecycle", `{"action":"stop"}`)
	c.refused(409, "conflict", "POST", "/api/stacks/"+c.stackOf("self").ID+"/lifecycle", `{"action":"stop"}`, "reason",
		"managed_via_supervisor")
	c.refused(409, "conflict", "POST", "/api/services/"+self+"/lifecycle", `{"action":"stop"}`, "reason", "managed_via_supervisor")
	c.whileBusy(stack, web)
	c.oldCompose()
}

// whileBusy: a job that holds a service keeps all others away from it and its stack, and says so.
func (c *contract) whileBusy(stack, web string) {
	c.Helper()
	entered, release := c.engine.Hold("compose restart")
	job := c.call(200, "POST", "/api/services/"+web+"/lifecycle", `{"action":"restart"}`).json["jobId"].(string)
	<-entered
	for path, text := range map[string]string{
		"/api/services/" + web + "/lifecycle": `{"action":"stop"}`, "/api/stacks/" + stack + "/lifecycle": `{"action":"stop"}`,
		"/api/updates": body(serviceUpdate(c.serviceOf("blog", "web"))),
	} {
		c.refused(409, "conflict", "POST", path, text, "existingJobId", job)
	}
	if g := c.call(200, "GET", "/api/services/"+web+"/lifecycle-status",
		""); fmt.Sprint(g.json["activeJob"]) != fmt.Sprint(map[string]any{"id": job, "type": "service_lifecycle", "status": "running",
		"action": "restart"}) {
		c.Errorf("the active job: %s", g.body)
	}
	if g := c.call(200, "GET", "/api/stacks/"+stack+"/lifecycle-status", ""); !strings.Contains(g.body, job) {
		c.Errorf("the active jobs: %s", g.body)
	}
	release()
	c.ended(job)
}

// oldCompose: the first generation cannot start what has no container; an engine that does not answer makes the state unknown.
func (c *contract) oldCompose() {
	c.Helper()
	c.engine.SetInfo(engine.Info{Version: "20.10.24", OS: "linux", Arch: "amd64"}, &engine.Compose{Version: "1.29.2"})
	for _, ct := range c.engine.ContainersOf("blog", "web") {
		c.engine.RemoveContainer(ct.ID)
	}
	web := c.serviceOf("blog", "web").ID
	c.refused(409, "conflict", "POST", "/api/services/"+web+"/lifecycle", `{"action":"start"}`, "reason", "container_missing_for_compose_v1")
	if g := c.call(200, "GET", "/api/services/"+web+"/lifecycle-status",
		""); g.json["unavailableReason"] != "container_missing_for_compose_v1" || g.json["state"] != "stopped" {
		c.Errorf("without a container: %s", g.body)
	}
	c.engine.Fail("containers", context.DeadlineExceeded)
	if g := c.call(200, "GET", "/api/services/"+web+"/lifecycle-status", ""); g.json["unavailableReason"] != "lifecycle_status_unavailable" ||
		g.json["state"] != "unknown" {
		c.Errorf("without an engine: %s", g.body)
	}
}

// TestWorkEndpoints goes through discovery, checks, scans, rollback and backups.
func TestWorkEndpoints(t *testing.T) {
	forEach(t, func(_ *testing.T, e *env) {
		e.town()
		c := newContract(e)
		blog, web := e.stackOf("blog").ID, e.serviceOf("blog", "web")
		c.call(200, "GET", "/api/discovery/projects", "")
		for _, path := range []string{"/api/checks", "/api/runtime-scans"} {
			for _, ok := range []string{`{"scope":"all"}`, `{"scope":"stack","stackId":"` + blog + `"}`,
				`{"scope":"service","serviceId":"` + web.ID + `","reason":"ui"}`} {
				g := c.call(200, "POST", path, ok)
				if job := e.ended(g.json["jobId"].(string)); job.Status != "success" {
					e.Errorf("%s %s: %+v", path, ok, job)
				}
			}
			for text, field := range map[string]string{
				`{"scope":"none"}`: "scope", `{"scope":"stack"}`: "stackId", `{"scope":"stack","stackId":"x"}`: "stackId",
				`{"scope":"service","serviceId":"x"}`: "serviceId",
				`{"scope":"all","reason":"fun"}`:      "reason", `{"scope":7}`: "scope",
			} {
				c.refused(400, "invalid_argument", "POST", path, text, "field", field)
			}
		}
		c.reuse(map[string]string{"/api/checks": `{"scope":"all"}`, "/api/runtime-scans": `{"scope":"all"}`})
		c.rollbacks(web)
	})
}

// reuse: the same scan twice at once is a conflict; a discovery is handed out again.
func (c *contract) reuse(twice map[string]string) {
	c.Helper()
	for path, text := range twice {
		entered, release := c.engine.Hold("containers")
		first := c.call(200, "POST", path, text).json["jobId"].(string)
		<-entered
		c.refused(409, "conflict", "POST", path, text, "existingJobId", first)
		release()
		c.ended(first)
	}
	entered, release := c.engine.Hold("containers")
	first := c.call(200, "POST", "/api/discovery/scan", "").json["jobId"].(string)
	<-entered
	if again := c.call(200, "POST", "/api/discovery/scan", "").json["jobId"]; again != first {
		c.Errorf("a discovery while %s runs is %v", first, again)
	}
	release()
	if job := c.ended(first); job.Status != "success" {
		c.Errorf("the discovery: %+v", job)
	}
}

func (c *contract) rollbacks(web *record.Service) {
	c.Helper()
	path := "/api/services/" + web.ID + "/rollback"
	c.refused(404, "not_found", "POST", "/api/services/"+unknownID+"/rollback", "")
	c.refused(409, "conflict", "POST", path, "", "reason", "no_update")
	if job, _ := c.updated("blog", "web"); job.Status != "success" {
		c.Fatalf("the update: %+v", job)
	}
	if g := c.call(200, "GET", path+"-target", ""); g.json["available"] != true || g.json["targetDigest"] != digest(1) ||
		g.json["currentDigest"] != digest(2) {
		c.Errorf("the target: %s", g.body)
	}
	id := c.call(200, "POST", path, "").json["jobId"].(string)
	if job := c.ended(id); job.Status != "success" || c.runs("blog", "web") != imageID(1) {
		c.Errorf("the rollback: %+v", job)
	}
	c.call(200, "GET", "/api/services/"+web.ID+"/history", "")
	c.refused(409, "conflict", "POST", "/api/services/"+c.serviceOf("self", "patchbay").ID+"/rollback", "", "reason", "managed_via_supervisor")
	c.refused(404, "not_found", "POST", "/api/backups/bkp_none/restore", "")
	must := func(rec backup.Record) { c.must(c.svc.Backups.Store.SaveBackup(context.Background(), &rec)) }
	must(backup.Record{ID: "bkp_failed", StackID: web.StackID, ServiceID: web.ID, Kind: compose.DockerVolume, Target: "data",
		Status: backup.StatusFailed, CreatedAt: 1})
	must(backup.Record{ID: "bkp_gone", StackID: web.StackID, ServiceID: web.ID, Kind: compose.DockerVolume, Target: "data",
		Status: backup.StatusSuccess, Path: "/nowhere/x.tar.gz", CreatedAt: 2})
	c.refused(409, "conflict", "POST", "/api/backups/bkp_failed/restore", "", "reason", "not_restorable")
	if job := c.ended(c.call(200, "POST", "/api/backups/bkp_gone/restore", "").json["jobId"].(string)); job.Status != "failed" {
		c.Errorf("the restore of a backup without a file: %+v", job)
	}
	c.call(200, "GET", "/api/services/"+web.ID+"/backups", "")
}

// TestVersionEndpoints goes through what tells of the versions behind digests.
func TestVersionEndpoints(t *testing.T) {
	forEach(t, func(_ *testing.T, e *env) {
		e.registry.Set(webRepo, "1.4.2", fakeImage(1))
		e.town()
		c := newContract(e)
		web := "/api/services/" + e.serviceOf("blog", "web").ID
		for _, p := range []string{"/digest-tags", "/digest-tags-snapshot"} {
			c.refused(404, "not_found", "GET", "/api/services/"+unknownID+p, "")
			c.refused(404, "not_found", "GET", web+p+"?digest="+digest(99), "")
			if g := c.call(202, "GET", web+p, ""); g.json["status"] != "pending" || g.json["digest"] != digest(1) {
				e.Errorf("before the search: %s", g.body)
			}
		}
		c.call(200, "GET", "/api/version-inference/overview", "")
		e.inferring()
		e.svc.AwaitVersions(context.Background(), []string{digest(1)}, patience)
		for _, p := range []string{"/digest-tags", "/digest-tags-snapshot"} {
			if g := c.call(200, "GET", web+p, ""); !strings.Contains(g.body, `"resolvedTag":"1.4.2"`) {
				e.Errorf("after the search: %s", g.body)
			}
		}
		refresh := web + "/version-inference/refresh"
		c.call(202, "POST", refresh, `{"digest":"`+digest(1)+`"}`)
		c.refused(400, "invalid_argument", "POST", refresh, `{"digest":"latest"}`, "field", "digest")
		c.refused(400, "invalid_argument", "POST", refresh, `{}`)
		c.refused(404, "not_found", "POST", refresh, `{"digest":"`+digest(98)+`"}`)
		c.refused(404, "not_found", "POST", "/api/services/"+unknownID+"/version-inference/refresh", `{"digest":"`+digest(1)+`"}`)
		for _, q := range []string{"?q=web", "?status=ready&page=2&perPage=10", "?status=queued"} {
			c.call(200, "GET", "/api/version-inference/overview"+q, "")
		}
		for q, field := range map[string]string{"?status=lost": "status", "?page=0": "page", "?perPage=201": "perPage", "?page=x": "page"} {
			c.refused(400, "invalid_argument", "GET", "/api/version-inference/overview"+q, "", "field", field)
		}
	})
}

func fakeImage(n int) fake.Image { return fake.Image{Digest: digest(n), Platforms: platforms(n)} }
