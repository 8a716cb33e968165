package app

import (
	"os"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/services/containers/notice"
	"github.com/patchbay-dev/patchbay/core/texts/locale"
)

// TestAlertKindsAreWhole: no two kinds of notifications have one name. Each alert has its words in both languages, and a row in the
// document of authors. The kinds of the containers service are registered as well; its own test checks their messages.
func TestAlertKindsAreWhole(t *testing.T) {
	document, err := os.ReadFile("../../sdk/docs/AUTHORING.md")
	must(t, err)
	seen, written := map[string]bool{}, 0
	for _, k := range notify.Kinds() {
		name := k.Service + "." + k.Name
		if seen[name] {
			t.Errorf("two kinds are named %s", name)
		}
		seen[name] = true
		if k.Texts == nil {
			written++
			continue
		}
		if row := "| `" + name + "` | `" + k.Severity.String() + "` | "; !strings.Contains(string(document), row) {
			t.Errorf("AUTHORING.md has no row %q", row)
		}
		titles := map[string]bool{}
		for _, lang := range locale.Languages() {
			a := k.NewAlert(lang, k.Name)
			titles[a.Title] = true
			if a.Kind != k.Name || a.Service != k.Service || strings.Contains(a.Title, "⟦") {
				t.Errorf("%s in %s is %+v", name, lang, a)
			}
		}
		if len(titles) != len(locale.Languages()) {
			t.Errorf("%s has the same title in several languages: %v", name, titles)
		}
	}
	if alerts := len(seen) - written; alerts < 8 || written != len(notice.Kinds()) {
		t.Errorf("%d kinds of alerts and %d of the containers service are registered", alerts, written)
	}
}
