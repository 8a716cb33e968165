package guard

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestOneSleep: code that waits for a time or the end of a context calls event.Sleep in the core and httpx.Sleep in plugins. The two
// sides import nothing of each other.
func TestOneSleep(t *testing.T) {
	const done, timer = `case <-\S*\.Done\(\):(?:\s*return[^\n]*)?\s*`, `case <-(?:time\.After\([^\n]*\)|\w+\.C):(?:\s*return[^\n]*)?\s*`
	own := regexp.MustCompile(`select \{\s*(?:` + done + timer + `|` + timer + done + `)\}`)
	sleeps := 0
	for _, top := range []string{"core", "plugins"} {
		err := filepath.WalkDir(filepath.Join(root(t), top), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			code, err := os.ReadFile(path)
			switch found := own.FindString(string(code)); {
			case found == "":
			case filepath.Base(path) == "sleep.go":
				sleeps++
			case !strings.Contains(string(code), "time.NewTicker("):
				t.Errorf("%s waits by itself: %s", path, found)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if sleeps != 2 {
		t.Errorf("%d functions sleep, want one in the core and one of the plugins", sleeps)
	}
}
