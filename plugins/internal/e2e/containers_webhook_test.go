package e2e

import (
	"fmt"
	"net/http"
	"path"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/codehost/github/githubtest"
	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
)

// TestContainersPackageWebhook has a code host tell of a published package: exactly one check of each service that uses it,
// nothing for the same delivery again, and both in the inbox, live.
func TestContainersPackageWebhook(t *testing.T) {
	t.Parallel()
	bin := dockertest.NewestCompose(t)
	a := startApp(t, bin, dockertest.Behaviour{Version: "1", Healthcheck: true})
	host := githubtest.New(t)
	const pat = "planted-personal-access-token"
	host.Token(pat, "ops")
	host.AddOrg("demo")
	host.AddRepo(githubtest.Repo{FullName: a.repo})
	c := startCore(t, fmt.Sprintf(`codehost "github" "main" {
  config { base_url = %q }
}
`, host.URL)+containersHCL(bin.Path, fmt.Sprintf("  codehost = codehost.main\n  package_hosts = [%q]\n", a.reg.Host)))
	web := c.stackNamed(t, a.project).service(t, "web")

	c.api(t, http.MethodPut, "/api/host-packages/settings", fmt.Sprintf(
		`{"enabled":true,"callbackUrl":"https://patchbay.example.org/api/webhooks/host-packages","pat":%q,"targets":[{"input":%q}],"repos":[{"fullName":%q,"selected":true}]}`, pat, a.repo, a.repo), http.StatusOK)
	c.finished(t, c.beginJob(t, "/api/host-packages/webhook/sync-repo", fmt.Sprintf(`{"fullName":%q}`, a.repo)), "success")
	hooks := host.Hooks(a.repo)
	if len(hooks) != 1 || hooks[0].URL != "https://patchbay.example.org/api/webhooks/host-packages" || hooks[0].Secret == "" {
		t.Fatalf("the code host has the hooks %+v", hooks)
	}

	digest := a.push(t, dockertest.Behaviour{Version: "2", Healthcheck: true})
	body := githubtest.Published(a.repo, path.Base(a.repo), "1", digest, true)
	deliver := func(id, signature string, body []byte) answer {
		h := http.Header{"X-Github-Event": {"package"}, "X-Github-Delivery": {id}, "X-Hub-Signature-256": {signature}}
		return c.send(t, request{path: "/api/webhooks/host-packages", body: string(body), header: h})
	}
	checks := func() []job {
		return ask[struct{ Jobs []job }](t, c, "/api/jobs?type=check,discovery&serviceId="+web.ID).Jobs
	}
	before := len(checks())
	live := make(chan []curled)
	go func() { live <- c.curl(t, "/api/host-packages/webhook/deliveries/events", "6", "Last-Event-ID: 0") }()

	if got := deliver("d-forged", githubtest.Sign("not the secret", body), body); got.status != http.StatusUnauthorized ||
		!strings.Contains(got.body, "invalid_signature") {
		t.Errorf("a forged delivery: %d %s", got.status, got.body)
	}
	good := githubtest.Sign(hooks[0].Secret, body)
	if got := deliver("d-1", good, append(body, '\n')); got.status != http.StatusUnauthorized {
		t.Errorf("the same text in other bytes: %d %s", got.status, got.body)
	}
	first := deliver("d-1", good, body)
	type outcome struct {
		OK, Ignored bool
		Reason      string
		JobIDs      []string
	}
	if got := decode[outcome](t, first.body); first.status != http.StatusAccepted || len(got.JobIDs) != 1 {
		t.Fatalf("the delivery: %d %s", first.status, first.body)
	}
	j := c.finished(t, decode[outcome](t, first.body).JobIDs[0], "success")
	if j.Reason != "webhook" || j.Type != "check" {
		t.Errorf("the job is %+v", j)
	}
	if again := deliver("d-1", good, body); again.status != http.StatusOK || decode[outcome](t, again.body).Reason != "duplicate_delivery" {
		t.Errorf("the same delivery again: %d %s", again.status, again.body)
	}
	if n := len(checks()) - before; n != 1 {
		t.Errorf("%d checks of the service", n)
	}
	if web = c.service(t, web.ID); web.Candidate == nil || web.Candidate.Digest != digest {
		t.Errorf("candidate %+v", web.Candidate)
	}
	inbox := ask[struct {
		Deliveries []struct {
			DeliveryID, Decision string
			AttemptCount         int
		}
	}](t, c, "/api/host-packages/webhook/deliveries").Deliveries
	if len(inbox) != 1 || inbox[0].DeliveryID != "d-1" || inbox[0].Decision != "processed" || inbox[0].AttemptCount != 2 {
		t.Errorf("the inbox holds %+v", inbox)
	}
	events := <-live
	if len(events) != 2 {
		t.Fatalf("live: %+v", events)
	}
	for _, ev := range events {
		if ev.name != "host_packages_delivery_event" || !strings.Contains(ev.data, "d-1") {
			t.Errorf("live: %+v", ev)
		}
	}
	rest := c.curl(t, "/api/host-packages/webhook/deliveries/events", "1", "Last-Event-ID: "+events[0].id)
	if len(rest) != 1 || rest[0] != events[1] {
		t.Errorf("resumed after the first: %+v", rest)
	}
	for _, secret := range []string{pat, hooks[0].Secret} {
		for _, p := range []string{"/api/host-packages/settings", "/api/host-packages/repos", "/api/jobs", "/api/host-packages/webhook/overview",
			"/api/host-packages/webhook/deliveries"} {
			if strings.Contains(c.api(t, http.MethodGet, p, "", http.StatusOK).body, secret) {
				t.Errorf("%s shows a secret", p)
			}
		}
		if strings.Contains(c.logs(), secret) {
			t.Error("the log holds a secret")
		}
	}
}

// TestContainersPrivateRegistry reads and pulls from a registry that wants a password, with a client configuration that
// reaches registry, engine and compose.
func TestContainersPrivateRegistry(t *testing.T) {
	t.Parallel()
	bin := dockertest.NewestCompose(t)
	reg := dockertest.Registry(t, dockertest.RegistryOptions{User: "ops", Password: "planted-password"})
	repo := "demo/" + dockertest.Name(t)
	first := dockertest.App(t, reg, repo, "1", dockertest.Behaviour{Version: "1"})
	dir := dockertest.Project(t, map[string]string{"docker-compose.yml": fmt.Sprintf("version: \"3.7\"\nservices:\n  web:\n    image: %s/%s:1\n    stop_grace_period: 1s\n", reg.Host, repo)})
	dockertest.Docker(t, "--config", reg.DockerConfig, "pull", "-q", reg.Host+"/"+repo+":1")
	dockertest.Up(t, bin, dir, "up", "-d")
	hcl := containersHCL(bin.Path, "")
	c := startCore(t, hcl)
	web := c.stackNamed(t, path.Base(dir)).service(t, "web")
	id := c.beginJob(t, "/api/checks", fmt.Sprintf(`{"scope":"service","serviceId":%q}`, web.ID))
	c.finished(t, id, "failed")
	if web = c.service(t, web.ID); web.CheckError == "" || web.Candidate != nil {
		t.Errorf("without credentials: %+v", web)
	}
	c.stop()
	c.env = append(c.env, "SVC_DOCKER_CONFIG="+reg.DockerConfig)
	c.start()
	second := dockertest.App(t, reg, repo, "1", dockertest.Behaviour{Version: "2"})
	if web = c.check(t, web.ID); web.Candidate == nil || web.Candidate.Digest != second || web.CheckError != "" {
		t.Fatalf("with credentials: %+v (was %s)", web, first)
	}
	j := c.finished(t, c.beginJob(t, "/api/updates", updateBody(web, "")), "success")
	if _, _, digests := running(t, dir, "web"); !hasDigest(digests, second) {
		t.Errorf("runs %v", digests)
	}
	if text := fmt.Sprintf("%+v", j) + c.logs(); strings.Contains(text, "planted-password") {
		t.Error("the password is shown")
	}

	// The registry goes down, and comes back.
	reg.Stop()
	c.finished(t, c.beginJob(t, "/api/checks", fmt.Sprintf(`{"scope":"service","serviceId":%q}`, web.ID)), "failed")
	if web = c.service(t, web.ID); web.CheckError == "" || web.Image.Digest != second {
		t.Errorf("while the registry is down: %+v", web)
	}
	reg.Start(t)
	if web = c.check(t, web.ID); web.CheckError != "" {
		t.Errorf("after it came back: %+v", web)
	}
}
