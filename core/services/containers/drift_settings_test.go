package containers

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/services/containers/drift"
	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// settingCase is a setting as a file gives it, as the engine tells of it, and another value of it.
type settingCase struct{ file, running, other string }

func settingCases() map[string]settingCase {
	return map[string]settingCase{
		"hostname": {"hostname: web1", "web1", "web2"}, "domainname": {"domainname: example.com", "example.com", "example.org"},
		"dns":         {"dns: [192.0.2.1, 192.0.2.2]", "192.0.2.1\n192.0.2.2", "192.0.2.2\n192.0.2.1"},
		"dns_opt":     {"dns_opt: [use-vc, no-tld-query]", "no-tld-query\nuse-vc", "use-vc"},
		"dns_search":  {"dns_search: example.com", "example.com", "example.org"},
		"extra_hosts": {"extra_hosts: [\"a:192.0.2.1\"]", "a:192.0.2.1", "a:192.0.2.2"},
		"group_add":   {"group_add: [mail]", "mail", "audio"}, "read_only": {"read_only: true", "true", "false"},
		"tty":        {"tty: true", "true", "false"},
		"stdin_open": {"stdin_open: true", "true", "false"},
		"security_opt": {"security_opt: [\"no-new-privileges:true\", \"seccomp:./x.json\"]", "label=disable\nno-new-privileges\nseccomp={}",
			"apparmor=unconfined"},
		"sysctls":     {"sysctls: {net.core.somaxconn: 1024}", "net.core.somaxconn=1024", "net.core.somaxconn=512"},
		"storage_opt": {"storage_opt: {size: 1G}", "size=1G", "size=2G"},
		"tmpfs":       {"tmpfs: [\"/run:size=1m\"]", "/run:size=1m", "/run"}, "uts": {"uts: host", "host", "private"},
		"userns_mode": {"userns_mode: host", "host", "private"},
		"cgroup":      {"cgroup: private", "private", "host"}, "cgroup_parent": {"cgroup_parent: parent", "parent", "other"},
		"runtime":       {"runtime: runsc", "runsc", "runc"},
		"oom_score_adj": {"oom_score_adj: 100", "100", "200"}, "oom_kill_disable": {"oom_kill_disable: true", "true", "false"},
		"shm_size":        {"shm_size: 1m", "1048576", "2097152"},
		"mem_reservation": {"mem_reservation: 1m", "1048576", "2097152"}, "memswap_limit": {"memswap_limit: 1m", "1048576", "2097152"},
		"cpu_shares": {"cpu_shares: 100", "100", "200"},
		"cpuset":     {"cpuset: \"0,1\"", "0,1", "0"}, "device_cgroup_rules": {"device_cgroup_rules: [\"c 1:3 mr\"]", "c 1:3 mr", "c 1:3 r"},
		"devices": {"devices: [\"/dev/null:/dev/x\"]", "/dev/null:/dev/x:rwm", "/dev/zero:/dev/x:rwm"},
		"ulimits": {"ulimits: {nproc: 9, nofile: {soft: 1, hard: 2}}", "nofile=1:2\nnproc=9:9", "nproc=9:9"},
		"init":    {"init: true", "true", "false"}, "logging": {"logging: {driver: local}", "local", "json-file"},
		"logging.options":            {"logging: {options: {max-size: 1m}}", "compress=true\nmax-size=1m", "compress=true\nmax-size=2m"},
		"stop_signal":                {"stop_signal: SIGINT", "SIGINT", "SIGTERM"},
		"stop_grace_period":          {"stop_grace_period: 2s", "2000000000", "1000000000"},
		"healthcheck.test":           {"healthcheck: {test: \"true\"}", "CMD-SHELL\ntrue", "CMD-SHELL\nfalse"},
		"healthcheck.interval":       {"healthcheck: {interval: 2s}", "2000000000", "1000000000"},
		"healthcheck.timeout":        {"healthcheck: {timeout: 2s}", "2000000000", "1000000000"},
		"healthcheck.start_period":   {"healthcheck: {start_period: 2s}", "2000000000", "1000000000"},
		"healthcheck.start_interval": {"healthcheck: {start_period: 2s, start_interval: 2s}", "2000000000", "1000000000"},
		"healthcheck.retries":        {"healthcheck: {retries: 2}", "2", "3"},
		"networks.aliases": {"networks: {default: {aliases: [db, store]}}", "blog_default db\nblog_default store\nblog_default web",
			"blog_default web"},
		"networks.addresses": {"networks: {default: {ipv4_address: 192.0.2.9}}", "blog_default 192.0.2.9", "blog_default 192.0.2.8"},
		"mac_address":        {"mac_address: 02-42-AC-11-65-43", "02:42:ac:11:65:43", "02:42:ac:11:65:44"},
	}
}

// TestDriftOfSettings: each setting that is compared is no difference where the container has it, and one where it has another value. One
// that the files no longer have is a difference, unless the engine or the image may have set it.
func TestDriftOfSettings(t *testing.T) {
	cases, e := settingCases(), newEnv(t)
	config := map[string]string{}
	e.madeOf(webFile, func(d *engine.Detail) { d.Config.Settings = config })
	compare := func(file, name, running string) []drift.Drift {
		t.Helper()
		clear(config)
		config["runtime"], config["logging"], config["cgroup"] = "runc", "json-file", "host"
		if name == "healthcheck.start_interval" {
			config["healthcheck.start_period"] = "2000000000"
		}
		if running != "" {
			config[name] = running
		}
		e.file("blog/compose.yaml", webFile+file)
		got, err := e.svc.drift.Compare(t.Context(), e.stackOf("blog"), e.serviceOf("blog", "web"))
		e.must(err)
		return got.Drift
	}
	none := []drift.Drift{}
	for _, setting := range drift.ComparedSettings() {
		tt, known := cases[setting.Name]
		if !known {
			t.Errorf("%s is compared and has no case", setting.Name)
			continue
		}
		file := "    " + tt.file + "\n"
		if diff := cmp.Diff(none, compare(file, setting.Name, tt.running)); diff != "" {
			t.Errorf("%s: a difference where there is none: %s", setting.Name, diff)
		}
		if diff := cmp.Diff([]drift.Drift{{Field: setting.Field, Change: drift.Changed}}, compare(file, setting.Name, tt.other)); diff != "" {
			t.Errorf("%s: the edit is not told: %s", setting.Name, diff)
		}
		want := []drift.Drift{{Field: setting.Field, Change: drift.Removed}}
		if setting.How == drift.IfGiven || setting.How == drift.AmongOthers || setting.Name == "healthcheck.start_interval" {
			want = none
		}
		if setting.Name != "healthcheck.start_interval" {
			if diff := cmp.Diff(want, compare("", setting.Name, tt.running)); diff != "" {
				t.Errorf("%s: the files no longer have it: %s", setting.Name, diff)
			}
		}
	}
	// What the engine sets by itself is no difference, also where the files say the same.
	for name, running := range map[string]string{"shm_size": "", "memswap_limit": "-1"} {
		if diff := cmp.Diff(none, compare("", name, running)); diff != "" {
			t.Errorf("%s as the engine sets it: %s", name, diff)
		}
	}
	if diff := cmp.Diff(none, compare("    shm_size: 64m\n", "shm_size", "")); diff != "" {
		t.Errorf("the usual shm_size is written down: %s", diff)
	}
	// What the image gives counts where the files say nothing.
	e.engine.ConfigureImage(imageID(1), engine.ImageConfig{Env: []string{"PATH=/bin", "VERSION=1"}, Command: []string{"serve"}, User: "app",
		WorkingDir: "/srv", Settings: map[string]string{"stop_signal": "SIGQUIT"}})
	if diff := cmp.Diff(none, compare("", "stop_signal", "SIGQUIT")); diff != "" {
		t.Error(diff)
	}
}

// TestComposeHashDecides: where compose of the container's version would make it otherwise and no field says why, that is a difference.
func TestComposeHashDecides(t *testing.T) {
	changed := []drift.Drift{{Field: drift.FieldConfig, Change: drift.Changed}}
	away := fault.New(fault.PluginUnavailable, "The engine does not answer.")
	for name, tt := range map[string]struct {
		version, hash, file string
		renamed             bool
		want                []drift.Drift
		// fail makes the first comparison fail; the second one, with the same hashes, must find what is wanted.
		fail func(*fake.Engine)
	}{
		"the same": {version: "2.40.3", hash: "hash", want: []drift.Drift{}},
		"another hash": {version: "2.40.3", hash: "other",
			want: []drift.Drift{{Field: drift.FieldConfig, Change: drift.Changed}}},
		"another version": {version: "2.39.0", hash: "other", want: []drift.Drift{}},
		"explained by a field": {version: "2.40.3", hash: "other", file: "    user: root\n",
			want: []drift.Drift{{Field: "user", Change: drift.Changed}}},
		"the second generation and env_file": {version: "2.40.3", hash: "other",
			file: "    env_file: [{path: absent.env, required: false}]\n", want: []drift.Drift{}},
		"the second generation and volumes": {version: "2.40.3", hash: "other",
			file: "    volumes_from: [db]\n  db:\n    image: " + dbRepo + ":1\n", want: []drift.Drift{}},
		"the first generation": {version: "1.29.2", hash: "other",
			want: []drift.Drift{{Field: drift.FieldConfig, Change: drift.Changed}}},
		"the first generation beside another image": {version: "1.29.2", hash: "other", renamed: true, want: []drift.Drift{}},
		"after an engine that did not answer": {version: "2.40.3", hash: "other", want: changed,
			fail: func(f *fake.Engine) { f.Fail("info", away) }},
		"after a compose that did not answer": {version: "2.40.3", hash: "other", want: changed,
			fail: func(f *fake.Engine) { f.Fail("hash", away) }},
		"after a compose that failed": {version: "2.40.3", hash: "other", want: changed, fail: func(f *fake.Engine) {
			f.FailCompose(engine.ActionHash, engine.ComposeResult{ExitCode: 1})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.madeOf(webFile+tt.file, func(*engine.Detail) {})
			e.engine.SetHash("web", tt.hash)
			if tt.version != "2.39.0" {
				e.engine.SetInfo(engine.Info{Version: "28.0.0"}, &engine.Compose{Version: tt.version, PullPolicy: true})
			}
			c := e.engine.ContainersOf("blog", "web")[0]
			e.engine.RemoveContainer(c.ID)
			c.Labels[host.LabelComposeVersion] = tt.version
			e.engine.AddContainer(c)
			e.engine.ScriptContainer(c.ID, func(d *engine.Detail) {
				d.RestartPolicy = "no"
				d.Config = &engine.ContainerConfig{ImageConfig: engine.ImageConfig{Env: []string{"PATH=/bin", "VERSION=1"}, Command: []string{"serve"},
					User: "app", WorkingDir: "/srv"}, NetworkMode: "blog_default", Networks: []string{"blog_default"}, IPCMode: "private"}
			})
			if tt.renamed {
				other := e.image(webRepo, 7)
				other.RepoTags = []string{webRepo + ":1"}
				e.engine.AddImage(other)
			}
			st, web := e.stackOf("blog"), e.serviceOf("blog", "web")
			hashes := e.svc.drift.NewHashes(st)
			if tt.fail != nil {
				tt.fail(e.engine)
				if found, err := e.svc.drift.CompareWith(t.Context(), st, web, hashes); err == nil {
					t.Errorf("the failure is taken for a comparison: %+v", found)
				}
			}
			got, err := e.svc.drift.CompareWith(t.Context(), st, web, hashes)
			e.must(err)
			if diff := cmp.Diff(tt.want, got.Drift); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestHashesAreKept: compose is asked for hashes once, and again when a file changes, or with the first generation when the image does
// that a service's name stands for.
func TestHashesAreKept(t *testing.T) {
	for _, version := range []string{"1.29.2", "2.39.0"} {
		t.Run(version, func(t *testing.T) {
			e := newEnv(t)
			e.project("blog", 1, map[string]string{"web": webRepo + ":1", "app": appRepo + ":1"})
			e.engine.SetInfo(engine.Info{Version: "28.0.0"}, &engine.Compose{Version: version, PullPolicy: true})
			for _, name := range []string{"web", "app"} {
				c := e.engine.ContainersOf("blog", name)[0]
				e.engine.RemoveContainer(c.ID)
				c.Labels[host.LabelComposeVersion] = version
				e.engine.AddContainer(c)
			}
			age := func(by time.Duration) {
				t.Helper()
				e.must(os.Chtimes(filepath.Join(e.dir, "blog/compose.yaml"), time.Time{}, time.Now().Add(-by)))
			}
			age(time.Hour)
			e.discovered()
			asked := func(when string, want int, names ...string) {
				t.Helper()
				before := len(e.engine.CallsOf("hash"))
				for _, name := range names {
					c := e.engine.ContainersOf("blog", name)[0]
					_, err := e.svc.drift.NewHashes(e.stackOf("blog")).ExplainsAll(t.Context(), e.serviceOf("blog", name), &c, false)
					e.must(err)
				}
				if got := len(e.engine.CallsOf("hash")) - before; got != want {
					t.Errorf("%s: compose was asked %d times, want %d", when, got, want)
				}
			}
			asked("at first", 1, "web", "app", "web")
			age(2 * time.Hour)
			asked("a file has changed", 1, "app", "web")
			other := e.image(webRepo, 7)
			other.RepoTags = []string{webRepo + ":1"}
			e.engine.AddImage(other)
			asked("the name stands for another image", 0, "web", "app")
			c := e.engine.ContainersOf("blog", "web")[0]
			e.engine.RemoveContainer(c.ID)
			c.ImageID = other.ID
			e.engine.AddContainer(c)
			asked("a container has another image", map[bool]int{true: 1}[version == "1.29.2"], "app", "web", "web")
		})
	}
}
