package pages

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"
)

// TestEveryDeployCheckHasTexts: the checks of the service have a title of their own in both languages.
func TestEveryDeployCheckHasTexts(t *testing.T) {
	source, err := os.ReadFile("../deploycheck/report.go")
	if err != nil {
		t.Fatal(err)
	}
	checks := regexp.MustCompile(`\{"((?:core|feature)\.[a-z_]+)", "`).FindAllSubmatch(source, -1)
	if len(checks) < 8 {
		t.Fatalf("only %d checks were found in the service", len(checks))
	}
	for _, lang := range []string{"en", "zh"} {
		raw, err := os.ReadFile("locales/" + lang + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var texts map[string]any
		if err := json.Unmarshal(raw, &texts); err != nil {
			t.Fatal(err)
		}
		for _, c := range checks {
			if key := "containers.deploy." + string(c[1]) + ".title"; texts[key] == nil {
				t.Errorf("%s has no text %s", lang, key)
			}
		}
	}
}
