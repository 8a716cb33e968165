package documents_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/patchbay-dev/patchbay/plugins/internal/documents"
	"github.com/patchbay-dev/patchbay/plugins/internal/extract"
)

// TestNothingPanics: whatever a file holds, it is a document or an error with a reason, and its text is bounded.
func TestNothingPanics(t *testing.T) {
	r := documents.NewReader(documents.Config{})
	defer r.Close()
	parts := rapid.OneOf(
		rapid.SampledFrom([]string{"\n", "\n\n", "= T", "== S", "----", "====", "~~~", "::", ".. x::", ".. code:: go", "   ", "\t", ":a: {b}",
			":b: {a}", "{a}", "[source,x]", "[[", "]]", "<<", ">>", "image::x[",
			"* ", "#+BEGIN_SRC", "#+END_SRC", ":PROPERTIES:", ":END:", "[[a][b]]", "`", "``", "`x <y>`_", ":ref:`x`", "```", "---", "{{", "}}",
			"<!--", "<b", "data:image/png;base64,", `{"cells":[`, "\xd6\xd0", "\xff\xfe", "\x00a", "\x81"}),
		rapid.StringN(0, 20, -1), rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 20), func(b []byte) string { return string(b) }),
	)
	rapid.Check(t, func(t *rapid.T) {
		data := strings.Join(rapid.SliceOfN(parts, 0, 60).Draw(t, "parts"), "")
		name := "x" + rapid.SampledFrom([]string{".md", ".adoc", ".rst", ".org", ".ipynb", ".html", ".docx", ".txt", ".js", ""}).Draw(t, "ext")
		doc, err := r.Read(t.Context(), name, []byte(data), extract.Markdown)
		switch {
		case err != nil && documents.FindReason(err) == documents.Unreadable:
			t.Fatalf("an error without a reason: %v", err)
		case err == nil && (strings.TrimSpace(doc.Text) == "" || doc.Title == "" || len(doc.Text) > 100*len(data)+1000):
			t.Fatalf("title %q, %d bytes of %d", doc.Title, len(doc.Text), len(data))
		}
	})
}
