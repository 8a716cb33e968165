package notice

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/services/containers/news"
)

// TestNotificationKindsAreWhole: each kind writes a message in both languages, has the schema of its payload, its names in the pages, and a
// row in the documents.
func TestNotificationKindsAreWhole(t *testing.T) {
	read := func(path string) string {
		t.Helper()
		raw, err := os.ReadFile(filepath.FromSlash(path))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	texts := map[string]map[string]any{}
	for _, locale := range []string{"en", "zh"} {
		all := map[string]any{}
		if err := json.Unmarshal([]byte(read("../pages/locales/"+locale+".json")), &all); err != nil {
			t.Fatal(err)
		}
		texts[locale] = all
	}
	schemas, err := fs.Glob(news.Schemas(), "*.schema.json")
	if err != nil || len(schemas) != len(Kinds()) {
		t.Errorf("schemas %v, %v; want one for each kind", schemas, err)
	}
	services := []news.Service{{StackID: "stk_1", StackName: "web", ServiceID: "svc_1", ServiceName: "app"}}
	for _, k := range Kinds() {
		if raw, err := fs.ReadFile(news.Schemas(), k.Schema+".schema.json"); err != nil || !strings.Contains(string(raw), `"`+k.Name+`"`) {
			t.Errorf("%s: the schema %s names another kind, or is missing: %v", k.Name, k.Schema, err)
		}
		keys := []string{"containers.notify.kind." + k.Name}
		if k.Event != "" {
			keys = append(keys, "containers.notify.event."+k.Switch, "containers.notify.event."+k.Switch+".hint")
		}
		said := map[string]bool{}
		for locale, all := range texts {
			for _, key := range keys {
				if all[key] == nil {
					t.Errorf("%s: the pages lack the text %s in %s", k.Name, key, locale)
				}
			}
			m, err := k.Sample(news.Writer{Locale: locale, Now: time.Now()}, "ada", services)
			if err != nil || m.Kind != k.Name || m.Schema != k.Schema || m.Card == nil {
				t.Errorf("%s in %s: the sample is %+v, %v", k.Name, locale, m, err)
				continue
			}
			said[m.Title.Plain+"\n"+m.Summary.Plain] = true
		}
		if len(said) != len(texts) {
			t.Errorf("%s says %v: want other words in each language", k.Name, said)
		}
		if !strings.Contains(read("../../../docs/containers.md"), "| `"+k.Name+"` |") {
			t.Errorf("core/docs/containers.md has no row for %s", k.Name)
		}
		if !strings.Contains(read("../../../../sdk/docs/AUTHORING.md"), "| `"+k.Name+"` | `"+k.Schema+"` |") {
			t.Errorf("sdk/docs/AUTHORING.md has no row for %s with its schema", k.Name)
		}
	}
}
