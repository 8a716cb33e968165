package local

import (
	"os"
	"testing"
)

// TestSlowFilesComeLast: what takes long to read does not keep searches from the rest.
func TestSlowFilesComeLast(t *testing.T) {
	pdf, err := os.ReadFile("testdata/crane.pdf")
	if err != nil {
		t.Fatal(err)
	}
	base := t.TempDir()
	writeDoc(t, base, "a.pdf", string(pdf))
	writeDoc(t, base, "z.md", "# Filler\n\nNothing of interest.\n")
	f, rec := newTestFollower(t, base)
	if err := f.sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(rec.documents) != 2 || !f.manifest["file:docs/a.pdf"].Text || !f.manifest["file:docs/z.md"].Text {
		t.Errorf("batches of %d, %+v", rec.documents, f.manifest)
	}
}
