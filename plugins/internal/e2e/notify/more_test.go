package notify

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/codehost/github/githubtest"
	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/notify/telegram/telegramtest"
)

// TestNotifyReloadAndStopWhileSending: a reload lets what is being sent end, and so does an ordinary stop, or the outcome
// says so.
func TestNotifyReloadAndStopWhileSending(t *testing.T) {
	t.Parallel()
	bin := dockertest.NewestCompose(t)
	o := outletsFor(t, "chat", "webhook")
	a := kit.StartApp(t, bin, dockertest.Behaviour{Version: "1.0.0", Healthcheck: true})
	c := startNotify(t, o, bin.Path)
	st := c.StackNamed(t, a.Project).ID

	o.hook.Holds()
	first := announceVersion(t, c, a, st, "1.1.0")
	kit.Eventually(t, kit.StartWithin, "the webhook has the post", func() bool { return len(listArrivals(o.hook)) == 1 })
	c.Configure(strings.Replace(o.hcl(bin.Path), "allow_hosts = ["+fmt.Sprintf("%q", o.hook.Host),
		"timeout = \"14s\"\nallow_hosts = ["+fmt.Sprintf("%q", o.hook.Host), 1))
	c.Reload()
	o.hook.Release()
	m := waitForStates(t, c, first, o.every("delivered", nil))
	if n := len(listArrivals(o.hook)); n != 1 || m.to(t, "webhook").Attempts != 1 {
		t.Errorf("%d posts, and the delivery is %+v", n, m.to(t, "webhook"))
	}

	o.hook.Holds()
	o.bot.Fail("", telegramtest.Failure{Hang: true, Kept: true})
	second := announceVersion(t, c, a, st, "1.2.0")
	waitForStates(t, c, second, o.every("sending", nil))
	kit.Eventually(t, kit.StartWithin, "both have it", func() bool { return len(listArrivals(o.hook)) == 2 && o.bot.Requests() == 3 })
	c.Stop()
	if c.Cmd.ProcessState.ExitCode() != 0 {
		t.Errorf("the core ended with status %d", c.Cmd.ProcessState.ExitCode())
	}
	o.hook.Release()
	o.bot.Heal()
	asked := o.bot.Requests()
	c.Start()
	m = waitForStates(t, c, second, o.every("delivered", map[string]string{"chat": "unknown"}))
	if d := m.to(t, "chat"); d.Error != "it was interrupted while it was being sent" || o.bot.Requests() != asked {
		t.Errorf("after %d more requests the delivery is %+v", o.bot.Requests()-asked, d)
	}
	ids := map[string]int{}
	for _, p := range listArrivals(o.hook)[1:] {
		ids[webhookID(p)]++
	}
	if len(ids) != 1 || ids[m.to(t, "webhook").ID] == 0 {
		t.Errorf("posted %v", ids)
	}
	waitForStates(t, c, announceVersion(t, c, a, st, "1.3.0"), o.every("delivered", nil))
}

// TestNotifyWebhookAnomaly has the scheduled audit find a package webhook that is not there.
func TestNotifyWebhookAnomaly(t *testing.T) {
	t.Parallel()
	bin := dockertest.NewestCompose(t)
	o := outletsFor(t, "chat", "webhook")
	host := githubtest.New(t)
	const pat, repo = "planted-personal-access-token", "demo/shop"
	host.Token(pat, "ops")
	host.AddOrg("demo")
	host.AddRepo(githubtest.Repo{FullName: repo})
	o.storage = fmt.Sprintf("codehost \"github\" \"main\" {\n  config { base_url = %q }\n}\n", host.URL)
	o.more = "  codehost = codehost.main\n"
	c := startNotify(t, o, bin.Path, "SVC_SCHEDULES=true")
	c.API(t, http.MethodPut, "/api/host-packages/settings", fmt.Sprintf(
		`{"enabled":true,"callbackUrl":"https://patchbay.example.org/api/webhooks/host-packages","pat":%q,"targets":[{"input":%q}],"repos":[{"fullName":%q,"selected":true}]}`, pat, repo, repo), http.StatusOK)
	c.Finished(t, c.BeginJob(t, "/api/host-packages/webhook/sync-repo", fmt.Sprintf(`{"fullName":%q}`, repo)), "success")
	for _, h := range host.Hooks(repo) {
		req, err := http.NewRequest(http.MethodDelete, fmt.Sprintf("%s/repos/%s/hooks/%d", host.URL, repo, h.ID), nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+pat)
		resp, err := kit.HTTPClient.Do(req)
		if err != nil || resp.StatusCode != http.StatusNoContent {
			t.Fatalf("delete the hook: %v, %v", resp, err)
		}
		_ = resp.Body.Close()
	}
	audit := func(enabled bool) {
		t.Helper()
		now := kit.Ask[struct{ Backup any }](t, c, "/api/settings")
		c.API(t, http.MethodPut, "/api/settings", jsonOf(t, map[string]any{
			"backup": now.Backup, "schedules": map[string]any{"ghcrWebhookAudit": map[string]any{"enabled": enabled, "cron": "* * * * * *"}},
		}), http.StatusOK)
	}
	audit(true)
	kit.Eventually(t, kit.StartWithin, "the audit tells", func() bool { return len(readHistory(t, c)) > 0 })
	audit(false)
	all := readHistory(t, c)
	m := waitForStates(t, c, all[len(all)-1].ID, o.every("delivered", nil))
	if m.Kind != "ghcr_webhook_anomaly" || m.Severity != "warning" || !strings.Contains(string(m.Payload), repo) {
		t.Errorf("the message is %+v: %s", m, m.Payload)
	}
	validatePayload(t, c, []byte(listArrivals(o.hook)[0].Body))
	photo := o.bot.Messages()[0]
	kit.Contains(t, photo.Text, m.Title)
	shown(t, "notify-anomaly.png", photo.Photo)
	if strings.Contains(c.Logs()+fmt.Sprint(o.bot.Messages(), listArrivals(o.hook)), pat) {
		t.Error("the access token is there")
	}
}
