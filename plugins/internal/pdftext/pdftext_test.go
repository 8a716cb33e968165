package pdftext_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/pdftext"
)

// makePDF makes a file of objects, the first of which is the catalog; trailer stands in its trailer.
func makePDF(trailer string, objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	var places []int
	for i, o := range objects {
		places = append(places, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, at := range places {
		fmt.Fprintf(&b, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, trailer, xref)
	return b.Bytes()
}

// pages makes a file with a page for each text.
func pages(title string, all ...string) []byte {
	var kids []string
	objects := []string{"<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
		"<< /Title (" + title + ") >>"}
	for _, text := range all {
		n := len(objects) + 1
		kids = append(kids, fmt.Sprintf("%d 0 R", n))
		stream := "BT /F1 12 Tf 72 720 Td 14 TL " + text + " ET"
		objects = append(objects,
			fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>", n+1),
			fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(stream), stream))
	}
	objects[1] = fmt.Sprintf("<< /Type /Pages /Count %d /Kids [%s] >>", len(kids), strings.Join(kids, " "))
	return makePDF("/Info 4 0 R", objects...)
}

// TestRead: a file gives title and text, others an error that says what is wrong, and the reader works on after each.
func TestRead(t *testing.T) {
	r := pdftext.NewReader(t.TempDir())
	defer r.Close()
	good := pages("Crane manual", "(Mind the hook.) Tj T* (Second line.) Tj", "(Page two lifts 40 t.) Tj")
	for name, tt := range map[string]struct {
		data []byte
		want error
	}{
		"no PDF":  {[]byte("just words"), pdftext.ErrDamaged},
		"nothing": {nil, pdftext.ErrDamaged},
		"cut off": {good[:len(good)/3], pdftext.ErrDamaged},
		"encrypted": {makePDF("/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <"+strings.Repeat("11", 32)+"> /U <"+strings.Repeat("22",
			32)+"> >> /ID [<aa><bb>]", "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 0 /Kids [] >>"), pdftext.ErrEncrypted},
		"round pages": {makePDF("", "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 9 /Kids [2 0 R 2 0 R] >>"), nil},
	} {
		if _, text, err := r.Read(t.Context(), tt.data); !errors.Is(err, tt.want) && !(tt.want == nil && err != nil) || text != "" {
			t.Errorf("%s: got %q, %v", name, text, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := r.Read(ctx, good); err == nil {
		t.Error("a file was read after the end of the context")
	}
	for range 2 {
		title, text, err := r.Read(t.Context(), good)
		if err != nil || title != "Crane manual" || text != "Mind the hook.\nSecond line.\n\nPage two lifts 40 t.\n\n" {
			t.Errorf("got %q, %q, %v", title, text, err)
		}
		r.Rest()
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, _, err := r.Read(t.Context(), good); err == nil {
		t.Error("a closed reader reads")
	}
}
