package docker

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// TestLogLines: lines come whole whatever pieces they arrive in, without escape sequences, and long ones are cut.
func TestLogLines(t *testing.T) {
	var got []engine.LogLine
	l := &logLines{stderr: true, send: func(line engine.LogLine) error { got = append(got, line); return nil }}
	const at = "2026-01-02T03:04:05.006000007Z "
	for _, piece := range []string{at + "one\n" + at[:10], at[10:] + "tw", "o\r\n", at + "\n", at + "10%\r20%\r\x1b[32mdone\x1b[0m\n",
		"no time\n", at + strings.Repeat("x", 40000) + "\n", at + "bad \xff byte"} {
		if _, err := l.Write([]byte(piece)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.flushLine(); err != nil {
		t.Fatal(err)
	}
	const ms = 1767323045006
	want := []engine.LogLine{
		{Stderr: true, Text: "one", At: ms}, {Stderr: true, Text: "two", At: ms}, {Stderr: true, At: ms}, {Stderr: true, Text: "done", At: ms},
		{Stderr: true, Text: "no time"},
		{Stderr: true, Text: strings.Repeat("x", maxLine) + "…", At: ms}, {Stderr: true, Text: "bad ? byte", At: ms},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
