package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/core/admin"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
	"github.com/patchbay-dev/patchbay/core/services/containers"
)

// TestCheckRefusesWhatServeRefuses starts a core with each configuration as well: both name the setting.
func TestCheckRefusesWhatServeRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		core, rest string
		env        map[string]string
		keyFile    string
		// names stands in what both report, the setting in what the check reports.
		names, setting string
	}{
		"port too large":        {core: `http_addr = "127.0.0.1:70000"`, names: "70000", setting: "http_addr"},
		"no port":               {core: `http_addr = "127.0.0.1"`, names: "127.0.0.1", setting: "http_addr"},
		"port is a word":        {core: `admin_addr = "127.0.0.1:http-nine"`, names: "http-nine", setting: "admin_addr"},
		"no host name":          {core: `admin_addr = "http://localhost:8080"`, names: "localhost", setting: "admin_addr"},
		"foreign address":       {core: `http_addr = "192.0.2.1:0"`, names: "192.0.2.1", setting: "http_addr"},
		"one address for both":  {core: "http_addr = \":48123\"\n  admin_addr = \"127.0.0.1:48123\"", names: "48123", setting: "admin_addr"},
		"no CIDR":               {core: `trusted_proxies = ["10.0.0.0/33"]`, names: "10.0.0.0/33", setting: "trusted_proxies"},
		"no address":            {core: `trusted_proxies = ["localhost"]`, names: "localhost", setting: "trusted_proxies"},
		"master key too short":  {env: map[string]string{"SVC_SECRET_KEY": "c2hvcnQ="}, names: "32", setting: "secret_key"},
		"master key not base64": {env: map[string]string{"SVC_SECRET_KEY": "no key!"}, names: "base64", setting: "secret_key"},
		"key file damaged":      {keyFile: "damaged", names: "base64", setting: "data_dir"},
		"data dir is a file":    {core: `data_dir = "plugin.hcl"`, names: "plugin.hcl", setting: "data_dir"},
		"database URL": {rest: "storage \"postgres\" {\n  url = \"postgres://someone:pass word@[::1/db\"\n}\n",
			names: "percent-encode the password", setting: "url"},
		"database URL of another": {rest: "storage \"postgres\" {\n  url = \"mysql://someone@db/x\"\n}\n", names: "not a valid postgres:// URL",
			setting: "url"},
		"database URL by variable": {rest: "storage \"postgres\" {}\n",
			env: map[string]string{"SVC_DATABASE_URL": "postgres://someone:pass word@db/x"}, names: "percent-encode the password", setting: "url"},
		"replicas on SQLite": {rest: "storage \"sqlite\" {\n  replicas = true\n}\n", names: "use storage \"postgres\"", setting: "replicas"},
		"replicas on SQLite by variable": {env: map[string]string{"SVC_REPLICAS": "true"}, names: "use storage \"postgres\"",
			setting: "replicas"},
		"replicas without a master key": {rest: "storage \"postgres\" {\n  url = \"postgres://someone@127.0.0.1:1/x\"\n  replicas = true\n}\n",
			names: "set the same one (SVC_SECRET_KEY)", setting: "secret_key"},
		"public URL with a path": {core: `public_url = "https://example.com/patchbay"`, names: "a host name of its own", setting: "public_url"},
		"public URL": {core: `public_url = "https://someone:pass word@example.com"`, names: "percent-encode the password",
			setting: "public_url"},
		"proxy of the core": {env: map[string]string{"HTTPS_PROXY": "someone:pass word@proxy:3128"}, names: "percent-encode the password",
			setting: "HTTPS_PROXY"},
		"traces": {env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "https://someone:pass word#@collector"},
			names: "percent-encode the password", setting: "OTEL_EXPORTER_OTLP_ENDPOINT"},
		"proxy secret too short": {core: `proxy_secret = "short"`, names: "16", setting: "proxy_secret"},
		"base URL": {rest: "service \"search\" {\n  backend = search.main\n  base_url = \"no path\"\n}\n", names: "base_url",
			setting: "base_url"},
	} {
		t.Run(name, func(t *testing.T) {
			r, text := newReloadable(t, map[string]string{"one": testplugin.Well}, "search \"one\" \"main\" {}\n")
			usual := r.env
			r.env = func(key string) (string, bool) {
				if v, ok := c.env[key]; ok {
					return v, true
				}
				// What the file says of the addresses counts.
				if strings.HasSuffix(key, "_ADDR") && strings.Contains(c.core, "_addr") {
					return "", false
				}
				return usual(key)
			}
			r.write("core {\n  " + c.core + "\n}\n" + c.rest + text)
			if c.keyFile != "" {
				data := filepath.Join(filepath.Dir(r.path), "data")
				must(t, os.MkdirAll(data, 0o700))
				must(t, os.WriteFile(filepath.Join(data, "master.key"), []byte(c.keyFile), 0o600))
			}
			diags, err := admin.CheckConfig(t.Context(), r.source(), "test")
			must(t, err)
			checked := diags.Err()
			if checked == nil || !strings.Contains(checked.Error(), c.names) || !strings.Contains(checked.Error(), c.setting) {
				t.Errorf("the check reports %v, want %q at %s", checked, c.names, c.setting)
			}
			if checked != nil && strings.Contains(checked.Error(), "pass word") {
				t.Errorf("the check shows a password: %v", checked)
			}
			a, diags, err := Start(t.Context(), Config{Path: r.path, Env: r.env, Version: "test", Logger: hclog.NewNullLogger()})
			if err == nil {
				err = diags.Err()
			}
			if err == nil {
				t.Error("a core starts with it")
				must(t, a.Close())
			} else if !strings.Contains(err.Error(), c.names) {
				t.Errorf("the start reports %v, want %q", err, c.names)
			}
		})
	}
}

// TestCheckReportsEveryFinding makes one mistake of each sort: each is found although the others are there, and each once.
func TestCheckReportsEveryFinding(t *testing.T) {
	r, text := newReloadable(t, map[string]string{"one": testplugin.Well},
		"search \"one\" \"main\" {\n  config {\n    wrong_setting = 1\n  }\n}\nsearch \"nobody\" \"none\" {}\n")
	usual := r.env
	r.env = func(key string) (string, bool) {
		if strings.HasSuffix(key, "_ADDR") {
			return "", false
		}
		return usual(key)
	}
	r.write("core {\n  http_addr = \"127.0.0.1:0\"\n  admin_addr = \"192.0.2.1:0\"\n  drain = \"-1s\"\n  unknown_setting = 1\n}\nplugin \"unpinned\" {\n  path = \"unpinned\"\n}\n" +
		"search \"unpinned\" \"other\" {}\nbackup {\n  to = \"plugin.hcl\"\n  keep = 0\n}\n" + text)
	diags, err := admin.CheckConfig(t.Context(), r.source(), "test")
	must(t, err)
	for _, want := range []string{"drain: must not be negative", "unknown_setting", "192.0.2.1", "wrong_setting", `"nobody"`, "has no digest",
		"must be from 1 to 1000"} {
		n := 0
		for _, d := range diags {
			if strings.Contains(d.Summary+" "+d.Detail, want) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s is found %d times: %v", want, n, diags)
		}
	}
}

func TestCheckLeavesNothingAndAllowsARunningCore(t *testing.T) {
	r, _ := newReloadable(t, map[string]string{"one": testplugin.Well}, "search \"one\" \"main\" {}\n")
	check := func() {
		t.Helper()
		diags, err := admin.CheckConfig(t.Context(), r.source(), "test")
		must(t, err)
		must(t, diags.Err())
	}
	check()
	if _, err := os.Stat(filepath.Join(filepath.Dir(r.path), "data", "master.key")); err == nil {
		t.Error("the check made a master key")
	}
	r.start()
	usual, taken := r.env, r.AdminAddr()
	r.env = func(key string) (string, bool) {
		if key == "SVC_ADMIN_ADDR" {
			return taken, true
		}
		return usual(key)
	}
	check()
}

func TestLockIsWrittenAnew(t *testing.T) {
	r, _ := newReloadable(t, map[string]string{"one": testplugin.Well}, "search \"one\" \"main\" {}\n")
	path := config.LockPath(r.path)
	whole, err := os.ReadFile(path)
	must(t, err)
	for name, damaged := range map[string]string{
		"cut off": string(whole[:len(whole)/2]), "other text": "<<<<<<< ours\n",
		"no digest": strings.Replace(string(whole), "sha256:", "md5:", 1),
		"twice":     string(whole) + string(whole), "huge": strings.Repeat("#\n", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			must(t, os.WriteFile(path, []byte(damaged), 0o600))
			diags, err := admin.CheckConfig(t.Context(), r.source(), "test")
			must(t, err)
			if !diags.HasErrors() {
				t.Fatal("the check accepts the damaged lock file")
			}
			written, diags, err := admin.LockPlugins(t.Context(), r.source())
			must(t, err)
			must(t, diags.Err())
			if len(written) < 2 || len(diags) != 1 || !strings.Contains(diags[0].Detail, "written anew") {
				t.Errorf("it wrote %q and told %v", written, diags)
			}
			got, err := os.ReadFile(path)
			must(t, err)
			if string(got) != string(whole) {
				t.Errorf("the lock file is\n%s\nwant\n%s", got, whole)
			}
		})
	}
}

func TestListShowsAnUnlockedPlugin(t *testing.T) {
	r, text := newReloadable(t, map[string]string{"one": testplugin.Well}, "search \"one\" \"main\" {}\n")
	r.write(text + r.plugins(map[string]string{"other": testplugin.Well}))
	list, err := admin.ListPlugins(t.Context(), r.source())
	must(t, err)
	if len(list) != 2 || list[0].Name != "other" || !strings.Contains(list[0].Summary, "patchbay plugin lock") || list[0].Version != "" ||
		list[1].Kind != "search" || list[1].Version == "" {
		t.Errorf("the list is %+v", list)
	}
}

// TestCodeHostSpellings reads the attribute in both spellings.
func TestCodeHostSpellings(t *testing.T) {
	for attribute, want := range map[string]struct{ ref, problem string }{
		"codehost = codehost.main":  {ref: "codehost.main"},
		"code_host = codehost.main": {ref: "codehost.main"},
		"":                          {},
		"codehost = codehost.main\n code_host = codehost.main": {problem: "another spelling of codehost"},
		"code_host = engine.local":                             {problem: "Wrong kind of instance"},
	} {
		r, _ := newReloadable(t, nil, "")
		r.write(`
engine "docker" "local" {}
registry "oci" "default" {}
codehost "github" "main" {}
service "containers" {
  engine     = engine.local
  registries = [registry.default]
  ` + attribute + `
}
`)
		set, diags, err := r.source().Read()
		must(t, err)
		if want.problem != "" {
			if text := diags.Error(); !strings.Contains(text, want.problem) {
				t.Errorf("%q is reported as %q, want %q", attribute, text, want.problem)
			}
			continue
		}
		must(t, diags.Err())
		if got := set.Service("containers").Block.(*containers.Settings).CodeHostRef(); got != want.ref {
			t.Errorf("%q names %q, want %q", attribute, got, want.ref)
		}
	}
}
