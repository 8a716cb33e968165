package release

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fillWith returns a function for Store.Add that writes binaries with a content.
func fillWith(content string) func(dir string) error {
	return func(dir string) error {
		for _, name := range binaryNames() {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o755); err != nil {
				return err
			}
		}
		return nil
	}
}

// TestStore: versions lie beside each other, the link names whole ones alone, and what was changed is not put into use.
func TestStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := NewStore(dir + "/")
	if _, err := s.Current(); err == nil {
		t.Error("an empty directory has a version in use")
	}
	first, firstID, err := s.Add("1.0.0", fillWith("first"))
	if err != nil {
		t.Fatal(err)
	}
	second, secondID, err := s.Add("1.0.0", fillWith("second"))
	if err != nil || second == first || !strings.HasPrefix(second, "1.0.0-") {
		t.Fatalf("other binaries of the same version lie in %q, %v", second, err)
	}
	if again, id, err := s.Add("1.0.0", fillWith("first")); again != first || id != firstID || err != nil {
		t.Errorf("the same binaries lie in %q and %q, %v", first, again, err)
	}
	for _, v := range []struct{ folder, id string }{{first, firstID}, {second, secondID}} {
		if err := s.Use(v.folder, v.id); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Current(); got != v.folder || err != nil {
			t.Errorf("in use is %q, %v", got, err)
		}
	}
	if err := s.Use(first, secondID); err == nil {
		t.Error("binaries with another ID were put into use")
	}
	if err := os.WriteFile(s.Path(first, Plugins), []byte("changed"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := s.Use(first, firstID); err == nil {
		t.Error("binaries that were changed were put into use")
	}
	if again, _, err := s.Add("1.0.0", fillWith("first")); again != first || err != nil || s.Use(first, firstID) != nil {
		t.Errorf("binaries that were changed were not written again: %q, %v", again, err)
	}
	if err := os.WriteFile(s.Path(first, Core), []byte("changed"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Add("1.0.0", fillWith("first")); err == nil {
		t.Error("the folder in use was replaced")
	}
	for _, to := range []string{"../elsewhere", "/usr/bin", ".", "current", ".new-1", filepath.Join(dir, "a", "b")} {
		if err := os.Remove(filepath.Join(dir, currentName)); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(dir, currentName)); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Current(); err == nil {
			t.Errorf("a link to %s gives %q", to, got)
		}
	}
}

// TestRemoveUnused removes what was made here, and nothing else.
func TestRemoveUnused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := NewStore(dir)
	var folders []string
	for _, content := range []string{"a", "b", "c"} {
		folder, id, err := s.Add("1.0.0", fillWith(content))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Use(folder, id); err != nil {
			t.Fatal(err)
		}
		folders = append(folders, folder)
	}
	if err := os.MkdirAll(filepath.Join(dir, "1.0.0"), 0o755); err != nil {
		t.Fatal(err)
	}
	scratch, err := s.Scratch()
	if err != nil {
		t.Fatal(err)
	}
	scratch.Close()
	if err := s.RemoveUnused(folders[0]); err != nil {
		t.Fatal(err)
	}
	var left []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		left = append(left, e.Name())
	}
	want := []string{"1.0.0", folders[0], folders[2], currentName}
	slices.Sort(want)
	if !slices.Equal(left, want) {
		t.Errorf("left are %q, want %q", left, want)
	}
}
