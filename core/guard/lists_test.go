package guard

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEveryFilteredListSaysWhatItHides: whoever writes a page with a filter or a search shows its empty list by ui.EmptyList, which tells
// what is hidden and leads to all rows.
func TestEveryFilteredListSaysWhatItHides(t *testing.T) {
	filters := regexp.MustCompile(`ui\.FilterForm\(|role="search"`)
	files, err := filepath.Glob("../services/*/pages/*.templ")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("../console/*.templ")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range append(files, more...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n := len(filters.FindAll(text, -1))
		found += n
		if empty := strings.Count(string(text), "ui.EmptyList("); empty < n {
			t.Errorf("%s has %d filters, and %d empty lists that say what these hide: use ui.EmptyList", file, n, empty)
		}
	}
	if found < 10 {
		t.Errorf("only %d filters were found", found)
	}
}
