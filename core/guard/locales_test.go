package guard

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/texts/locale"
)

// TestLocalesAreWhole compares the languages of every folder of texts: the same ids, and in Chinese every parameter of the English text.
func TestLocalesAreWhole(t *testing.T) {
	folders := 0
	err := filepath.WalkDir(filepath.Join(root(t), "core"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || d.Name() != "locales" {
			return err
		}
		folders++
		texts, err := locale.Read(os.DirFS(path))
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return nil
		}
		ids, other := texts.IDs(locale.English), texts.IDs(locale.Chinese)
		if strings.HasSuffix(path, filepath.Join("supervisor", "locales")) {
			// It writes the English texts of faults where it returns them.
			other = slices.DeleteFunc(other, func(id string) bool { return strings.HasPrefix(id, "fault.") })
		}
		if !slices.Equal(ids, other) {
			t.Errorf("%s: the languages differ in their texts: %q and %q", path, ids, other)
		}
		for _, id := range ids {
			zh := texts.Phrase(locale.Chinese, id).Names
			for _, name := range texts.Phrase(locale.English, id).Names {
				if !slices.Contains(zh, name) {
					t.Errorf("%s: %q lacks the parameter %s in Chinese", path, id, name)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if folders < 12 {
		t.Errorf("%d folders of texts were found; have they moved?", folders)
	}
}
