package guard

import (
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
		files(t, top, func(path string, content []byte) {
			switch found := own.FindString(string(content)); {
			case found == "" || strings.HasSuffix(path, "_test.go"):
			case strings.HasSuffix(path, "/sleep.go"):
				sleeps++
			case !strings.Contains(string(content), "time.NewTicker("):
				t.Errorf("%s waits by itself: %s", path, found)
			}
		}, ".go")
	}
	if sleeps != 2 {
		t.Errorf("%d functions sleep, want one in the core and one of the plugins", sleeps)
	}
}
