package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
)

// longStack is the name of a stack as people choose them, beyond what compose takes but not beyond what the engine does.
const longStack = "电商平台生产环境-订单与支付核心集群🚀-华东一区-高可用双活部署"

// fleet is a stack with the services web, api and worker, each of an image of its own.
type fleet struct {
	reg   *dockertest.Reg
	repos map[string]string
	name  string
}

// startFleet runs a stack with a long name. The engine runs it with the labels that compose would give it.
func startFleet(t testing.TB) *fleet {
	t.Helper()
	f := &fleet{reg: dockertest.Registry(t, dockertest.RegistryOptions{}), repos: map[string]string{}}
	// The end tells it from others that run at the same time.
	base := dockertest.Name(t)
	f.name = longStack + "-" + base
	file := "services:\n"
	for _, name := range []string{"web", "api", "worker"} {
		f.repos[name] = "demo/" + base + "-" + name
		file += fmt.Sprintf("  %s:\n    image: %s/%s:1\n", name, f.reg.Host, f.repos[name])
	}
	dir := dockertest.Project(t, map[string]string{"docker-compose.yml": file})
	t.Cleanup(func() {
		for name := range f.repos {
			dockertest.Docker(t, "rm", "-f", "-v", base+"-"+name)
		}
	})
	for name := range f.repos {
		f.push(t, name, "1.0.0")
		args := []string{"run", "-d", "--name", base + "-" + name}
		for key, value := range map[string]string{
			"project": f.name, "service": name, "oneoff": "False", "container-number": "1", "version": "1.29.2", "config-hash": "0",
			"project.working_dir": dir, "project.config_files": filepath.Join(dir, "docker-compose.yml"),
		} {
			args = append(args, "--label", "com.docker.compose."+key+"="+value)
		}
		dockertest.Docker(t, append(args, f.reg.Host+"/"+f.repos[name]+":1")...)
	}
	return f
}

// push gives services a new version.
func (f *fleet) push(t testing.TB, service, version string) string {
	t.Helper()
	return dockertest.App(t, f.reg, f.repos[service], "1", dockertest.Behaviour{Version: version})
}

// announcements are the jobs that tell of a job.
func (c *core) announcements(t testing.TB, jobID string) int64 {
	t.Helper()
	return c.records(t, storage{}).number("SELECT COUNT(*) FROM jobs WHERE type = 'containers.announce' AND payload LIKE '%" + jobID + "%'")
}

// versions are the services of a message about new versions, with their versions.
func versions(t testing.TB, m told) map[string]string {
	t.Helper()
	type entry struct {
		StackName, ServiceName, CurrentDisplayTag, CandidateDisplayTag string
	}
	out := map[string]string{}
	for _, s := range decode[struct{ Links struct{ ServiceURLs []entry } }](t, string(m.Payload)).Links.ServiceURLs {
		out[s.StackName+" / "+s.ServiceName] = s.CurrentDisplayTag + " -> " + s.CandidateDisplayTag
	}
	return out
}

func TestNotifyNewVersions(t *testing.T) {
	t.Parallel()
	bin := dockertest.NewestCompose(t)
	o := outletsFor(t, "chat", "email", "webhook", "gotify")
	f := startFleet(t)
	c := startNotify(t, o, bin.Path)
	st := c.stackNamed(t, f.name)
	arrived := func(want int) {
		t.Helper()
		// The chat gets a photo and a detail, and the mail goes to two.
		got := []int{len(o.bot.Messages()) / 2, len(o.mail.Messages()) / 2, len(o.hook.all()), len(o.gotify.all())}
		if all := c.history(t); len(all) != want || fmt.Sprint(got) != fmt.Sprint([]int{want, want, want, want}) {
			t.Fatalf("%d messages, arrived %v, want %d everywhere", len(all), got, want)
		}
	}

	for name := range f.repos {
		f.push(t, name, "1.1.0")
	}
	first := c.trigger(t, st.ID)
	if why := c.announced(t, first.ID); why != "" {
		t.Fatalf("nothing is told: %s", why)
	}
	m := c.becomes(t, c.history(t)[0].ID, o.every("delivered", nil))
	const change = "1.0.0 -> 1.1.0"
	want := map[string]string{f.name + " / web": change, f.name + " / api": change, f.name + " / worker": change}
	if got := versions(t, m); m.Kind != "new_version_discovered" || !maps.Equal(got, want) {
		t.Errorf("%s tells of %v: %s", m.Kind, got, m.Payload)
	}
	arrived(1)
	c.served(t, []byte(o.hook.last(t).body))
	photo, detail := o.bot.Messages()[0], o.bot.Messages()[1]
	shown(t, "notify-versions.png", photo.Photo)
	contains(t, detail.Text, f.name+" / web", f.name+" / api", f.name+" / worker")
	c.mailLooksWell(t, o, "notify-versions-mail")
	if strings.Count(detail.Text, f.name) != 3 {
		t.Errorf("the detail tells of something twice:\n%s", detail.Text)
	}

	if why := c.announced(t, c.trigger(t, st.ID).ID); why == "" {
		t.Error("the same versions are told again")
	}
	arrived(1)

	// What a person looks for is shown, and not told; the next check that nobody asked for tells it.
	f.push(t, "web", "1.2.0")
	byHand := c.beginJob(t, "/api/checks", fmt.Sprintf(`{"scope":"stack","stackId":%q}`, st.ID))
	c.finished(t, byHand, "success")
	if n := c.announcements(t, byHand); n != 0 {
		t.Errorf("%d jobs tell of a check by hand", n)
	}
	arrived(1)
	if why := c.announced(t, c.trigger(t, st.ID).ID); why != "" {
		t.Errorf("nothing is told: %s", why)
	}
	m = c.becomes(t, c.history(t)[0].ID, o.every("delivered", nil))
	if got := versions(t, m); !maps.Equal(got, map[string]string{f.name + " / web": "1.0.0 -> 1.2.0"}) {
		t.Errorf("the second message tells of %v", got)
	}
	arrived(2)
	shown(t, "notify-version.png", o.bot.Messages()[2].Photo)
	c.replaced(t, o, f, st.ID)
}

// replaced has a version replaced by a newer one while the only channel fails: the news of the former are never told.
func (c *core) replaced(t *testing.T, o *outlets, f *fleet, stackID string) {
	t.Helper()
	c.setNotify(t, map[string]any{"chat": map[string]any{"enabled": false}, "email": map[string]any{"enabled": false},
		"channels": map[string]any{"gotify": map[string]any{"enabled": false}}})
	o.hook.answers(http.StatusServiceUnavailable, nil)
	news := func(version string) string {
		t.Helper()
		f.push(t, "api", version)
		if why := c.announced(t, c.trigger(t, stackID).ID); why != "" {
			t.Fatalf("nothing is told of %s: %s", version, why)
		}
		return c.history(t)[0].ID
	}
	before := len(o.hook.all())
	older := news("1.3.0")
	eventually(t, startWithin, "the channel fails", func() bool { return len(o.hook.all()) > before })
	newer := news("1.4.0")
	if older == newer {
		t.Fatal("the newer version makes no message")
	}
	o.hook.answers(http.StatusOK, nil)
	c.becomes(t, older, map[string]string{"webhook": "superseded"})
	want := c.becomes(t, newer, map[string]string{"webhook": "delivered"}).Deliveries[0].ID
	var taken []string
	for _, p := range o.hook.all()[before:] {
		if p.code == http.StatusOK {
			taken = append(taken, p.header.Get("webhook-id"))
		}
	}
	if len(taken) != 1 || taken[0] != want {
		t.Errorf("taken were %v, want %s alone", taken, want)
	}
	db := c.records(t, storage{})
	for id, state := range map[string]string{older: "superseded", newer: "sent"} {
		if got := db.text("SELECT status FROM containers_new_versions WHERE message_id = '" + id + "'"); got != state {
			t.Errorf("the news of %s are %s, want %s", id, got, state)
		}
	}
}
