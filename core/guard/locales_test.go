package guard

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/texts/locale"
)

// differing are the texts that may have other parameters in Chinese, or no Chinese words.
var differing = map[string]bool{
	"backup_failed.text": true, // the English message names the place by itself
	"containers.cpu":     true,
	"mail.part.html":     true,
	"test.message":       true, // fixed, in all languages
}

// TestLocalesAreWhole compares the languages of every folder of texts: the same ids, in each text the same parameters, and Chinese words.
// The supervisor writes the English texts of faults where it returns them.
func TestLocalesAreWhole(t *testing.T) {
	folders := 0
	err := filepath.WalkDir(filepath.Join(root(t), "core"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || d.Name() != "locales" {
			return err
		}
		folders++
		if _, err := locale.Read(os.DirFS(path)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		name := filepath.Base(filepath.Dir(filepath.Dir(path))) + "/" + filepath.Base(filepath.Dir(path))
		t.Run(name, func(t *testing.T) {
			compareLanguages(t, readTexts(t, path, locale.English), readTexts(t, path, locale.Chinese))
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if folders < 12 {
		t.Errorf("%d folders of texts were found; have they moved?", folders)
	}
}

// readTexts returns those of a language: strings, or objects with plural forms.
func readTexts(t *testing.T, dir, lang string) map[string]any {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, lang+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// listForms returns the plural forms of a text.
func listForms(v any) (out []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case map[string]any:
		for _, form := range v {
			if s, ok := form.(string); ok {
				out = append(out, s)
			}
		}
	}
	return out
}

var englishWord = regexp.MustCompile(`[A-Za-z]{3}`)

var textParameter = regexp.MustCompile(`\{\{\.[A-Za-z0-9]+\}\}`)

// compareLanguages compares the texts of two languages.
func compareLanguages(t *testing.T, en, zh map[string]any) {
	t.Helper()
	for id, v := range en {
		other, ok := zh[id]
		if !ok {
			t.Errorf("%s has no Chinese text", id)
			continue
		}
		for _, form := range listForms(v) {
			if form == "" {
				t.Errorf("%s is empty", id)
			}
		}
		for _, form := range listForms(other) {
			if want, got := listParameters(listForms(v)), listParameters([]string{form}); !cmp.Equal(want, got) && !differing[id] {
				t.Errorf("%s: the parameters are %v in English and %v in Chinese", id, want, got)
			}
			words := strings.ReplaceAll(textParameter.ReplaceAllString(form, ""), "Patchbay", "")
			if !strings.ContainsFunc(words, func(r rune) bool { return unicode.Is(unicode.Han, r) }) && englishWord.MatchString(words) && !differing[id] {
				t.Errorf("%s is not translated: %q", id, form)
			}
		}
	}
	for id := range zh {
		if en[id] == nil && !(strings.HasSuffix(t.Name(), "core/supervisor") && strings.HasPrefix(id, "fault.")) {
			t.Errorf("%s has no English text", id)
		}
	}
}

// listParameters returns the parameters of some texts, sorted, each once.
func listParameters(all []string) []string {
	var out []string
	for _, s := range all {
		out = append(out, textParameter.FindAllString(s, -1)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
