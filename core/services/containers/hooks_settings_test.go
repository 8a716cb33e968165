package containers

import (
	"net/http"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/services/containers/webhook"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

func TestHookSettings(t *testing.T) {
	hookDialects(t, func(e *hookEnv) {
		put := func(status int, body string) hookGot {
			e.Helper()
			return e.api(status, http.MethodPut, "/settings", body)
		}
		got := e.api(200, http.MethodGet, "/settings", "")
		if got.json["enabled"] != false || got.json["patMasked"] != nil || got.json["secretMasked"] != nil || got.json["reposTotal"] != 0.0 ||
			len(got.list("targets")) != 0 {
			t.Errorf("fresh: %s", got.body)
		}
		with := func(url string) string { return `{"enabled":true,"callbackUrl":"` + url + `","pat":"` + hookPAT + `"}` }
		for _, url := range []string{
			"", "x", "http://patchbay.example/api/webhooks/host-packages", "https://patchbay.example/",
			"https://u:p@patchbay.example/api/webhooks/host-packages",
			"https://patchbay.example/api/webhooks/host-packages?x=1", "https:///api/webhooks/host-packages",
			"ftp://localhost/api/webhooks/host-packages", "https://patchbay.example/api/webhooks/host-packages/",
		} {
			put(400, with(url))
		}
		put(400, `{"enabled":true,"callbackUrl":"`+hookCallback+`"}`)
		put(400, `{"enabled":true,"callbackUrl":"`+hookCallback+`","pat":"a b"}`)
		put(400, `{"callbackUrl":""}`)
		put(400, `no json`)
		put(400, `{"enabled":false,"callbackUrl":"","repos":[{"fullName":"x","selected":true}]}`)
		if e.secret() != "" {
			t.Error("a refused change made the secret")
		}
		put(200, with("http://127.0.0.1:8080/base/api/webhooks/host-packages"))
		first := e.secret()
		if len(first) != webhook.SecretLength {
			t.Errorf("the secret has %d characters", len(first))
		}
		for _, pat := range []string{"", webhook.Masked, "••••••••••••••••"} {
			put(200, `{"enabled":true,"callbackUrl":"`+hookCallback+`","pat":"`+pat+`"}`)
			if stored, secret, _ := e.storedSecrets(); stored != hookPAT || secret != first {
				t.Errorf("%q changed something", pat)
			}
		}
		got = e.api(200, http.MethodGet, "/settings", "")
		if got.text("patMasked") != webhook.Masked || got.text("secretMasked") != webhook.Masked || got.text("callbackUrl") != hookCallback ||
			got.json["enabled"] != true {
			t.Errorf("%s", got.body)
		}
		put(200, `{"enabled":false,"callbackUrl":"","pat":"another"}`)
		if pat, _, enabled := e.storedSecrets(); pat != "another" || enabled {
			t.Errorf("%q, enabled %v", pat, enabled)
		}
		e.without()
		put(400, with(hookCallback))
		e.nothingLeaks()
	})
}

func TestHookSettingsReplaceTargetsAndSelect(t *testing.T) {
	hookDialects(t, func(e *hookEnv) {
		e.host.SetResolution("team", codehost.Resolution{Kind: codehost.KindOwner, Owner: "team",
			Repos: []codehost.Repo{{FullName: "team/a"}, {FullName: "Team/B", Visibility: "private"}}, Warnings: []string{"not all"}})
		e.host.SetResolution("me/app", codehost.Resolution{Kind: codehost.KindRepo, Owner: "me", Repos: []codehost.Repo{{FullName: "me/app"}}})
		begin := `{"enabled":true,"callbackUrl":"` + hookCallback + `","pat":"` + hookPAT + `",`
		e.api(200, http.MethodPut, "/settings", begin+`"targets":[{"input":"team"},{"input":" me/app "}],"repos":[{"fullName":"TEAM/b","selected":true},{"fullName":"me/new","selected":true},{"fullName":"team/a","selected":false}]}`)
		got := e.api(200, http.MethodGet, "/settings", "")
		if got.json["reposTotal"] != 4.0 || got.json["reposSelectedTotal"] != 2.0 || len(got.list("targets")) != 2 {
			t.Errorf("%s", got.body)
		}
		if r := e.repo("team/b"); r == nil || !r.Selected || r.FullName != "Team/B" || r.WebhookState != webhook.StateQueued ||
			r.Visibility != "private" {
			t.Errorf("%+v", r)
		}
		if n := len(e.jobs(work.JobHook)); n != 1 {
			t.Errorf("%d jobs", n)
		}
		calls := len(e.host.Calls())
		e.api(200, http.MethodPut, "/settings", begin+`"targets":[{"input":"me/app"}]}`)
		if len(e.host.Calls()) != calls {
			t.Error("a known input was resolved again")
		}
		if e.repo("team/a") != nil || e.repo("team/b") == nil || e.repo("me/app") == nil {
			t.Error("a target that is gone takes its idle repositories along, and no others")
		}
		e.api(400, http.MethodPut, "/settings", begin+`"targets":[{"input":"nobody"}]}`)
		got = e.api(200, http.MethodGet, "/settings", "")
		if len(got.list("targets")) != 1 {
			t.Errorf("a refused change left something: %s", got.body)
		}
		e.nothingLeaks()
	})
}

func TestResolveAndTargets(t *testing.T) {
	hookDialects(t, func(e *hookEnv) {
		team := codehost.Resolution{Kind: codehost.KindOwner, Owner: "team",
			Repos: []codehost.Repo{{FullName: "team/a", Visibility: "public"}, {FullName: "team/b"}, {FullName: "../odd"}}}
		e.host.SetResolution("https://host.example/team", team)
		in := `{"input":"https://host.example/team"}`
		if g := e.post(422, "/resolve", in); g.text("reason") != webhook.WhyNoToken {
			t.Errorf("%s", g.body)
		}
		if g := e.post(400, "/targets/add", in); g.text("reason") != webhook.WhyNoToken {
			t.Errorf("%s", g.body)
		}
		e.setUp()
		for _, tt := range []struct {
			err    error
			status int
		}{
			{fake.CodeHostError(401, 0), 422}, {fake.CodeHostError(403, 0), 422}, {fake.CodeHostError(404, 0), 400},
			{fake.CodeHostError(422, 0), 400}, {fake.CodeHostError(429, 2*webhook.Patience), 502},
		} {
			e.host.Fail("https://host.example/team", tt.err)
			e.post(tt.status, "/resolve", in)
		}
		e.host.Fail("https://host.example/team", fake.CodeHostError(503, 0), fake.CodeHostError(503, 0), fake.CodeHostError(503, 0))
		e.post(502, "/resolve", in)
		e.host.Fail("https://host.example/team", fake.CodeHostError(403, 0))
		e.post(400, "/targets/add", in)
		for _, bad := range []string{`{"input":""}`, `{"input":"` + strings.Repeat("a", 600) + `"}`, `{}`, `x`} {
			e.post(400, "/resolve", bad)
			e.post(400, "/targets/add", bad)
			e.post(400, "/targets/remove", bad)
		}
		if e.repo("team/a") != nil {
			t.Error("resolving tracks nothing")
		}
		got := e.post(200, "/targets/add", in)
		if got.json["reposAdded"] != 2.0 || got.text("kind") != "owner" || got.text("owner") != "team" {
			t.Errorf("%s", got.body)
		}
		if got := e.post(200, "/targets/add", in); got.json["reposAdded"] != 0.0 {
			t.Errorf("%s", got.body)
		}
		e.post(200, "/repos/selected", `{"fullName":"team/b","selected":true}`)
		got = e.post(200, "/resolve", in)
		repos := got.list("repos")
		if len(repos) != 3 || repos[1].(map[string]any)["selected"] != true || repos[0].(map[string]any)["selected"] != false ||
			repos[0].(map[string]any)["visibility"] != "public" {
			t.Errorf("%s", got.body)
		}
		e.post(200, "/targets/remove", in)
		e.post(200, "/targets/remove", in)
		if e.repo("team/a") != nil || e.repo("team/b") == nil {
			t.Error("idle repositories go with their target, selected ones stay")
		}
		e.without()
		if g := e.post(422, "/resolve", in); g.text("reason") != webhook.WhyNoHost {
			t.Errorf("%s", g.body)
		}
		e.nothingLeaks()
	})
}

func TestHooksNeedAPerson(t *testing.T) {
	hookDialects(t, func(e *hookEnv) {
		for _, route := range []string{
			"GET /settings", "PUT /settings", "GET /repos", "POST /repos/selected", "POST /repos/delete", "POST /repos/bulk-selected",
			"POST /targets/add", "POST /targets/remove",
			"POST /resolve", "GET /webhook/overview", "GET /webhook/deliveries", "GET /webhook/deliveries/events", "POST /webhook/sync-all",
			"POST /webhook/sync-repo", "POST /sync",
		} {
			method, path, _ := strings.Cut(route, " ")
			if g := e.send(method, "/api/host-packages"+path, "{}"); g.status != 401 || g.text("code") != "auth_required" {
				t.Errorf("%s: %d %s", route, g.status, g.body)
			}
		}
	})
}

func TestDeployCheckOfHooks(t *testing.T) {
	hookDialects(t, func(e *hookEnv) {
		if c := deployCheck(e, e.svc, "feature.github_packages"); c.Status != "na" || c.NAReason != "disabled_by_switch" {
			t.Errorf("%+v", c)
		}
		e.setUp()
		if c := deployCheck(e, e.svc, "feature.github_packages"); c.Status != "fail" || !strings.Contains(c.Evidence, "selected repository") ||
			strings.Contains(c.Evidence, "token") {
			t.Errorf("%+v", c)
		}
		e.track("team/app", true)
		if c := deployCheck(e, e.svc, "feature.github_packages"); c.Status != "pass" {
			t.Errorf("%+v", c)
		}
		e.without()
		if c := deployCheck(e, e.svc, "feature.github_packages"); c.Status != "fail" || !strings.Contains(c.Evidence, "codehost") {
			t.Errorf("%+v", c)
		}
	})
}
