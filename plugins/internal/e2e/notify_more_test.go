package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/codehost/github/githubtest"
	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/notify/telegram/telegramtest"
)

// TestNotifyReloadAndStopWhileSending: a reload lets what is being sent end, and so does an ordinary stop, or the outcome
// says so.
func TestNotifyReloadAndStopWhileSending(t *testing.T) {
	t.Parallel()
	bin := dockertest.NewestCompose(t)
	o := outletsFor(t, "chat", "webhook")
	a := startApp(t, bin, dockertest.Behaviour{Version: "1.0.0", Healthcheck: true})
	c := startNotify(t, o, bin.Path)
	st := c.stackNamed(t, a.project).ID

	o.hook.holds()
	first := c.news(t, a, st, "1.1.0")
	eventually(t, startWithin, "the webhook has the post", func() bool { return len(o.hook.all()) == 1 })
	c.configure(strings.Replace(o.hcl(bin.Path), "allow_hosts = ["+fmt.Sprintf("%q", o.hook.host),
		"timeout = \"14s\"\nallow_hosts = ["+fmt.Sprintf("%q", o.hook.host), 1))
	c.hup()
	o.hook.release()
	m := c.becomes(t, first, o.every("delivered", nil))
	if n := len(o.hook.all()); n != 1 || m.to(t, "webhook").Attempts != 1 {
		t.Errorf("%d posts, and the delivery is %+v", n, m.to(t, "webhook"))
	}

	o.hook.holds()
	o.bot.Fail("", telegramtest.Failure{Hang: true, Kept: true})
	second := c.news(t, a, st, "1.2.0")
	c.becomes(t, second, o.every("sending", nil))
	eventually(t, startWithin, "both have it", func() bool { return len(o.hook.all()) == 2 && o.bot.Requests() == 3 })
	c.stop()
	if c.cmd.ProcessState.ExitCode() != 0 {
		t.Errorf("the core ended with status %d", c.cmd.ProcessState.ExitCode())
	}
	o.hook.release()
	o.bot.Heal()
	asked := o.bot.Requests()
	c.start()
	m = c.becomes(t, second, o.every("delivered", map[string]string{"chat": "unknown"}))
	if d := m.to(t, "chat"); d.Error != "it was interrupted while it was being sent" || o.bot.Requests() != asked {
		t.Errorf("after %d more requests the delivery is %+v", o.bot.Requests()-asked, d)
	}
	ids := map[string]int{}
	for _, p := range o.hook.all()[1:] {
		ids[webhookID(p)]++
	}
	if len(ids) != 1 || ids[m.to(t, "webhook").ID] == 0 {
		t.Errorf("posted %v", ids)
	}
	c.becomes(t, c.news(t, a, st, "1.3.0"), o.every("delivered", nil))
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
	c.api(t, http.MethodPut, "/api/host-packages/settings", fmt.Sprintf(
		`{"enabled":true,"callbackUrl":"https://patchbay.example.org/api/webhooks/host-packages","pat":%q,"targets":[{"input":%q}],"repos":[{"fullName":%q,"selected":true}]}`, pat, repo, repo), http.StatusOK)
	c.finished(t, c.beginJob(t, "/api/host-packages/webhook/sync-repo", fmt.Sprintf(`{"fullName":%q}`, repo)), "success")
	for _, h := range host.Hooks(repo) {
		req, err := http.NewRequest(http.MethodDelete, fmt.Sprintf("%s/repos/%s/hooks/%d", host.URL, repo, h.ID), nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+pat)
		resp, err := http1.Do(req)
		if err != nil || resp.StatusCode != http.StatusNoContent {
			t.Fatalf("delete the hook: %v, %v", resp, err)
		}
		_ = resp.Body.Close()
	}
	audit := func(enabled bool) {
		t.Helper()
		now := ask[struct{ Backup any }](t, c, "/api/settings")
		c.api(t, http.MethodPut, "/api/settings", jsonOf(t, map[string]any{
			"backup": now.Backup, "schedules": map[string]any{"ghcrWebhookAudit": map[string]any{"enabled": enabled, "cron": "* * * * * *"}},
		}), http.StatusOK)
	}
	audit(true)
	eventually(t, startWithin, "the audit tells", func() bool { return len(c.history(t)) > 0 })
	audit(false)
	all := c.history(t)
	m := c.becomes(t, all[len(all)-1].ID, o.every("delivered", nil))
	if m.Kind != "ghcr_webhook_anomaly" || m.Severity != "warning" || !strings.Contains(string(m.Payload), repo) {
		t.Errorf("the message is %+v: %s", m, m.Payload)
	}
	c.served(t, []byte(o.hook.all()[0].body))
	photo := o.bot.Messages()[0]
	contains(t, photo.Text, m.Title)
	shown(t, "notify-anomaly.png", photo.Photo)
	if strings.Contains(c.logs()+fmt.Sprint(o.bot.Messages(), o.hook.all()), pat) {
		t.Error("the access token is there")
	}
}
