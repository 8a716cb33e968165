package containers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// TestJobEndpoints goes through the list of jobs, one job, and its end before time.
func TestJobEndpoints(t *testing.T) {
	forEach(t, func(_ *testing.T, e *env) {
		e.town()
		c := newContract(e)
		for q, field := range map[string]string{
			"limit=0": "limit", "limit=201": "limit", "limit=-1": "limit", "limit=x": "limit", "type=check,housekeeping": "type", "type=x": "type",
			"status=done": "status", "status=queued,lost": "status",
		} {
			c.refused(400, "invalid_argument", "GET", "/api/jobs?"+q, "", "field", field)
		}
		for _, cursor := range []string{"x", "AAAA", "eyJ2IjoxfQ", strings.Repeat("A", 3000), "Zm9v.YmFy"} {
			c.refused(400, "invalid_jobs_cursor", "GET", "/api/jobs?cursor="+cursor, "", "field", "cursor")
		}
		c.paging()
		c.filters()
		c.oneJob()
	})
}

func ids(g got) (out []string) {
	list, _ := g.json["jobs"].([]any)
	for _, j := range list {
		out = append(out, j.(map[string]any)["id"].(string))
	}
	return out
}

// paging: the pages together are the whole list, the newest first, and the last has no cursor.
func (c *contract) paging() {
	c.Helper()
	for range 4 {
		c.ended(c.call(200, "POST", "/api/runtime-scans", `{"scope":"all"}`).json["jobId"].(string))
	}
	all := ids(c.call(200, "GET", "/api/jobs?limit=200", ""))
	var paged []string
	path := "/api/jobs?limit=2"
	for range len(all) + 2 {
		g := c.call(200, "GET", path, "")
		paged = append(paged, ids(g)...)
		next, _ := g.json["nextCursor"].(string)
		if next == "" {
			break
		}
		path = "/api/jobs?limit=2&cursor=" + next
	}
	if len(all) < 5 || !slices.Equal(paged, all) {
		c.Errorf("the pages are %v, the list %v", paged, all)
	}
	if !slices.IsSortedFunc(all, func(a, b string) int { return strings.Compare(b, a) }) {
		c.Errorf("not the newest first: %v", all)
	}
}

func (c *contract) filters() {
	c.Helper()
	blog, web := c.stackOf("blog").ID, c.serviceOf("blog", "web").ID
	action := c.call(200, "POST", "/api/services/"+web+"/lifecycle", `{"action":"restart"}`).json["jobId"].(string)
	c.ended(action)
	for q, want := range map[string]bool{
		"serviceId=" + web: true, "stackId=" + blog: true, "type=service_lifecycle": true, "type=check,service_lifecycle&status=success": true,
		"status=success&stackId=" + blog + "&serviceId=" + web: true, "status=failed": false, "type=check": false, "serviceId=svc_none": false,
		"stackId=" + c.stackOf("shop").ID: false, "status=queued,running,rolled_back,canceled": false,
	} {
		if g := c.call(200, "GET", "/api/jobs?"+q, ""); slices.Contains(ids(g), action) != want {
			c.Errorf("%s: %v", q, ids(g))
		}
	}
}

func (c *contract) oneJob() {
	c.Helper()
	c.refused(404, "not_found", "GET", "/api/jobs/job_none", "")
	c.refused(404, "not_found", "POST", "/api/jobs/job_none/cancel", "")
	// What the queue does for itself is no job of the service.
	hidden, _, err := c.queue.Submit(c.Context(), queue.Submission{Type: jobHousekeeping})
	c.must(err)
	c.refused(404, "not_found", "GET", "/api/jobs/"+hidden.ID, "")
	c.refused(404, "not_found", "POST", "/api/jobs/"+hidden.ID+"/cancel", "")
	c.ended(hidden.ID)
	web := c.serviceOf("blog", "web")
	entered, release := c.engine.Hold("pull")
	id := c.call(200, "POST", "/api/updates", body(serviceUpdate(web))).json["jobId"].(string)
	<-entered
	if g := c.call(200, "GET", "/api/jobs/"+id, ""); !strings.Contains(g.body, `"status":"running"`) ||
		!strings.Contains(g.body, `"logs":[{`) {
		c.Errorf("while it runs: %s", g.body)
	}
	c.call(200, "POST", "/api/jobs/"+id+"/cancel", "")
	job := c.ended(id)
	release()
	if job.Status != "canceled" || job.ResultReason == nil || c.runs("blog", "web") != imageID(1) {
		c.Errorf("canceled: %+v", job)
	}
	c.refused(409, "conflict", "POST", "/api/jobs/"+id+"/cancel", "")
	c.call(200, "GET", "/api/jobs/"+id, "")
}

// TestUpdateIsRefused: what is wrong with a request for an update is found in the documented order, so that of two mistakes
// the earlier is told.
func TestUpdateIsRefused(t *testing.T) {
	forEach(t, func(_ *testing.T, e *env) {
		e.project("arm", 1, map[string]string{"app": imageHost + "/acme/arm:1"})
		e.publish(imageHost+"/acme/arm:1", 9, func(i *fake.Image) { i.Platforms = platforms(9)[1:] })
		e.town()
		c := newContract(e)
		for _, m := range mistakes(e) {
			g := c.call(m.status, "POST", "/api/updates", body(m.body))
			for name, want := range m.want {
				if fmt.Sprint(g.json[name]) != want {
					e.Errorf("%s: want %s = %s: %s", m.name, name, want, g.body)
				}
			}
		}
		e.minimumAge(c)
		if n := e.locksHeld(); n != 0 {
			e.Errorf("%d locks are held after nothing but refusals", n)
		}
	})
}

type mistake struct {
	name   string
	body   map[string]any
	status int
	want   map[string]string
}

// mistakes are requests of which each has the named mistake and one that comes later in the order.
func mistakes(e *env) []mistake {
	web, app, db := e.serviceOf("blog", "web"), e.serviceOf("shop", "app"), e.serviceOf("shop", "db")
	arm, self := e.serviceOf("arm", "app"), e.serviceOf("self", "patchbay")
	target := func(svc *record.Service, more ...any) map[string]any {
		m := map[string]any{"serviceId": svc.ID, "targetTag": svc.Tag, "targetDigest": svc.CandidateDigest, "pullTags": []string{}}
		for i := 0; i+1 < len(more); i += 2 {
			if m[more[i].(string)] = more[i+1]; more[i+1] == nil {
				delete(m, more[i].(string))
			}
		}
		return m
	}
	one := func(svc *record.Service, more ...any) map[string]any {
		return target(svc, append([]any{"scope", "service"}, more...)...)
	}
	all := func(scope string, targets ...map[string]any) map[string]any {
		return map[string]any{"scope": scope, "stackId": app.StackID, "targets": append([]map[string]any{}, targets...)}
	}
	bad := func(field string) map[string]string {
		return map[string]string{"code": "invalid_argument", "field": field}
	}
	coverage := func(missing, extra string) map[string]string {
		return map[string]string{"code": "invalid_argument", "field": "targets", "missingServiceIds": "[" + missing + "]",
			"extraServiceIds": "[" + extra + "]"}
	}
	busy := func(why string) map[string]string { return map[string]string{"code": "conflict", "reason": why} }
	return []mistake{
		{"scope before tag", one(web, "scope", "galaxy", "targetTag", nil), 400, bad("scope")},
		{"mode", one(web, "mode", "maybe"), 400, bad("mode")},
		{"backup mode", one(web, "backupMode", "sometimes"), 400, bad("backupMode")},
		{"service before its target", one(web, "serviceId", nil, "targetTag", nil), 400, bad("serviceId")},
		{"stack before targets", map[string]any{"scope": "stack"}, 400, bad("stackId")},
		{"tag before digest", one(web, "targetTag", nil, "targetDigest", nil), 400, bad("targetTag")},
		{"digest before pull tags", one(web, "targetDigest", nil, "pullTags", nil), 400, bad("targetDigest")},
		{"no pull tags", one(web, "pullTags", nil), 400, bad("pullTags")},
		{"both forms", one(web, "targets", []any{target(web)}, "targetTag", "x"), 400, bad("targets")},
		{"another target", map[string]any{"scope": "service", "serviceId": web.ID, "targets": []any{target(app)}}, 400, bad("targets")},
		{"two targets", map[string]any{"scope": "service", "serviceId": web.ID, "targets": []any{target(web), target(app)}}, 400, bad("targets")},
		{"no targets of a stack", all("stack"), 400, bad("targets")},
		{"no targets at all", all("all"), 400, bad("targets")},
		{"form before existence", one(web, "serviceId", unknownID, "targetDigest", "sha256:12"), 400, bad("targetDigest")},
		{"form of the tag before coverage", all("stack", target(web, "targetTag", "a b")), 400, bad("targetTag")},
		{"form of the pull tags", one(web, "pullTags", []string{""}, "targetTag", "9"), 400, bad("pullTags")},
		{"form of a pull tag", one(web, "pullTags", []string{"a/b"}), 400, bad("pullTags")},
		{"twice before coverage", all("stack", target(web), target(web)), 400, bad("targets")},
		{"unknown service", one(web, "serviceId", unknownID, "targetTag", "9"), 400, bad("serviceId")},
		{"unknown stack before coverage", map[string]any{"scope": "stack", "stackId": "stk_none", "targets": []any{target(web)}}, 400,
			bad("stackId")},
		{"extra and missing", all("stack", target(db, "targetDigest", digest(3))), 400, coverage(app.ID, db.ID)},
		{"extra before its tag", all("stack", target(app), target(web, "targetTag", "9")), 400, coverage("", web.ID)},
		{"missing of everything", all("all", target(app)), 400, coverage(web.ID, "")},
		{"self before its tag", one(self, "targetTag", "9"), 409, busy("managed_via_supervisor")},
		{"tag before digest that is not the candidate", one(web, "targetTag", "9", "targetDigest", digest(77)), 400,
			map[string]string{"code": "invalid_argument", "field": "targetTag", "expectedTag": "1", "gotTag": "9"}},
		{"not the candidate, before architecture", one(arm, "targetDigest", digest(77)), 409, busy("rescan_required")},
		{"no candidate", one(db, "targetDigest", digest(3)), 409, busy("rescan_required")},
		{"architecture", one(arm), 400, map[string]string{"code": "invalid_argument", "field": "allowArchMismatch", "reason": "arch_mismatch"}},
	}
}

// minimumAge: a version that is too young is not applied, whether the service says so or the settings do.
func (e *env) minimumAge(c *contract) {
	e.Helper()
	web := e.serviceOf("blog", "web")
	c.call(200, "PUT", "/api/services/"+web.ID+"/settings", `{"minimumAgeSeconds":3600}`)
	after := api.TimeOfMillis(web.CandidateSince + 3600_000).String()
	c.refused(409, "conflict", "POST", "/api/updates", body(serviceUpdate(web)), "reason", "minimum_age", "applyAfter", after)
	if g := c.call(200, "GET", "/api/services/"+web.ID, ""); !strings.Contains(g.body, `"applyAfter":"`+after) ||
		!strings.Contains(g.body, `"status":"waiting"`) {
		e.Errorf("while it waits: %s", g.body)
	}
	c.call(200, "PUT", "/api/services/"+web.ID+"/settings", `{"minimumAgeSeconds":null}`)
	set := e.set
	set.MinAge = 2 * 3600_000_000_000
	e.must(e.svc.Reload(set, e.svc.state.Load().providers))
	c.refused(409, "conflict", "POST", "/api/updates", body(serviceUpdate(web)), "reason", "minimum_age", "applyAfter",
		api.TimeOfMillis(web.CandidateSince+7200_000).String())
	e.advance(2*3600_000_000_000 + 1_000_000_000)
	if job := e.ended(c.call(200, "POST", "/api/updates", body(serviceUpdate(web))).json["jobId"].(string)); job.Status != "success" {
		e.Errorf("old enough: %+v", job)
	}
}
