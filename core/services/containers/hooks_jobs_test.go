package containers

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/webhook"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

func hookSpec(url string) codehost.HookSpec {
	return codehost.HookSpec{URL: url, Secret: "s", Events: []string{codehost.EventPackage}, Active: true}
}

func (e *hookEnv) sync(body string) map[string]webhook.SyncResult {
	e.Helper()
	var got struct{ Results []webhook.SyncResult }
	if err := json.Unmarshal([]byte(e.post(200, "/sync", body).body), &got); err != nil {
		e.Fatal(err)
	}
	out := map[string]webhook.SyncResult{}
	for _, r := range got.Results {
		out[r.Repo] = r
	}
	return out
}

func TestSync(t *testing.T) {
	hookDialects(t, func(e *hookEnv) {
		e.post(400, "/sync", `{}`)
		e.setUp()
		e.post(400, "/sync", `{}`)
		for _, name := range []string{"t/fresh", "t/same", "t/stale", "t/twice", "t/denied", "t/moved"} {
			e.track(name, true)
		}
		e.track("t/idle", false)
		same := e.host.AddHook("t/same", hookSpec(hookCallback))
		off := hookSpec(hookCallback)
		off.Active = false
		stale := e.host.AddHook("t/stale", off)
		one, two := e.host.AddHook("t/twice", hookSpec(hookCallback)), e.host.AddHook("t/twice", hookSpec(hookCallback))
		other := e.host.AddHook("t/fresh", hookSpec("https://other.example/api/webhooks/host-packages"))
		moved := e.host.AddHook("t/moved", hookSpec("https://former.example/api/webhooks/host-packages"))
		e.nameHook("t/moved", moved)
		e.post(400, "/sync", `{"repos":["t/idle"]}`)
		e.post(400, "/sync", `{"repos":["nonsense"]}`)
		e.post(400, "/sync", `{"resolveConflicts":[{"repo":"t/twice","keepHookId":"1","deleteHookIds":["1"]}]}`)
		e.post(400, "/sync", `{"repos":["t/fresh"],"resolveConflicts":[{"repo":"t/twice","keepHookId":"1","deleteHookIds":["2"]}]}`)
		dry := e.sync(`{"dryRun":true,"repos":["t/fresh","T/FRESH"]}`)
		if len(dry) != 1 || dry["t/fresh"].Action != webhook.ActionCreated || len(e.host.HooksOf("t/fresh")) != 1 ||
			e.repo("t/fresh").WebhookState != webhook.StateUnknown {
			t.Errorf("%+v", dry)
		}
		e.host.Fail("t/denied", fake.CodeHostError(403, 0), fake.CodeHostError(403, 0))
		got := e.sync("")
		for name, want := range map[string][2]string{
			"t/fresh": {webhook.ActionCreated, webhook.StateOK}, "t/same": {webhook.ActionNoop, webhook.StateOK},
			"t/stale": {webhook.ActionUpdated, webhook.StateOK}, "t/twice": {webhook.ActionConflict, webhook.StateConflict},
			"t/denied": {webhook.ActionError, webhook.StateError}, "t/moved": {webhook.ActionUpdated, webhook.StateOK},
		} {
			if r := e.repo(name); got[name].Action != want[0] || r.WebhookState != want[1] || r.LastSyncAt == 0 || r.LastOp != webhook.OpSync {
				t.Errorf("%s: %+v %+v", name, got[name], r)
			}
		}
		fresh := e.host.HooksOf("t/fresh")
		if len(fresh) != 2 || fresh[0].ID != other || !slices.Equal(fresh[1].Events, []string{codehost.EventPackage}) ||
			e.host.SecretOf(fresh[1].ID).Reveal() != e.secret() {
			t.Errorf("%+v", fresh)
		}
		if got["t/same"].HookID != same || got["t/stale"].HookID != stale || !e.host.HooksOf("t/stale")[0].Active ||
			e.host.HooksOf("t/moved")[0].URL != hookCallback {
			t.Errorf("%+v", got)
		}
		if c := got["t/twice"]; len(c.ConflictHooks) != 2 || len(e.host.HooksOf("t/twice")) != 2 {
			t.Errorf("%+v", c)
		}
		bad := e.sync(`{"repos":["t/twice"],"resolveConflicts":[{"repo":"t/twice","keepHookId":"` + one + `","deleteHookIds":["1"]}]}`)
		if bad["t/twice"].Action != webhook.ActionError || len(e.host.HooksOf("t/twice")) != 2 {
			t.Errorf("%+v", bad)
		}
		good := e.sync(`{"repos":["t/twice"],"resolveConflicts":[{"repo":"t/twice","keepHookId":"` + two + `","deleteHookIds":["` + one + `"]}]}`)
		if hooks := e.host.HooksOf("t/twice"); good["t/twice"].Action != webhook.ActionNoop || len(hooks) != 1 || hooks[0].ID != two ||
			e.repo("t/twice").WebhookState != webhook.StateOK {
			t.Errorf("%+v %+v", good, hooks)
		}
		again := e.sync(`{"repos":["t/fresh","t/stale","t/moved"]}`)
		for name, r := range again {
			if r.Action != webhook.ActionNoop {
				t.Errorf("%s again: %+v", name, r)
			}
		}
		e.nothingLeaks()
	})
}

// TestConflictIsResolvedInSpiteOfAnOutage: what was deleted before a call failed is no reason to refuse the rest.
func TestConflictIsResolvedInSpiteOfAnOutage(t *testing.T) {
	hookDialects(t, func(e *hookEnv) {
		e.setUp("t/many")
		var ids []string
		for range 3 {
			ids = append(ids, e.host.AddHook("t/many", hookSpec(hookCallback)))
		}
		// The hooks are listed, one is deleted, and the next call does not pass.
		e.host.Fail("t/many", nil, nil, fake.CodeHostError(503, time.Millisecond))
		got := e.sync(`{"resolveConflicts":[{"repo":"t/many","keepHookId":"` + ids[0] + `","deleteHookIds":["` + ids[1] + `","` + ids[2] +
			`"]}]}`)
		hooks := e.host.HooksOf("t/many")
		if got["t/many"].Action != webhook.ActionNoop || got["t/many"].HookID != ids[0] || len(hooks) != 1 || hooks[0].ID != ids[0] {
			t.Errorf("%+v, %+v", got["t/many"], hooks)
		}
	})
}

// callEnder is a code host whose caller is gone when it has made a webhook, before the answer is there.
type callEnder struct {
	client.CodeHost
	end context.CancelFunc
}

func (c callEnder) CreateHook(ctx context.Context, token schema.Secret, repo string, spec codehost.HookSpec) (*codehost.Hook, error) {
	hook, err := c.CodeHost.CreateHook(ctx, token, repo, spec)
	c.end()
	if ctx.Err() != nil {
		return nil, fault.FromPlugin("engine.fake", ctx.Err())
	}
	return hook, err
}

// TestSyncIsCalledOffWhenTheHookIsMade: the webhook is known nevertheless, and gets another callback URL in place of a second one beside
// it.
func TestSyncIsCalledOffWhenTheHookIsMade(t *testing.T) {
	hookDialects(t, func(e *hookEnv) {
		e.setUp("t/app")
		ctx, cancel := context.WithCancel(t.Context())
		host := e.svc.codeHost()
		e.hostedBy(callEnder{host, cancel})
		if _, err := e.svc.Webhooks.SyncHooks(ctx, webhook.SyncRequest{}); !errors.Is(err, context.Canceled) {
			t.Errorf("a call that was called off ended with %v", err)
		}
		e.hostedBy(host)
		const other = "https://other.example/api/webhooks/host-packages"
		e.api(200, http.MethodPut, "/settings", `{"enabled":true,"callbackUrl":"`+other+`"}`)
		got := e.sync("")["t/app"]
		if hooks := e.host.HooksOf("t/app"); got.Action != webhook.ActionUpdated || len(hooks) != 1 || hooks[0].URL != other {
			t.Errorf("%+v, %+v", got, hooks)
		}
	})
}

func TestSyncJobs(t *testing.T) {
	hookDialects(t, func(e *hookEnv) {
		e.post(400, "/webhook/sync-all", "")
		e.setUp()
		if g := e.post(400, "/webhook/sync-all", ""); g.text("reason") != "none_selected" {
			t.Errorf("%s", g.body)
		}
		e.track("t/a", true)
		e.track("t/b", true)
		e.track("t/idle", false)
		e.post(400, "/webhook/sync-repo", `{"fullName":"nonsense"}`)
		e.post(400, "/webhook/sync-repo", `{"fullName":"t/idle"}`)
		e.post(404, "/webhook/sync-repo", `{"fullName":"t/unknown"}`)
		first := e.post(200, "/webhook/sync-all", "")
		again := e.post(200, "/webhook/sync-all", "")
		if first.json["reused"] != false || again.json["reused"] != true || again.text("jobId") != first.text("jobId") ||
			first.text("status") != "queued" {
			t.Errorf("%s %s", first.body, again.body)
		}
		one := e.post(200, "/webhook/sync-repo", `{"fullName":"T/A"}`)
		if same := e.post(200, "/webhook/sync-repo", `{"fullName":"t/a"}`); one.json["reused"] != false || same.json["reused"] != true ||
			same.text("jobId") != one.text("jobId") {
			t.Errorf("%s %s", one.body, same.body)
		}
		other := e.post(200, "/webhook/sync-repo", `{"fullName":"t/b"}`)
		if other.text("jobId") == one.text("jobId") {
			t.Errorf("%s", other.body)
		}
		over := e.api(200, http.MethodGet, "/webhook/overview", "")
		if sum := over.json["summary"].(map[string]any); over.json["jobsQueued"] != 3.0 || over.json["jobsRunning"] != 0.0 ||
			sum["queued"] != 2.0 || sum["tracked"] != 3.0 || sum["unknown"] != 1.0 {
			t.Errorf("%s", over.body)
		}
		// A limit and an outage that pass are waited for.
		e.host.Fail("t/a", fake.CodeHostError(429, 10*time.Millisecond), fake.CodeHostError(503, 10*time.Millisecond))
		e.run()
		var sum webhook.HookSummary
		job := e.ended(first.text("jobId"))
		if err := json.Unmarshal(job.Result, &sum); err != nil || job.State != queue.Success || sum.Total != 2 || sum.Error != 0 ||
			job.Actor != "ann" {
			t.Errorf("%+v %v", job, err)
		}
		e.ended(one.text("jobId"))
		e.ended(other.text("jobId"))
		if r := e.repo("t/a"); r.WebhookState != webhook.StateOK || r.HookID == "" || len(e.host.HooksOf("t/a")) != 1 ||
			len(e.host.HooksOf("t/idle")) != 0 {
			t.Errorf("%+v", r)
		}
		// One that stays fails the job, and tells no secret.
		leak := errs.New(errs.Upstream, codes.PermissionDenied, errs.ReasonStatus, "the token "+hookPAT+" may not do that")
		e.host.Fail("t/b", fault.FromPlugin("engine.fake", leak))
		bad := e.ended(e.post(200, "/webhook/sync-repo", `{"fullName":"t/b"}`).text("jobId"))
		if r := e.repo("t/b"); bad.State != queue.Failed || r.WebhookState != webhook.StateError ||
			!strings.Contains(r.LastError, "may not do that") {
			t.Errorf("%+v %+v", bad, r)
		}
		e.host.Fail("t/b", fake.CodeHostError(429, 2*webhook.Patience))
		calls := len(e.host.Calls())
		e.ended(e.post(200, "/webhook/sync-repo", `{"fullName":"t/b"}`).text("jobId"))
		if n := len(e.host.Calls()) - calls; n != 1 {
			t.Errorf("%d calls although the code host asks for a long pause", n)
		}
		e.nothingLeaks()
	})
}

func TestJobsWhoseIntegrationIsGone(t *testing.T) {
	hookDialects(t, func(e *hookEnv) {
		e.setUp("t/app")
		e.track("t/b", false)
		e.track("t/c", false)
		jobs := []string{
			e.post(200, "/webhook/sync-repo", `{"fullName":"t/app"}`).text("jobId"),
			e.post(200, "/repos/selected", `{"fullName":"t/b","selected":true}`).text("jobId"),
			e.post(200, "/webhook/sync-all", "").text("jobId"),
		}
		e.api(200, http.MethodPut, "/settings", `{"enabled":false,"callbackUrl":"`+hookCallback+`"}`)
		e.post(400, "/webhook/sync-repo", `{"fullName":"t/app"}`)
		e.post(400, "/sync", `{}`)
		e.run()
		for _, id := range jobs {
			if job := e.ended(id); job.State != queue.Failed || job.Failure.Message != "The package webhooks are switched off." {
				t.Errorf("%+v %+v", job, job.Failure)
			}
		}
		for _, name := range []string{"t/app", "t/b"} {
			if r := e.repo(name); r.WebhookState != webhook.StateError || r.LastError == "" {
				t.Errorf("%+v", r)
			}
		}
		if calls := e.host.Calls(); len(calls) != 0 {
			t.Errorf("%+v", calls)
		}
	})
}

func TestAudit(t *testing.T) {
	hookDialects(t, func(e *hookEnv) {
		e.run()
		audit := func() (out webhook.AuditSummary) {
			t.Helper()
			job, _, err := e.svc.queue.SubmitJob(context.Background(),
				work.Submission{Kind: work.JobHook, Payload: webhook.Payload{Subject: work.Subject{Reason: work.ReasonSchedule},
					Op: webhook.OpAuditAll}})
			if err != nil {
				t.Fatal(err)
			}
			if job = e.ended(job.ID); job.State != queue.Success {
				t.Fatalf("%+v", job)
			}
			if err := json.Unmarshal(job.Result, &out); err != nil {
				t.Fatal(err)
			}
			return out
		}
		if got := audit(); got.Skipped != webhook.WhyDisabled || got.Total != 0 {
			t.Errorf("%+v", got)
		}
		e.setUp("t/good", "t/none", "t/twice", "t/down", "t/off")
		e.track("t/idle", false)
		e.host.AddHook("t/good", hookSpec(hookCallback))
		e.host.AddHook("t/twice", hookSpec(hookCallback))
		e.host.AddHook("t/twice", hookSpec(hookCallback))
		e.host.AddHook("t/off", codehost.HookSpec{URL: hookCallback, Events: []string{"push"}, Active: true})
		e.host.Fail("t/down", fake.CodeHostError(404, 0))
		got := audit()
		if got.Total != 5 || got.OK != 1 || got.Missing != 1 || got.Conflict != 1 || got.Error != 2 || len(got.Repos) != 4 {
			t.Errorf("%+v", got)
		}
		for name, want := range map[string]string{"t/good": webhook.StateOK, "t/none": webhook.StateMissing, "t/twice": webhook.StateConflict,
			"t/down": webhook.StateError, "t/off": webhook.StateError, "t/idle": webhook.StateUnknown} {
			if r := e.repo(name); r.WebhookState != want || (r.LastAuditAt == 0) != (name == "t/idle") {
				t.Errorf("%s: %+v", name, r)
			}
		}
		for _, c := range e.host.Calls() {
			if c.Method == "create" || c.Method == "update" || c.Method == "delete" {
				t.Errorf("an audit repairs nothing: %+v", c)
			}
		}
		over := e.api(200, http.MethodGet, "/webhook/overview", "")
		if sum := over.json["summary"].(map[string]any); over.text("lastAuditAt") == "" || sum["missing"] != 1.0 || sum["error"] != 2.0 ||
			sum["conflict"] != 1.0 {
			t.Errorf("%s", over.body)
		}
	})
}
