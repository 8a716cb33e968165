package host

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestRing(t *testing.T) {
	r := ring{redact: func(line string) string { return strings.ReplaceAll(line, "hush-hush", "[redacted]") }}
	if r.lastLine() != "" || len(r.copyLines()) != 0 {
		t.Error("a new ring is not empty")
	}
	for i := range 300 {
		fmt.Fprintf(&r, "line %d\n", i)
	}
	lines := r.copyLines()
	if len(lines) != ringLines || lines[0] != "line 100" || r.lastLine() != "line 299" {
		t.Errorf("%d lines from %q to %q", len(lines), lines[0], r.lastLine())
	}
	fmt.Fprint(&r, "half")
	fmt.Fprint(&r, " a line\n\n")
	if r.lastLine() != "half a line" {
		t.Errorf("last %q", r.lastLine())
	}
	_, _ = r.Write([]byte(strings.Repeat("x", 3*ringLineMax)))
	for _, l := range r.copyLines() {
		if len(l) > ringLineMax {
			t.Errorf("a line of %d bytes", len(l))
		}
	}
	if len(r.lastLine()) != 300 {
		t.Errorf("last words of %d bytes", len(r.lastLine()))
	}
	fmt.Fprint(&r, "\na hush-hush line\n")
	if r.lastLine() != "a [redacted] line" {
		t.Errorf("a secret is kept: %q", r.lastLine())
	}
	r.beginOutput()
	if r.lastLine() != "" || len(r.copyLines()) != ringLines {
		t.Error("after reset: the last words of an earlier life, or its lines are gone")
	}
	fmt.Fprintln(&r, "new")
	if r.lastLine() != "new" {
		t.Errorf("last %q", r.lastLine())
	}
}

// A secret in a long line is found wherever it stands, in one write or in several.
func TestRingKeepsNoPartOfASecret(t *testing.T) {
	const hidden = "hush-hush-and-hush"
	r := ring{redact: func(line string) string { return strings.ReplaceAll(line, hidden, "[redacted]") }}
	for before := ringLineMax - 2*len(hidden); before < 4*ringLineMax; before += len(hidden) / 2 {
		long := strings.Repeat("x", before) + hidden
		fmt.Fprintln(&r, long)
		for i := 0; i < len(long); i += 1000 {
			fmt.Fprint(&r, long[i:min(len(long), i+1000)])
		}
		fmt.Fprintln(&r)
	}
	for _, l := range r.copyLines() {
		if rest := strings.Trim(strings.ReplaceAll(l, "[redacted]", ""), "x"); strings.ContainsAny(rest, "hus-n") {
			t.Fatalf("a line of %d bytes has a part of a secret: %q", len(l), rest)
		}
	}
}

func TestPause(t *testing.T) {
	p := &Process{host: &Host{cfg: Config{}.withDefaults()}}
	tests := []struct {
		crashes  int
		min, max time.Duration
	}{
		{1, 0, 0},
		{2, 400 * time.Millisecond, 500 * time.Millisecond},
		{3, 800 * time.Millisecond, time.Second},
		{8, 25600 * time.Millisecond, 32 * time.Second},
		{9, 48 * time.Second, time.Minute},
		{1000, 48 * time.Second, time.Minute},
	}
	for _, tt := range tests {
		for range 50 {
			if got := p.restartDelay(tt.crashes); got < tt.min || got > tt.max {
				t.Errorf("after %d crashes: %s, want %s to %s", tt.crashes, got, tt.min, tt.max)
			}
		}
	}
}
