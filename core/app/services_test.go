package app

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/console"
	"github.com/patchbay-dev/patchbay/core/module"
	"github.com/patchbay-dev/patchbay/core/settings"
)

// TestAllReferencesAreCables: what a service's block names is drawn on the patch panel, in the order of its schema.
func TestAllReferencesAreCables(t *testing.T) {
	use := func(kind, name string) console.Use { return console.Use{Kind: kind, Ref: kind + "." + name} }
	want := []console.Service{
		{Name: "search", BaseURL: "/search", Uses: []console.Use{use("search", "main")}},
		{Name: "mail", BaseURL: "/mail"},
		{Name: "releases", BaseURL: "/releases", Uses: []console.Use{use("codehost", "main")}},
		{Name: "containers", BaseURL: "/", Uses: []console.Use{
			use("engine", "main"), use("registry", "main"), use("codehost", "main"), use("notify", "gone"), use("notify", "main"),
		}},
	}
	if diff := cmp.Diff(want, panelServices(startApp(t, nil).set)); diff != "" {
		t.Errorf("the services of the panel (-want +got):\n%s", diff)
	}
}

// TestScopesAreTheServices: API keys can be confined to the services that the core has.
func TestScopesAreTheServices(t *testing.T) {
	if got := startApp(t, nil).users.Keys.Scopes(); !cmp.Equal(got, []string{"search", "mail", "releases", "containers"}) {
		t.Errorf("the scopes are %q", got)
	}
}

func TestTwoServicesOfOneName(t *testing.T) {
	src := settings.Source{Services: append(Modules(), module.Definition{Name: "search", Settings: Modules()[0].Settings})}
	if _, _, err := src.Read(); err == nil || !strings.Contains(err.Error(), `two services have the name "search"`) {
		t.Errorf("got %v", err)
	}
}
