package pdftext

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"
)

// bomb is a file with one page that draws forms which draw forms: breadth to the power of depth.
func bomb(depth, breadth int) []byte {
	var b bytes.Buffer
	var places []int
	add := func(format string, args ...any) {
		places = append(places, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", len(places), fmt.Sprintf(format, args...))
	}
	calls := bytes.Repeat([]byte("/X Do "), breadth)
	b.WriteString("%PDF-1.7\n")
	add("<< /Type /Catalog /Pages 2 0 R >>")
	add("<< /Type /Pages /Count 1 /Kids [3 0 R] >>")
	add("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /XObject << /X 5 0 R >> >> /Contents 4 0 R >>")
	add("<< /Length %d >>\nstream\n%s\nendstream", len(calls), calls)
	for i := range depth {
		add("<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X %d 0 R >> >> /Length %d >>\nstream\n%s\nendstream",
			6+i, len(calls), calls)
	}
	add("<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Length 0 >>\nstream\n\nendstream")
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(places)+1)
	for _, at := range places {
		fmt.Fprintf(&b, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(places)+1, xref)
	return b.Bytes()
}

// TestBombsAreGivenUp: a file that takes too long is given up while the sandbox works at it, and the next one is read.
func TestBombsAreGivenUp(t *testing.T) {
	r := NewReader(t.TempDir())
	defer r.Close()
	if _, _, err := r.Read(t.Context(), bomb(1, 1)); err != nil {
		t.Fatalf("a small one: %v", err)
	}
	r.limit = 500 * time.Millisecond
	if _, _, err := r.Read(t.Context(), bomb(20, 30)); !errors.Is(err, ErrTooSlow) && !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v", err)
	}
	r.limit = maxTime
	if _, _, err := r.Read(t.Context(), bomb(1, 1)); err != nil {
		t.Errorf("a small one afterwards: %v", err)
	}
}

func TestTitleOf(t *testing.T) {
	for name, tt := range map[string]struct{ title, text, want string }{
		"title":          {" Crane  manual ", "First line\n", "Crane manual"},
		"none":           {"", "First line\nsecond", "First line"},
		"name of a file": {"Microsoft Word - crane.doc", "First line\n", "First line"},
		"path":           {`C:\\wp\\MT_r1.wpd [x]`, "First line\n", "First line"},
		"untitled":       {"untitled", "1\n", ""},
	} {
		if got := chooseTitle(tt.title, tt.text); got != tt.want {
			t.Errorf("%s: got %q", name, got)
		}
	}
}
