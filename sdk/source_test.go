package sdk_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/sdk"
)

// TestSourceIsWhole compares what is embedded with the folder of the module: a new package must be named there.
func TestSourceIsWhole(t *testing.T) {
	files, err := sdk.Source()
	if err != nil {
		t.Fatal(err)
	}
	met := map[string]bool{}
	err = fs.WalkDir(os.DirFS("."), ".", func(path string, d fs.DirEntry, err error) error {
		if d.IsDir() && d.Name() == "testdata" {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") {
			return err
		}
		met[path] = true
		if _, ok := files[path]; !ok {
			t.Errorf("%s is not part of the source: name its folder at go:embed", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for path := range files {
		if !met[path] {
			t.Errorf("%s is part of the source, and no file of the module", path)
		}
	}
}
