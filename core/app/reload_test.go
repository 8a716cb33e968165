package app

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/core/admin"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
	"github.com/patchbay-dev/patchbay/core/plugin/host"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
	"github.com/patchbay-dev/patchbay/core/settings"
)

const eventuallyWithin = 15 * time.Second

// reloadable is a core whose plugins' modes and whose configuration the test changes.
type reloadable struct {
	*App
	t    *testing.T
	path string
	env  config.Env
}

// plugins are blocks of the plugin of package testplugin, by name and mode. Each mode is read from a file at each start.
func (r *reloadable) plugins(modes map[string]string) (blocks string) {
	for name, mode := range modes {
		r.setMode(name, mode)
		script := filepath.Join(filepath.Dir(r.path), name+".sh")
		must(r.t, os.WriteFile(script, fmt.Appendf(nil, "#!/bin/sh\nexport %s='%s'\nexec '%s' '%s' \"$(cat '%s.mode')\"\n", testplugin.EnvUnwell,
			filepath.Join(filepath.Dir(r.path), "unwell"), pluginProgram, testplugin.Marker, filepath.Join(filepath.Dir(r.path), name)), 0o700))
		blocks += fmt.Sprintf("plugin %q {\n  path = %q\n}\n", name, script)
	}
	return blocks
}

func (r *reloadable) setMode(name, mode string) {
	r.t.Helper()
	must(r.t, os.WriteFile(filepath.Join(filepath.Dir(r.path), name+".mode"), []byte(mode), 0o600))
}

func (r *reloadable) write(hcl string) {
	r.t.Helper()
	must(r.t, os.WriteFile(r.path, []byte(hcl), 0o600))
}

func (r *reloadable) source() settings.Source {
	return settings.Source{Path: r.path, Env: r.env, Services: Modules()}
}

func (r *reloadable) reload() error {
	diags, err := r.Reload(r.t.Context())
	if err == nil {
		err = diags.Err()
	}
	return err
}

// newReloadable writes a configuration and the lock file that belongs to it.
func newReloadable(t *testing.T, modes map[string]string, hcl string) (r *reloadable, text string) {
	t.Helper()
	r = &reloadable{t: t, path: filepath.Join(t.TempDir(), "plugin.hcl")}
	r.env = func(name string) (string, bool) {
		switch name {
		case "SVC_PLUGIN_BINARY":
			return pluginProgram, true
		case "SVC_SCHEDULES":
			return "false", true
		case "SVC_HTTP_ADDR", "SVC_ADMIN_ADDR":
			return "127.0.0.1:0", true
		}
		return "", false
	}
	text = hcl + r.plugins(modes)
	r.write(text)
	_, diags, err := admin.LockPlugins(t.Context(), r.source())
	must(t, err)
	must(t, diags.Err())
	return r, text
}

func (r *reloadable) start() config.Diagnostics {
	r.t.Helper()
	a, diags, err := Start(r.t.Context(), Config{Path: r.path, Env: r.env, Version: "test", Logger: hclog.NewNullLogger(),
		RetryEvery: 50 * time.Millisecond})
	must(r.t, err)
	must(r.t, diags.Err())
	r.t.Cleanup(func() { _ = a.Close() })
	r.App = a
	return diags
}

func (r *reloadable) get(url string, header ...string) string {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, url, nil)
	must(r.t, err)
	req.Header.Set("Accept", "text/html")
	if len(header) == 2 {
		req.Header.Set(header[0], header[1])
	}
	res, err := http.DefaultClient.Do(req)
	must(r.t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	must(r.t, err)
	return string(raw)
}

func (r *reloadable) readyz() string  { return r.get("http://" + r.AdminAddr() + "/readyz") }
func (r *reloadable) metrics() string { return r.get("http://" + r.AdminAddr() + "/metrics") }

const twoBackends = `
search "one" "main" {
  config { answer = "first" }
}
search "two" "spare" {
  required = false
}
service "search" {
  backend = [search.main, search.spare]
}
`

func TestRejectedReloadIsShown(t *testing.T) {
	r, text := newReloadable(t, map[string]string{"one": testplugin.Well, "two": testplugin.Well}, twoBackends)
	r.start()
	for _, tc := range []struct {
		name, hcl string
		rejected  bool
	}{
		{"bad", strings.Replace(text, "search.spare]", "search.nowhere]", 1), true},
		{"good again", text, false},
	} {
		r.write(tc.hcl)
		if err := r.reload(); (err != nil) != tc.rejected {
			t.Fatalf("%s: %v", tc.name, err)
		}
		ready := r.readyz()
		if strings.Contains(ready, "was rejected") != tc.rejected || strings.Contains(ready, "nowhere") != tc.rejected {
			t.Errorf("%s: readyz %s", tc.name, ready)
		}
		want := map[bool]string{true: "patchbay_config_last_reload_successful 0", false: "patchbay_config_last_reload_successful 1"}[tc.rejected]
		if !strings.Contains(r.metrics(), want) {
			t.Errorf("%s: not among the metrics: %s", tc.name, want)
		}
		for lang, words := range map[string]string{"en": "last reload of the configuration was rejected", "zh-CN": "上次重新加载配置被拒绝"} {
			if page := r.get("http://"+r.Addr()+"/system/sign-in", "Accept-Language", lang); strings.Contains(page, words) != tc.rejected {
				t.Errorf("%s: the page in %s does not fit", tc.name, lang)
			}
		}
	}
}

// A service that cannot take the new settings keeps the instances from changing as well.
func TestReloadIsAllOrNothing(t *testing.T) {
	r, text := newReloadable(t, map[string]string{"one": testplugin.Well, "two": testplugin.Exit}, twoBackends)
	r.start()
	set, before := r.set, r.catalog.Instance("search.main")
	r.write(strings.NewReplacer(`"first"`, `"second"`, "[search.main, search.spare]", "[search.spare]", `backend =`,
		"base_url = \"/elsewhere\"\n  backend =").Replace(text))
	if err := r.reload(); err == nil || !strings.Contains(err.Error(), "search.spare") {
		t.Fatalf("got %v", err)
	}
	if r.set != set || r.catalog.Instance("search.main") != before {
		t.Error("a part of a rejected configuration is in use")
	}
	if n := len(before.Process().Status().Instances); n != 1 {
		t.Errorf("the process has %d instances", n)
	}
	r.write(strings.Replace(text, `"first"`, `"second"`, 1))
	must(t, r.reload())
	if r.catalog.Instance("search.main") == before {
		t.Error("the instance is still the former one")
	}
}

func TestReloadWhileAPluginIsDown(t *testing.T) {
	r, text := newReloadable(t, map[string]string{"one": testplugin.Well, "two": testplugin.Well}, twoBackends)
	r.start()
	r.setMode("two", testplugin.Exit)
	down := r.catalog.Instance("search.spare").Process()
	link, err := down.Link()
	must(t, err)
	must(t, syscall.Kill(link.PID, syscall.SIGKILL))
	testkit.Eventually(t, eventuallyWithin, func() bool {
		st := down.Status()
		return st.State == host.Backoff && strings.Contains(st.Message, "cannot go on")
	}, "the plugin is down")
	r.write(strings.Replace(text, `"first"`, `"second"`, 1))
	must(t, r.reload())
	if got := string(r.catalog.Instance("search.main").JSON); !strings.Contains(got, "second") {
		t.Errorf("the instance has %s", got)
	}
	r.setMode("two", testplugin.Well)
	must(t, r.reload())
	testkit.Eventually(t, eventuallyWithin, func() bool { return down.Status().State == host.Ready }, "the plugin is ready")
}

// An instance that is not required is left out, shown, and put into use as soon as it can be built.
func TestOptionalInstanceIsTriedAgain(t *testing.T) {
	r, _ := newReloadable(t, map[string]string{"one": testplugin.Well, "two": testplugin.Exit}, twoBackends)
	r.start()
	if verbose := r.get("http://" + r.AdminAddr() + "/readyz?verbose"); !strings.HasPrefix(verbose,
		`{"ready":true,"parts":[{"name":"database","state":"ok","required":true,"tookMs":`) ||
		!strings.Contains(verbose, `{"name":"plugin search.spare","state":"left out, and tried again: `) {
		t.Errorf("readyz?verbose %s", verbose)
	}
	if ready := r.readyz(); !strings.Contains(ready, "left out, and tried again: ") || !strings.Contains(ready, "cannot go on") {
		t.Errorf("readyz: %s", ready)
	}
	if !strings.Contains(r.metrics(), `patchbay_plugin_instance_serving{ref="search.spare"} 0`) {
		t.Error("the metrics do not tell")
	}
	shown := newProviders(r.App, r.set.File).Instances()
	if in := shown[1]; in.State != "off" || !strings.Contains(in.Message, "cannot go on") || in.Since.IsZero() {
		t.Errorf("the page shows %+v", in)
	}
	r.setMode("two", testplugin.Well)
	testkit.Eventually(t, eventuallyWithin, func() bool { return strings.Contains(r.readyz(), `"plugin search.spare":"ready"`) },
		"it is in use")
	if !strings.Contains(r.metrics(), `patchbay_plugin_instance_serving{ref="search.spare"} 1`) {
		t.Error("the metrics do not tell that it is in use")
	}
	if n := len(serviceOf[interface{ LogCatalog() audit.LogCatalog }](t, r.App, "search").LogCatalog().Backends); n != 2 {
		t.Errorf("the chain has %d backends", n)
	}
}

// What an instance that is not required cannot do is a warning with its line; what the file has wrong stays an error.
func TestOptionalInstances(t *testing.T) {
	const spare = `
search "one" "main" {}
service "search" {
  backend = [search.main, search.spare]
}
search "two" "spare" {
  required = false
  config { %s }
}
`
	for _, tc := range []struct{ name, mode, config, says, line string }{
		{"Start", testplugin.Exit, "", "ended at its start", ":6"},
		{"Kind", testplugin.OtherService, "", "offers patchbay.search.v9.Search", ":6"},
		{"Schema", testplugin.OddSchema, "", "describes its configuration wrongly", ":6"},
		{"Validate", testplugin.Well, "reject = true", "rejected as asked", ":8"},
		{"Configure", testplugin.Well, "reject_open = true", "rejected at opening", ":8"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, _ := newReloadable(t, map[string]string{"one": testplugin.Well, "two": tc.mode}, fmt.Sprintf(spare, tc.config))
			diags := r.start()
			var text bytes.Buffer
			must(t, diags.WriteText(&text, false))
			for _, d := range diags {
				if strings.Contains(d.String(), tc.says) && strings.Contains(d.String(), "plugin.hcl"+tc.line) &&
					strings.Contains(d.String(), "tried again") {
					return
				}
			}
			t.Errorf("no warning at plugin.hcl%s says %q:\n%s", tc.line, tc.says, &text)
		})
	}
	t.Run("ErrInTheFile", func(t *testing.T) {
		r, _ := newReloadable(t, map[string]string{"one": testplugin.Well, "two": testplugin.Well}, fmt.Sprintf(spare, `answr = "x"`))
		diags, err := admin.CheckConfig(context.Background(), r.source(), "test")
		if err != nil || !strings.Contains(diags.Error(), "answr") {
			t.Errorf("got %v, %v", diags, err)
		}
	})
}
