package notify

import (
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
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

// countAnnouncements are the jobs that tell of a job.
func countAnnouncements(t testing.TB, c *kit.Core, jobID string) int64 {
	t.Helper()
	return c.Records(t, kit.Storage{}).Number("SELECT COUNT(*) FROM jobs WHERE type = 'containers.announce' AND payload LIKE '%" + jobID + "%'")
}

// versions are the services of a message about new versions, with their versions.
func versions(t testing.TB, m told) map[string]string {
	t.Helper()
	type entry struct {
		StackName, ServiceName, CurrentDisplayTag, CandidateDisplayTag string
	}
	out := map[string]string{}
	for _, s := range kit.Decode[struct{ Links struct{ ServiceURLs []entry } }](t, string(m.Payload)).Links.ServiceURLs {
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
	st := c.StackNamed(t, f.name)
	arrived := func(want int) {
		t.Helper()
		// The chat gets a photo and a detail, and the mail goes to two.
		got := []int{len(o.bot.Messages()) / 2, len(o.mail.Messages()) / 2, len(listArrivals(o.hook)), len(listArrivals(o.gotify))}
		if all := readHistory(t, c); len(all) != want || fmt.Sprint(got) != fmt.Sprint([]int{want, want, want, want}) {
			t.Fatalf("%d messages, arrived %v, want %d everywhere", len(all), got, want)
		}
	}

	for name := range f.repos {
		f.push(t, name, "1.1.0")
	}
	first := triggerCheck(t, c, st.ID)
	if why := waitForAnnouncement(t, c, first.ID); why != "" {
		t.Fatalf("nothing is told: %s", why)
	}
	m := waitForStates(t, c, readHistory(t, c)[0].ID, o.every("delivered", nil))
	const change = "1.0.0 -> 1.1.0"
	want := map[string]string{f.name + " / web": change, f.name + " / api": change, f.name + " / worker": change}
	if got := versions(t, m); m.Kind != "new_version_discovered" || !maps.Equal(got, want) {
		t.Errorf("%s tells of %v: %s", m.Kind, got, m.Payload)
	}
	arrived(1)
	validatePayload(t, c, []byte(lastArrival(t, o.hook).Body))
	photo, detail := o.bot.Messages()[0], o.bot.Messages()[1]
	shown(t, "notify-versions.png", photo.Photo)
	kit.Contains(t, detail.Text, f.name+" / web", f.name+" / api", f.name+" / worker")
	mailLooksWell(t, c, o, "notify-versions-mail")
	if strings.Count(detail.Text, f.name) != 3 {
		t.Errorf("the detail tells of something twice:\n%s", detail.Text)
	}

	if why := waitForAnnouncement(t, c, triggerCheck(t, c, st.ID).ID); why == "" {
		t.Error("the same versions are told again")
	}
	arrived(1)

	// What a person looks for is shown, and not told; the next check that nobody asked for tells it.
	f.push(t, "web", "1.2.0")
	byHand := c.BeginJob(t, "/api/checks", fmt.Sprintf(`{"scope":"stack","stackId":%q}`, st.ID))
	c.Finished(t, byHand, "success")
	if n := countAnnouncements(t, c, byHand); n != 0 {
		t.Errorf("%d jobs tell of a check by hand", n)
	}
	arrived(1)
	if why := waitForAnnouncement(t, c, triggerCheck(t, c, st.ID).ID); why != "" {
		t.Errorf("nothing is told: %s", why)
	}
	m = waitForStates(t, c, readHistory(t, c)[0].ID, o.every("delivered", nil))
	if got := versions(t, m); !maps.Equal(got, map[string]string{f.name + " / web": "1.0.0 -> 1.2.0"}) {
		t.Errorf("the second message tells of %v", got)
	}
	arrived(2)
	shown(t, "notify-version.png", o.bot.Messages()[2].Photo)
	replaceUnannounced(t, c, o, f, st.ID)
}

// replaceUnannounced replaces a version by a newer one while the only channel fails: the news of the former are never told.
func replaceUnannounced(t *testing.T, c *kit.Core, o *outlets, f *fleet, stackID string) {
	t.Helper()
	setNotify(t, c, map[string]any{"chat": map[string]any{"enabled": false}, "email": map[string]any{"enabled": false},
		"channels": map[string]any{"gotify": map[string]any{"enabled": false}}})
	setAnswer(o.hook, http.StatusServiceUnavailable, nil)
	news := func(version string) string {
		t.Helper()
		f.push(t, "api", version)
		if why := waitForAnnouncement(t, c, triggerCheck(t, c, stackID).ID); why != "" {
			t.Fatalf("nothing is told of %s: %s", version, why)
		}
		return readHistory(t, c)[0].ID
	}
	before := len(listArrivals(o.hook))
	older := news("1.3.0")
	kit.Eventually(t, kit.StartWithin, "the channel fails", func() bool { return len(listArrivals(o.hook)) > before })
	newer := news("1.4.0")
	if older == newer {
		t.Fatal("the newer version makes no message")
	}
	setAnswer(o.hook, http.StatusOK, nil)
	waitForStates(t, c, older, map[string]string{"webhook": "superseded"})
	want := waitForStates(t, c, newer, map[string]string{"webhook": "delivered"}).Deliveries[0].ID
	var taken []string
	for _, p := range listArrivals(o.hook)[before:] {
		if p.Code == http.StatusOK {
			taken = append(taken, p.Header.Get("webhook-id"))
		}
	}
	if len(taken) != 1 || taken[0] != want {
		t.Errorf("taken were %v, want %s alone", taken, want)
	}
	db := c.Records(t, kit.Storage{})
	for id, state := range map[string]string{older: "superseded", newer: "sent"} {
		if got := db.Text("SELECT status FROM containers_new_versions WHERE message_id = '" + id + "'"); got != state {
			t.Errorf("the news of %s are %s, want %s", id, got, state)
		}
	}
}
