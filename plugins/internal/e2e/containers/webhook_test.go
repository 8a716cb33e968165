package containers

import (
	"fmt"
	"net/http"
	"path"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/codehost/github/githubtest"
	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// plantedPAT is a token of the code host that startWithPackageHost starts.
const plantedPAT = "planted-personal-access-token"

// startWithPackageHost starts a core with an app whose image belongs to a package of a code host.
func startWithPackageHost(t *testing.T) (*kit.Core, *kit.App, *githubtest.Server) {
	t.Helper()
	bin := dockertest.NewestCompose(t)
	a := kit.StartApp(t, bin, dockertest.Behaviour{Version: "1", Healthcheck: true})
	host := githubtest.New(t)
	host.Token(plantedPAT, "ops")
	host.AddOrg("demo")
	host.AddRepo(githubtest.Repo{FullName: a.Repo})
	c := kit.StartCore(t, fmt.Sprintf(`codehost "github" "main" {
  config { base_url = %q }
}
`, host.URL)+kit.ContainersHCL(bin.Path, fmt.Sprintf("  codehost = codehost.main\n  package_hosts = [%q]\n", a.Reg.Host)))
	return c, a, host
}

// TestContainersPackageWebhook has a code host tell of a published package: exactly one check of each service that uses it,
// nothing for the same delivery again, and both in the inbox, live.
func TestContainersPackageWebhook(t *testing.T) {
	t.Parallel()
	c, a, host := startWithPackageHost(t)
	web := c.StackNamed(t, a.Project).Service(t, "web")

	c.API(t, http.MethodPut, "/api/host-packages/settings", fmt.Sprintf(
		`{"enabled":true,"callbackUrl":"https://patchbay.example.org/api/webhooks/host-packages","pat":%q,"targets":[{"input":%q}],"repos":[{"fullName":%q,"selected":true}]}`, plantedPAT, a.Repo, a.Repo), http.StatusOK)
	c.Finished(t, c.BeginJob(t, "/api/host-packages/webhook/sync-repo", fmt.Sprintf(`{"fullName":%q}`, a.Repo)), "success")
	hooks := host.Hooks(a.Repo)
	if len(hooks) != 1 || hooks[0].URL != "https://patchbay.example.org/api/webhooks/host-packages" || hooks[0].Secret == "" {
		t.Fatalf("the code host has the hooks %+v", hooks)
	}

	digest := a.Push(t, dockertest.Behaviour{Version: "2", Healthcheck: true})
	body := githubtest.Published(a.Repo, path.Base(a.Repo), "1", digest, true)
	deliver := func(id, signature string, body []byte) kit.Answer {
		h := http.Header{"X-Github-Event": {"package"}, "X-Github-Delivery": {id}, "X-Hub-Signature-256": {signature}}
		return c.Send(t, kit.Request{Path: "/api/webhooks/host-packages", Body: string(body), Header: h})
	}
	checks := func() []kit.Job {
		return kit.Ask[struct{ Jobs []kit.Job }](t, c, "/api/jobs?type=check,discovery&serviceId="+web.ID).Jobs
	}
	before := len(checks())
	live := make(chan []curled)
	go func() {
		live <- readStream(t, c, "/api/host-packages/webhook/deliveries/events", "6", "Last-Event-ID: 0")
	}()

	if got := deliver("d-forged", githubtest.Sign("not the secret", body), body); got.Status != http.StatusUnauthorized ||
		!strings.Contains(got.Body, "invalid_signature") {
		t.Errorf("a forged delivery: %d %s", got.Status, got.Body)
	}
	good := githubtest.Sign(hooks[0].Secret, body)
	if got := deliver("d-1", good, append(body, '\n')); got.Status != http.StatusUnauthorized {
		t.Errorf("the same text in other bytes: %d %s", got.Status, got.Body)
	}
	first := deliver("d-1", good, body)
	type outcome struct {
		OK, Ignored bool
		Reason      string
		JobIDs      []string
	}
	if got := kit.Decode[outcome](t, first.Body); first.Status != http.StatusAccepted || len(got.JobIDs) != 1 {
		t.Fatalf("the delivery: %d %s", first.Status, first.Body)
	}
	j := c.Finished(t, kit.Decode[outcome](t, first.Body).JobIDs[0], "success")
	if j.Reason != "webhook" || j.Type != "check" {
		t.Errorf("the job is %+v", j)
	}
	if again := deliver("d-1", good, body); again.Status != http.StatusOK || kit.Decode[outcome](t, again.Body).Reason != "duplicate_delivery" {
		t.Errorf("the same delivery again: %d %s", again.Status, again.Body)
	}
	if n := len(checks()) - before; n != 1 {
		t.Errorf("%d checks of the service", n)
	}
	if web = c.Service(t, web.ID); web.Candidate == nil || web.Candidate.Digest != digest {
		t.Errorf("candidate %+v", web.Candidate)
	}
	inbox := kit.Ask[struct {
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
	rest := readStream(t, c, "/api/host-packages/webhook/deliveries/events", "1", "Last-Event-ID: "+events[0].id)
	if len(rest) != 1 || rest[0] != events[1] {
		t.Errorf("resumed after the first: %+v", rest)
	}
	for _, secret := range []string{plantedPAT, hooks[0].Secret} {
		for _, p := range []string{"/api/host-packages/settings", "/api/host-packages/repos", "/api/jobs", "/api/host-packages/webhook/overview",
			"/api/host-packages/webhook/deliveries"} {
			if strings.Contains(c.API(t, http.MethodGet, p, "", http.StatusOK).Body, secret) {
				t.Errorf("%s shows a secret", p)
			}
		}
		if strings.Contains(c.Logs(), secret) {
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
	hcl := kit.ContainersHCL(bin.Path, "")
	c := kit.StartCore(t, hcl)
	web := c.StackNamed(t, path.Base(dir)).Service(t, "web")
	id := c.BeginJob(t, "/api/checks", fmt.Sprintf(`{"scope":"service","serviceId":%q}`, web.ID))
	c.Finished(t, id, "failed")
	if web = c.Service(t, web.ID); web.CheckError == "" || web.Candidate != nil {
		t.Errorf("without credentials: %+v", web)
	}
	c.Stop()
	c.Env = append(c.Env, "SVC_DOCKER_CONFIG="+reg.DockerConfig)
	c.Start()
	second := dockertest.App(t, reg, repo, "1", dockertest.Behaviour{Version: "2"})
	if web = c.Check(t, web.ID); web.Candidate == nil || web.Candidate.Digest != second || web.CheckError != "" {
		t.Fatalf("with credentials: %+v (was %s)", web, first)
	}
	j := c.Finished(t, c.BeginJob(t, "/api/updates", kit.UpdateBody(web, "")), "success")
	if _, _, digests := kit.RunningImage(t, dir, "web"); !kit.HasDigest(digests, second) {
		t.Errorf("runs %v", digests)
	}
	if text := fmt.Sprintf("%+v", j) + c.Logs(); strings.Contains(text, "planted-password") {
		t.Error("the password is shown")
	}

	// The registry goes down, and comes back.
	reg.Stop()
	c.Finished(t, c.BeginJob(t, "/api/checks", fmt.Sprintf(`{"scope":"service","serviceId":%q}`, web.ID)), "failed")
	if web = c.Service(t, web.ID); web.CheckError == "" || web.Image.Digest != second {
		t.Errorf("while the registry is down: %+v", web)
	}
	reg.Start(t)
	if web = c.Check(t, web.ID); web.CheckError != "" {
		t.Errorf("after it came back: %+v", web)
	}
}
