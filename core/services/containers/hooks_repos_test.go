package containers

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/webhook"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

func TestSelectAndDelete(t *testing.T) {
	hookDialects(t, func(e *hookEnv) {
		e.setUp()
		e.track("T/App", false)
		for _, path := range []string{"/repos/selected", "/repos/delete"} {
			e.post(400, path, `{"fullName":"t/unknown","selected":true}`)
			e.post(400, path, `{"fullName":"nonsense","selected":true}`)
			e.post(400, path, `{}`)
		}
		on := e.post(200, "/repos/selected", `{"fullName":"t/app","selected":true}`)
		if r := e.repo("t/app"); on.text("jobId") == "" || !r.Selected || r.WebhookState != webhook.StateQueued || r.JobID != on.text("jobId") {
			t.Fatalf("%s %+v", on.body, r)
		}
		if g := e.post(200, "/repos/selected", `{"fullName":"t/app","selected":true}`); g.json["jobId"] != nil {
			t.Errorf("nothing changed: %s", g.body)
		}
		e.run()
		e.ended(on.text("jobId"))
		if r := e.repo("t/app"); r.WebhookState != webhook.StateOK || len(e.host.HooksOf("T/App")) != 1 || r.LastOp != webhook.OpRegister {
			t.Fatalf("%+v", r)
		}
		off := e.post(200, "/repos/selected", `{"fullName":"t/app","selected":false}`)
		e.ended(off.text("jobId"))
		if r := e.repo("t/app"); r.WebhookState != webhook.StateUnknown || r.HookID != "" || len(e.host.HooksOf("T/App")) != 0 {
			t.Errorf("%+v", r)
		}
		e.ended(e.post(200, "/repos/selected", `{"fullName":"t/app","selected":true}`).text("jobId"))
		// A code host that refuses keeps the repository, with the error.
		e.host.Fail("T/App", fake.CodeHostError(403, 0))
		bad := e.ended(e.post(200, "/repos/delete", `{"fullName":"t/app"}`).text("jobId"))
		if r := e.repo("t/app"); bad.State != queue.Failed || r == nil || r.Removing || r.WebhookState != webhook.StateError ||
			r.LastError == "" || r.Selected {
			t.Errorf("%+v %+v", bad, r)
		}
		e.ended(e.post(200, "/repos/delete", `{"fullName":"t/app"}`).text("jobId"))
		if e.repo("t/app") != nil || len(e.host.HooksOf("T/App")) != 0 {
			t.Error("the repository, or its webhook, is still there")
		}
		e.nothingLeaks()
	})
}

func TestDeleteIsUnderWay(t *testing.T) {
	hookDialects(t, func(e *hookEnv) {
		e.setUp("t/app")
		e.host.AddHook("t/app", hookSpec(hookCallback))
		del := e.post(200, "/repos/delete", `{"fullName":"t/app"}`)
		if again := e.post(200, "/repos/delete", `{"fullName":"t/app"}`); again.text("jobId") != del.text("jobId") {
			t.Errorf("%s", again.body)
		}
		if g := e.post(409, "/webhook/sync-repo", `{"fullName":"t/app"}`); g.text("existingJobId") != del.text("jobId") {
			t.Errorf("%s", g.body)
		}
		page := e.api(200, http.MethodGet, "/repos", "")
		if r := page.list("repos")[0].(map[string]any); r["removing"] != true || r["webhookState"] != webhook.StateQueued ||
			r["webhookJobId"] != del.text("jobId") {
			t.Errorf("%s", page.body)
		}
		// A person who wants it back gets it, with its webhook.
		back := e.post(200, "/repos/selected", `{"fullName":"t/app","selected":true}`)
		e.run()
		e.ended(del.text("jobId"))
		e.ended(back.text("jobId"))
		if r := e.repo("t/app"); r == nil || r.Removing || r.WebhookState != webhook.StateOK || len(e.host.HooksOf("t/app")) != 1 {
			t.Errorf("%+v", r)
		}
	})
}

func TestCanceledJobLeavesNothingWaiting(t *testing.T) {
	hookDialects(t, func(e *hookEnv) {
		e.setUp("t/app")
		del := e.post(200, "/repos/delete", `{"fullName":"t/app"}`)
		if _, err := e.queue.Cancel(context.Background(), del.text("jobId")); err != nil {
			t.Fatal(err)
		}
		page := e.api(200, http.MethodGet, "/repos", "")
		if r := page.list("repos")[0].(map[string]any); r["removing"] != nil || r["webhookState"] != webhook.StateUnknown {
			t.Errorf("%s", page.body)
		}
		e.post(400, "/webhook/sync-repo", `{"fullName":"t/app"}`)
		if again := e.post(200, "/repos/delete", `{"fullName":"t/app"}`); again.text("jobId") == del.text("jobId") {
			t.Errorf("%s", again.body)
		}
	})
}

func TestDeleteWhileOff(t *testing.T) {
	hookDialects(t, func(e *hookEnv) {
		e.setUp("t/app", "t/lost")
		e.api(200, http.MethodPut, "/settings", `{"enabled":false,"callbackUrl":"`+hookCallback+`"}`)
		if g := e.post(200, "/repos/selected", `{"fullName":"t/app","selected":false}`); g.json["jobId"] != nil {
			t.Errorf("a job while the integration is off: %s", g.body)
		}
		e.run()
		e.host.Fail("t/lost", fake.CodeHostError(403, 0))
		e.ended(e.post(200, "/repos/delete", `{"fullName":"t/lost"}`).text("jobId"))
		e.without()
		e.ended(e.post(200, "/repos/delete", `{"fullName":"t/app"}`).text("jobId"))
		if e.repo("t/app") != nil || e.repo("t/lost") != nil {
			t.Error("a repository cannot be got rid of")
		}
	})
}

func TestBulkSelectAndList(t *testing.T) {
	hookDialects(t, func(e *hookEnv) {
		e.setUp()
		for _, name := range []string{"t/a", "t/b", "t/c", "u/a", "u/a_b", "u/aXb"} {
			e.track(name, false)
		}
		if g := e.post(200, "/repos/bulk-selected", `{"q":"T/","selected":true}`); g.json["affected"] != 3.0 {
			t.Errorf("%s", g.body)
		}
		if g := e.post(200, "/repos/bulk-selected", `{"q":"a_b","selectedFilter":"unselected","selected":true}`); g.json["affected"] != 1.0 {
			t.Errorf("%s", g.body)
		}
		e.post(400, "/repos/bulk-selected", `{"selectedFilter":"x","selected":true}`)
		// A misspelt filter selects nothing, least of all everything.
		if g := e.post(400, "/repos/bulk-selected", `{"query":"t/","selected":true}`); !strings.Contains(g.body, "query") {
			t.Errorf("%s", g.body)
		}
		if g := e.post(200, "/repos/bulk-selected", `{"selected":true,"dryRun":true}`); g.json["affected"] != 2.0 {
			t.Errorf("%s", g.body)
		}
		e.post(400, "/repos/bulk-selected", `{}`)
		jobs := e.jobs(work.JobHook)
		if len(jobs) != 2 {
			t.Fatalf("%d jobs", len(jobs))
		}
		e.run()
		var sum webhook.HookSummary
		if job := e.ended(jobs[1].ID); json.Unmarshal(job.Result, &sum) != nil || sum.Created != 3 || sum.Total != 3 {
			t.Errorf("%+v", job)
		}
		e.ended(jobs[0].ID)
		for path, want := range map[string][2]int{
			"/repos": {6, 6}, "/repos?q=T/": {3, 3}, "/repos?selectedFilter=selected": {4, 4}, "/repos?selectedFilter=unselected": {2, 2},
			"/repos?page=2&perPage=4": {6, 2}, "/repos?q=%25": {0, 0},
		} {
			g := e.api(200, http.MethodGet, path, "")
			if g.json["filteredTotal"] != float64(want[0]) || len(g.list("repos")) != want[1] || g.json["total"] != 6.0 ||
				g.json["selectedTotal"] != 4.0 {
				t.Errorf("%s: %s", path, g.body)
			}
		}
		for _, bad := range []string{"?page=0", "?perPage=0", "?perPage=201", "?selectedFilter=x"} {
			e.api(400, http.MethodGet, "/repos"+bad, "")
		}
		if g := e.post(200, "/repos/bulk-selected", `{"selected":false}`); g.json["affected"] != 4.0 {
			t.Errorf("%s", g.body)
		}
		e.ended(e.jobs(work.JobHook)[0].ID)
		for _, name := range []string{"t/a", "u/a_b"} {
			if len(e.host.HooksOf(name)) != 0 {
				t.Errorf("%s has its webhook still", name)
			}
		}
		if g := e.post(200, "/repos/bulk-selected", `{"selected":false}`); g.json["affected"] != 0.0 {
			t.Errorf("%s", g.body)
		}
	})
}
