package pages

import "testing"

// TestExcerpts shows the beginnings of notes without what only a renderer shows.
func TestExcerpts(t *testing.T) {
	for source, want := range map[string]string{
		"## New :rocket:\n\n* **Fast** [guide](x.md)": "New · Fast guide", "> [!WARNING]\n> Back up[^1]\n\n[^1]: first": "Back up · first",
		"![shot](a.png) `code` at 10:30:45": "code at 10:30:45", "": "",
	} {
		if got := bodyExcerpt(source); got != want {
			t.Errorf("%q: got %q, want %q", source, got, want)
		}
	}
}
