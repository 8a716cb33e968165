package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
	"github.com/patchbay-dev/patchbay/core/plugin/host"
	"github.com/patchbay-dev/patchbay/sdk/kinds"
)

// TestOneStateOfAProvider: what the last health check of an instance found is what every place tells of it, whatever its kind.
func TestOneStateOfAProvider(t *testing.T) {
	modes := map[string]string{
		"search": testplugin.Well, "engine": testplugin.ContainerEngine, "notify": testplugin.Channel,
		"registry": testplugin.Upstream, "codehost": testplugin.Upstream, "dns": testplugin.Upstream, "translator": testplugin.Upstream,
	}
	hcl, names := "service \"search\" {\n  backend = search.main\n}\n", map[string]string{}
	for _, kind := range kinds.Names() {
		if modes[kind] == "" {
			t.Fatalf("the test plugin has no instance of the kind %s", kind)
		}
		names["test"+kind] = modes[kind]
		hcl += kind + " \"test" + kind + "\" \"main\" {}\n"
	}
	r, _ := newReloadable(t, names, hcl)
	r.start()
	check := func(state host.State, reason string) {
		t.Helper()
		shown, listed := newProviders(r.App, r.inUse.Load().File), operatorPlugins{r.App}.List()
		metrics, ready := r.metrics(), r.checkReadiness(t.Context()).states()
		value := map[bool]string{true: "1", false: "0"}[state == host.Ready]
		for _, kind := range kinds.Names() {
			ref := kind + ".main"
			for _, in := range shown.Instances() {
				if in.Ref == ref && (in.State != string(state) || in.Message != reason || in.Checked.IsZero()) {
					t.Errorf("home and page of %s: %s, %q, checked %s", ref, in.State, in.Message, in.Checked)
				}
			}
			for _, p := range listed {
				if p.Ref == ref && (p.State != string(state) || p.Message != reason) {
					t.Errorf("status of %s: %s, %q", ref, p.State, p.Message)
				}
			}
			if h, err := shown.Check(t.Context(), ref); err != nil || h.State != string(state) || h.Message != reason {
				t.Errorf("a check of %s: %+v, %v", ref, h, err)
			}
			if text := ready["plugin "+ref]; !strings.HasPrefix(text, string(state)) || !strings.HasSuffix(text, reason) {
				t.Errorf("readyz of %s: %s", ref, text)
			}
			if !strings.Contains(metrics, `patchbay_plugin_instance_serving{ref="`+ref+`"} `+value) {
				t.Errorf("the metrics of %s are not %s", ref, value)
			}
		}
	}
	r.catalog.CheckAllHealth(t.Context())
	check(host.Ready, "")
	unwell := filepath.Join(filepath.Dir(r.path), "unwell")
	must(t, os.WriteFile(unwell, []byte("the daemon is dead"), 0o600))
	r.App.metrics.askHealthSoon()
	testkit.Eventually(t, eventuallyWithin, func() bool { return !r.instanceStates()["engine.main"] }, "a failed call brings about a check")
	r.catalog.CheckAllHealth(t.Context())
	check(host.Degraded, "the daemon is dead")
	must(t, os.Remove(unwell))
	r.catalog.CheckAllHealth(t.Context())
	check(host.Ready, "")
}
