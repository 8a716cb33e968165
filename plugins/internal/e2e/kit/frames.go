package kit

import (
	"encoding/json"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/xsstest"
)

// jsonText returns a value as JSON.
func jsonText(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// CheckFrames shows documents in frames of the present page and looks what is left in them. The browser's own complaints fail the
// test as well: it tells of every script that it was asked to run, and of every request to another origin.
func (b *Browser) CheckFrames(t *testing.T, names, urls []string, sandbox string) {
	t.Helper()
	found, err := Evaluate[[]string](b, `(async () => {`+xsstest.FrameScript+` return await loadFrames(`+jsonText(t, urls)+`, `+jsonText(t,
		sandbox)+`); })()`)
	if err != nil || len(found) != len(urls) {
		t.Fatalf("%d frames were loaded: %v", len(found), err)
	}
	for i, left := range found {
		if left != "" {
			t.Errorf("%s: %s", names[i], left)
		}
	}
	RequireValue(b, "a script was run", `window.ran === undefined`, true)
}
