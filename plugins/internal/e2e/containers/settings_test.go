package containers

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// settingsProject has the settings that TestContainersDriftOfSettings edits, each on a line of its own.
const settingsProject = `version: "2.4"
services:
  web:
    image: "%s"
    stop_grace_period: 1s
    hostname: web1
    domainname: example.com
    dns: [127.0.0.1]
    dns_search: [example.com]
    extra_hosts: ["a:192.0.2.1"]
    group_add: ["7"]
    read_only: false
    tty: true
    security_opt: ["no-new-privileges:true"]
    sysctls: {net.core.somaxconn: 1024}
    ulimits: {nofile: 1024}
    logging: {driver: json-file, options: {max-size: 1m}}
    healthcheck: {test: ["CMD", "/app", "version"], interval: 2s}
    stop_signal: SIGINT
    shm_size: 32m
    devices: ["/dev/null:/dev/x"]
    tmpfs: ["/run:size=1m"]
    init: true
    oom_score_adj: 100
    cpu_shares: 512
    mem_reservation: 16m
    networks: {default: {aliases: [store]}}
`

// settingEdits go from the field that is told to what is written instead of what.
func settingEdits() map[string][2]string {
	return map[string][2]string{
		"hostname": {"web1", "web2"}, "domainname": {"domainname: example.com", "domainname: example.org"},
		"dns":       {"dns: [127.0.0.1]", "dns: [127.0.0.2]"},
		"dnsSearch": {"dns_search: [example.com]", "dns_search: [example.org]"}, "extraHosts": {"192.0.2.1", "192.0.2.2"},
		"groupAdd": {`["7"]`, `["8"]`},
		"readOnly": {"read_only: false", "read_only: true"}, "tty": {"tty: true", "tty: false"},
		"securityOpt": {"    security_opt: [\"no-new-privileges:true\"]\n", ""},
		"sysctls":     {"somaxconn: 1024", "somaxconn: 512"}, "ulimits": {"nofile: 1024", "nofile: 2048"},
		"logging": {"max-size: 1m", "max-size: 2m"}, "healthcheck": {"interval: 2s", "interval: 3s"},
		"stopSignal": {"SIGINT", "SIGTERM"}, "shmSize": {"shm_size: 32m", "shm_size: 33m"}, "devices": {"/dev/null:/dev/x", "/dev/zero:/dev/x"},
		"tmpfs": {"size=1m", "size=2m"}, "init": {"init: true", "init: false"},
		"oomScoreAdj": {"oom_score_adj: 100", "oom_score_adj: 200"}, "cpuShares": {"512\n", "256\n"}, "memReservation": {"16m\n", "8m\n"},
		"networkAliases": {"[store]", "[other]"},
	}
}

// TestContainersDriftOfSettings: a project that runs as its files say has no differences, each edited setting is told by its name, and
// what no field explains is told by compose's own hash.
func TestContainersDriftOfSettings(t *testing.T) {
	t.Parallel()
	for _, bin := range dockertest.Compose(t) {
		t.Run(bin.Name, func(t *testing.T) {
			t.Parallel()
			a := &kit.App{Reg: dockertest.Registry(t, dockertest.RegistryOptions{}), Repo: "demo/" + dockertest.Name(t)}
			dockertest.App(t, a.Reg, a.Repo, "1", dockertest.Behaviour{Version: "1"})
			text := fmt.Sprintf(settingsProject, a.Reg.Host+"/"+a.Repo+":1")
			a.Dir = dockertest.Project(t, map[string]string{"docker-compose.yml": text})
			a.Project = filepath.Base(a.Dir)
			dockertest.Up(t, bin, a.Dir, "up", "-d")
			c := kit.StartCore(t, kit.ContainersHCL(bin.Path, ""))
			web := c.StackNamed(t, a.Project).Service(t, "web")
			_, image, _ := kit.RunningImage(t, a.Dir, "web")
			a.Push(t, dockertest.Behaviour{Version: "2"})
			// The push has taken the name away.
			dockertest.Docker(t, "tag", image, a.Reg.Host+"/"+a.Repo+":1")
			web = c.Check(t, web.ID)
			drift := func(text string) (fields []string) {
				t.Helper()
				if err := os.WriteFile(filepath.Join(a.Dir, "docker-compose.yml"), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				var plan struct {
					Services []struct{ Drift []struct{ Field string } }
				}
				done := c.Finished(t, c.BeginJob(t, "/api/updates", kit.UpdateBody(web, `,"mode":"dry-run"`)), "success")
				if err := json.Unmarshal(done.Summary, &plan); err != nil || len(plan.Services) != 1 {
					t.Fatalf("the plan is %s: %v", done.Summary, err)
				}
				for _, d := range plan.Services[0].Drift {
					fields = append(fields, d.Field)
				}
				return fields
			}
			if got := drift(text); len(got) != 0 {
				t.Fatalf("without an edit there are differences: %v", got)
			}
			edited := text
			var want []string
			for field, edit := range settingEdits() {
				if strings.Count(edited, edit[0]) != 1 {
					t.Fatalf("%s: %q stands %d times in the file", field, edit[0], strings.Count(edited, edit[0]))
				}
				edited, want = strings.Replace(edited, edit[0], edit[1], 1), append(want, field)
			}
			slices.Sort(want)
			if got := drift(edited); !slices.Equal(got, want) {
				t.Errorf("the differences are %v, want %v", got, want)
			}
			if got := drift(text + "    blkio_config: {weight: 300}\n"); !slices.Equal(got, []string{"config"}) {
				t.Errorf("an edit that no field explains: %v", got)
			}
			if got := drift(text); len(got) != 0 {
				t.Errorf("taken back: %v", got)
			}
		})
	}
}
