package local

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/documents"
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
	if err := f.syncFiles(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(rec.documents) != 2 || !f.manifest["file:docs/a.pdf"].Text || !f.manifest["file:docs/z.md"].Text {
		t.Errorf("batches of %d, %+v", rec.documents, f.manifest)
	}
}

// TestPassingReasonsAreTriedAgain: a file that could not be read because of the machine is left out with its reason, left alone for
// a while, and read again then, although it is the same.
func TestPassingReasonsAreTriedAgain(t *testing.T) {
	pdf, err := os.ReadFile("testdata/crane.pdf")
	if err != nil {
		t.Fatal(err)
	}
	const address = "file:docs/a.pdf"
	for _, reason := range []documents.Reason{documents.Unreadable, documents.TooSlow} {
		base := t.TempDir()
		writeDoc(t, base, "a.pdf", string(pdf))
		now := time.Now()
		old := now.Add(-time.Hour)
		if err := os.Chtimes(filepath.Join(base, "docs", "a.pdf"), old, old); err != nil {
			t.Fatal(err)
		}
		f, _ := newTestFollower(t, base)
		f.now = func() time.Time { return now }
		look := func() entry {
			t.Helper()
			if err := f.syncFiles(t.Context()); err != nil {
				t.Fatal(err)
			}
			return f.manifest[address]
		}
		// A reader that is closed can begin no sandbox.
		if err := f.documents.Close(); err != nil {
			t.Fatal(err)
		}
		e := look()
		if e.Why != documents.Unreadable || e.Text {
			t.Fatalf("without a sandbox: %+v", e)
		}
		e.Why = reason
		f.manifest[address] = e
		f.documents = documents.NewReader(documents.Config{})
		now = now.Add(retryPause - time.Second)
		if e := look(); e.Why != reason || e.Text {
			t.Errorf("%s: before the pause is over: %+v", reason, e)
		}
		now = now.Add(time.Second)
		if e := look(); e.Why != "" || !e.Text || e.Hash == "" {
			t.Errorf("%s: after the pause: %+v", reason, e)
		}
		_ = f.documents.Close()
	}
}
