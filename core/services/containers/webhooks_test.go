package containers

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/candidate"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/webhook"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

func hookSpecOf(t testing.TB, j queue.Job) (spec struct {
	candidate.CheckJob
	AllowArchMismatch bool             `json:"allowArchMismatch"`
	BackupMode        string           `json:"backupMode"`
	Targets           []project.Target `json:"targets"`
}) {
	t.Helper()
	if err := j.Decode(&spec); err != nil {
		t.Fatal(err)
	}
	return spec
}

func TestWebhookChecksEachMatchingServiceOnce(t *testing.T) {
	hookDialects(t, func(e *hookEnv) {
		e.setUp("Team/App")
		ids := e.manage(hookImages+"/team/app:1", hookImages+"/team/app-worker:1", hookImages+"/team/other:1", "elsewhere.example/team/app:1",
			hookImages+"/team/app:2")
		body := hookPublished("Team/App", "app-worker")
		g := e.deliver("d1", body)
		want := []any{ids[0], ids[1], ids[4]}
		if g.status != 202 || len(g.list("jobIds")) != 3 || g.json["attemptCount"] != 1.0 || g.json["fallbackUsed"] != false ||
			len(g.list("reusedJobIds")) != 0 {
			t.Fatalf("%d %s", g.status, g.body)
		}
		if diff := cmp.Diff(want, g.list("matchedServiceIds")); diff != "" {
			t.Error(diff)
		}
		jobs := e.jobs(work.JobCheck)
		if len(jobs) != 3 {
			t.Fatalf("%d checks", len(jobs))
		}
		for _, j := range jobs {
			spec := hookSpecOf(t, j)
			if j.Actor != work.ActorCodeHost || spec.Reason != work.ReasonWebhook || spec.Scope != work.ScopeService || spec.Delivery == nil ||
				spec.Delivery.DeliveryID != "d1" {
				t.Errorf("%+v %+v", j, spec)
			}
		}
		if g := e.deliver("d1", body); g.status != 200 || g.text("reason") != webhook.IgnoredDuplicate || g.json["attemptCount"] != 2.0 {
			t.Errorf("%d %s", g.status, g.body)
		}
		if g := e.deliver("d2", body); g.status != 202 || len(g.list("reusedJobIds")) != 3 ||
			!cmp.Equal(g.list("jobIds"), g.list("reusedJobIds")) {
			t.Errorf("%d %s", g.status, g.body)
		}
		if n := len(e.jobs(work.JobCheck, work.JobDiscovery)); n != 3 {
			t.Errorf("%d jobs", n)
		}
		e.nothingLeaks()
	})
}

func TestWebhookFallsBackToADiscovery(t *testing.T) {
	hookDialects(t, func(e *hookEnv) {
		e.setUp("team/app")
		g := e.deliver("d1", hookPublished("team/app", "app"))
		if g.status != 202 || g.json["fallbackUsed"] != true || g.text("fallbackReason") != webhook.FallbackNoMatch || g.text("jobId") == "" {
			t.Fatalf("%d %s", g.status, g.body)
		}
		again := e.deliver("d2", `{"action":"published","owner":"TEAM"}`)
		if again.status != 202 || again.text("fallbackReason") != webhook.FallbackOwnerOnly || again.text("jobId") != g.text("jobId") ||
			len(again.list("reusedJobIds")) != 1 {
			t.Errorf("%d %s", again.status, again.body)
		}
		jobs := e.jobs(work.JobDiscovery)
		if len(jobs) != 1 || len(e.jobs(work.JobCheck)) != 0 {
			t.Fatalf("%d discoveries", len(jobs))
		}
		if spec := hookSpecOf(t, jobs[0]); jobs[0].Actor != work.ActorCodeHost || spec.Reason != work.ReasonWebhook ||
			spec.Delivery.FallbackReason != webhook.FallbackNoMatch {
			t.Errorf("%+v", spec)
		}
	})
}

func TestWebhookRefusals(t *testing.T) {
	hookDialects(t, func(e *hookEnv) {
		body := hookPublished("team/app", "app")
		send := func(body string, header ...string) hookGot {
			return e.send(http.MethodPost, webhook.CallbackPath, body, header...)
		}
		all := func(sig string) []string {
			return []string{webhook.HeaderSignature, sig, webhook.HeaderEvent, "package", webhook.HeaderDelivery, "d"}
		}
		if g := send(body, all(hookSign("", body))...); g.status != 401 || g.text("code") != "invalid_signature" ||
			g.text("reason") != webhook.SignatureNoSecret {
			t.Errorf("before the set-up: %d %s", g.status, g.body)
		}
		e.setUp("team/app")
		good := hookSign(e.secret(), body)
		for name, tt := range map[string]struct {
			body   string
			header []string
			status int
			code   string
		}{
			"no signature": {body, []string{webhook.HeaderEvent, "package", webhook.HeaderDelivery, "d"}, 400, "invalid_argument"},
			"no event":     {body, []string{webhook.HeaderSignature, good, webhook.HeaderDelivery, "d"}, 400, "invalid_argument"},
			"no delivery":  {body, []string{webhook.HeaderSignature, good, webhook.HeaderEvent, "package"}, 400, "invalid_argument"},
			"odd delivery": {body, []string{webhook.HeaderSignature, good, webhook.HeaderEvent, "package", webhook.HeaderDelivery, "a b"}, 400,
				"invalid_argument"},
			"long id": {body, []string{webhook.HeaderSignature, good, webhook.HeaderEvent, "package", webhook.HeaderDelivery,
				strings.Repeat("a", 201)}, 400, "invalid_argument"},
			"forged":      {body, all(hookSign("guess", body)), 401, "invalid_signature"},
			"no secret":   {body, all(hookSign("", body)), 401, "invalid_signature"},
			"other bytes": {strings.ReplaceAll(body, `":"`, `": "`), all(good), 401, "invalid_signature"},
			"sha1":        {body, all("sha1=" + good[7:]), 401, "invalid_signature"},
			"too large":   {strings.Repeat(" ", webhook.BodyLimit+1), all(good), 413, "payload_too_large"},
		} {
			if g := send(tt.body, tt.header...); g.status != tt.status || g.text("code") != tt.code {
				t.Errorf("%s: %d %s", name, g.status, g.body)
			}
		}
		if page := e.api(200, http.MethodGet, "/webhook/deliveries", ""); page.json["total"] != 0.0 {
			t.Errorf("something was recorded: %s", page.body)
		}
		largest := body + strings.Repeat(" ", webhook.BodyLimit-len(body))
		if g := send(largest, all(hookSign(e.secret(), largest))...); g.status != 202 {
			t.Errorf("the largest: %d %s", g.status, g.body)
		}
		e.without()
		if g := send(body, all(good)...); g.status != 401 || g.text("reason") != webhook.WhyNoHost {
			t.Errorf("no code host: %d %s", g.status, g.body)
		}
		e.nothingLeaks()
	})
}

func TestWebhookDecisions(t *testing.T) {
	hookDialects(t, func(e *hookEnv) {
		e.setUp("team/app")
		e.track("team/idle", false)
		published := hookPublished("team/app", "app")
		for i, tt := range []struct {
			event, body string
			status      int
			reason      string
			decision    string
		}{
			{"ping", `{}`, 200, webhook.IgnoredEvent, ""},
			{"ping", `no json`, 200, webhook.IgnoredEvent, ""},
			{"package", `no json`, 400, webhook.RejectedJSON, webhook.DecisionRejected},
			{"package", `[]`, 400, webhook.RejectedJSON, webhook.DecisionRejected},
			{"package", `{"action":"updated","repo":"team/app"}`, 200, webhook.IgnoredAction, webhook.DecisionIgnored},
			{"package", `{}`, 200, webhook.IgnoredAction, webhook.DecisionIgnored},
			{"package", hookPublished("team/idle", "x"), 200, webhook.IgnoredRepo, webhook.DecisionIgnored},
			{"package", hookPublished("team/unknown", "x"), 200, webhook.IgnoredRepo, webhook.DecisionIgnored},
			{"package", `{"action":"published","owner":"tea"}`, 200, webhook.IgnoredRepo, webhook.DecisionIgnored},
			{"package", `{"action":"published"}`, 200, webhook.IgnoredRepo, webhook.DecisionIgnored},
			{"package", `{"action":"published","owner":"\u0000","repo":"\u0000/\u0000"}`, 200, webhook.IgnoredRepo, webhook.DecisionIgnored},
			{"package", published, 202, "", webhook.DecisionProcessed},
		} {
			id := "zz" + string(rune('a'+i))
			g := e.send(http.MethodPost, webhook.CallbackPath, tt.body, webhook.HeaderSignature, hookSign(e.secret(), tt.body), webhook.AliasEvent,
				tt.event, webhook.AliasDelivery, id)
			if g.status != tt.status || g.text("reason") != tt.reason {
				t.Errorf("%s %s: %d %s", tt.event, tt.body, g.status, g.body)
			}
			page := e.api(200, http.MethodGet, "/webhook/deliveries?q="+id, "")
			var got webhook.DeliveryPage
			if err := json.Unmarshal([]byte(page.body), &got); err != nil {
				t.Fatal(err)
			}
			switch {
			case tt.decision == "" && got.Filtered != 0:
				t.Errorf("%s was recorded: %s", tt.body, page.body)
			case tt.decision != "" && (len(got.Deliveries) != 1 || got.Deliveries[0].Decision != tt.decision ||
				got.Deliveries[0].Reason != tt.reason && tt.reason != "" || got.Deliveries[0].ResponseStatus != tt.status):
				t.Errorf("%s: %s", tt.body, page.body)
			}
		}
		// A delivery that came before its repository was selected may come again.
		e.post(200, "/repos/selected", `{"fullName":"team/idle","selected":true}`)
		body := hookPublished("team/idle", "x")
		if g := e.deliver("zzg", body); g.status != 202 || g.json["attemptCount"] != 2.0 {
			t.Errorf("%d %s", g.status, g.body)
		}
		page := e.api(200, http.MethodGet, "/webhook/deliveries?decision=ignored&perPage=2&page=2", "")
		sum, _ := page.json["summary"].(map[string]any)
		if page.json["total"] != 10.0 || page.json["filteredTotal"] != 6.0 || len(page.list("deliveries")) != 2 || sum["processed"] != 2.0 ||
			sum["rejected"] != 2.0 || sum["ignored"] != 6.0 {
			t.Errorf("%s", page.body)
		}
		for _, bad := range []string{"?page=0", "?perPage=201", "?decision=x", "?page=x"} {
			e.api(400, http.MethodGet, "/webhook/deliveries"+bad, "")
		}
		e.api(200, http.MethodPut, "/settings", `{"enabled":false,"callbackUrl":""}`)
		if g := e.deliver("off", published); g.status != 200 || g.text("reason") != webhook.IgnoredDisabled {
			t.Errorf("%d %s", g.status, g.body)
		}
		if g := e.send(http.MethodPost, webhook.CallbackPath, published, webhook.HeaderSignature, hookSign("x", published), webhook.HeaderEvent,
			"package", webhook.HeaderDelivery, "off"); g.status != 401 {
			t.Errorf("%d %s", g.status, g.body)
		}
	})
}

func TestWebhookIsTakenWholeOrNotAtAll(t *testing.T) {
	hookDialects(t, func(e *hookEnv) {
		e.setUp("team/app")
		e.manage(hookImages+"/team/app:1", hookImages+"/team/app:2")
		table := "ALTER TABLE containers_delivery_events RENAME TO "
		exec := func(sql string) {
			t.Helper()
			if err := e.store.Tx(context.Background(), "break",
				func(ctx context.Context) error { return e.store.Writer(ctx).Exec(sql).Error }); err != nil {
				t.Fatal(err)
			}
		}
		exec(table + "containers_away")
		body := hookPublished("team/app", "app")
		if g := e.deliver("d1", body); g.status != 500 {
			t.Fatalf("%d %s", g.status, g.body)
		}
		if n := len(e.jobs(work.JobCheck)); n != 0 {
			t.Errorf("%d jobs were left", n)
		}
		exec("ALTER TABLE containers_away RENAME TO containers_delivery_events")
		if g := e.deliver("d1", body); g.status != 202 || g.json["attemptCount"] != 1.0 || len(g.list("jobIds")) != 2 {
			t.Errorf("%d %s", g.status, g.body)
		}
		e.host.Fail("package", errors.New("the plugin is gone"))
		if g := e.deliver("d2", body); g.status < 500 {
			t.Errorf("%d %s", g.status, g.body)
		}
		if g := e.deliver("d2", body); g.status != 202 || g.json["attemptCount"] != 1.0 {
			t.Errorf("%d %s", g.status, g.body)
		}
	})
}

func TestWebhooksAtOnce(t *testing.T) {
	hookDialects(t, func(e *hookEnv) {
		e.setUp("team/app", "team/b")
		e.manage(hookImages+"/team/app:1", hookImages+"/team/b:1", hookImages+"/team/app:2")
		var wg sync.WaitGroup
		var mu sync.Mutex
		count := map[int]int{}
		secret := e.secret()
		for i := range 24 {
			wg.Go(func() {
				body := hookPublished([]string{"team/app", "team/b"}[i%2], "x")
				id := []string{"same-app", "same-b"}[i%2]
				if i >= 12 {
					id = "d" + string(rune('a'+i))
				}
				req, _ := http.NewRequest(http.MethodPost, e.base+webhook.CallbackPath, strings.NewReader(body))
				req.Header.Set(webhook.HeaderSignature, hookSign(secret, body))
				req.Header.Set(webhook.HeaderEvent, "package")
				req.Header.Set(webhook.HeaderDelivery, id)
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					t.Error(err)
					return
				}
				_ = resp.Body.Close()
				mu.Lock()
				defer mu.Unlock()
				count[resp.StatusCode]++
			})
		}
		wg.Wait()
		if count[202] != 14 || count[200] != 10 || len(e.jobs(work.JobCheck)) != 3 {
			t.Errorf("%v, %d checks", count, len(e.jobs(work.JobCheck)))
		}
	})
}
