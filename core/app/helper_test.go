package app

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/admin"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
	"github.com/patchbay-dev/patchbay/core/settings"
)

// pluginProgram is the plugin of package testplugin, which holds no built-in plugins.
var pluginProgram string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "pb")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if pluginProgram, err = testplugin.Build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// startApp runs a core with every service that there is, on the plugin of package testplugin.
func startApp(t *testing.T, env map[string]string) *App {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plugin.hcl")
	hcl := `
search "testsearch" "main" {}
engine "testengine" "main" {}
registry "testupstream" "main" {}
codehost "testupstream" "main" {}
notify "testchannel" "main" {}
notify "testgone" "gone" {
  required = false
}
service "search" {
  backend = search.main
}
service "mail" {
  domains        = ["mail.localhost"]
  inbound_secret = "a secret of a mail worker"
}
service "releases" {
  codehosts = [codehost.main]
}
service "containers" {
  engine     = engine.main
  registries = registry.main
  codehost   = codehost.main
  notify     = [notify.gone, notify.main]
}
`
	for name, mode := range map[string]string{"testsearch": testplugin.Well, "testengine": testplugin.ContainerEngine,
		"testupstream": testplugin.Upstream, "testchannel": testplugin.Channel, "testgone": testplugin.Exit} {
		hcl += pluginBlock(name, mode)
	}
	must(t, os.WriteFile(path, []byte(hcl), 0o600))
	lookup := func(name string) (string, bool) {
		v, ok := env[name]
		switch name {
		case "SVC_PLUGIN_BINARY":
			v, ok = pluginProgram, true
		case "SVC_SCHEDULES":
			v, ok = "false", true
		case "SVC_HTTP_ADDR", "SVC_ADMIN_ADDR":
			if !ok {
				v, ok = "127.0.0.1:0", true
			}
		}
		return v, ok
	}
	_, diags, err := admin.LockPlugins(t.Context(), settings.Source{Path: path, Env: lookup, Services: Modules()})
	must(t, err)
	must(t, diags.Err())
	a, diags, err := Start(t.Context(), Config{Path: path, Env: lookup, Version: "test", Logger: hclog.NewNullLogger()})
	must(t, err)
	must(t, diags.Err())
	t.Cleanup(func() { _ = a.Close() })
	return a
}

// pluginBlock returns the block of plugin.hcl for the plugin in a mode.
func pluginBlock(name, mode string) string {
	return fmt.Sprintf("plugin %q {\n  path = %q\n  args = [%q, %q]\n}\n", name, pluginProgram, testplugin.Marker, mode)
}

// serviceOf returns a running service as what the test needs of it.
func serviceOf[T any](t *testing.T, a *App, name string) T {
	t.Helper()
	for _, s := range a.services {
		if needed, ok := s.Service.(T); ok && s.name == name {
			return needed
		}
	}
	t.Fatalf("there is no service %q of the type %T", name, *new(T))
	return *new(T)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
