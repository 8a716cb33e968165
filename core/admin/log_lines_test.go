package admin

import (
	"strings"
	"testing"
)

// TestLogLines writes lines in pieces, as they come from a process.
func TestLogLines(t *testing.T) {
	var out strings.Builder
	l := &logLines{to: &out}
	for _, piece := range []string{
		`{"@level":"debug","@message":"plugin address","@module":"go-plugin","address":"/run/x"}`, "\n",
		`{"@level":"warn","@message":"no \u001b[2Jroom","@timest`, `amp":"now","left":3,"at":"a"}`, "\nplain \x1b]0;title\x07 line\r\n",
		"{\"a\":1}\nunfinished",
	} {
		if n, err := l.Write([]byte(piece)); err != nil || n != len(piece) {
			t.Fatal(n, err)
		}
	}
	want := "WARN: no \\x1b[2Jroom at=a left=3\nplain \\x1b]0;title\\x07 line\n{\"a\":1}\n"
	if out.String() != want {
		t.Errorf("it says %q, want %q", out.String(), want)
	}
}
