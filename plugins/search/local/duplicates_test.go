package local

import (
	"strings"
	"testing"
)

func TestVariants(t *testing.T) {
	long := strings.Repeat("the quick brown fox jumps over the lazy dog and then some other animals come by ", 3) +
		"whoever finds a mistake in the great ledger of the harbour is given a barrel of herring and a seat beside the stove in winter"
	for text, want := range map[string]bool{
		long: true, strings.ToUpper(long) + "!": true, strings.ReplaceAll(long, " ", "\n\n"): true,
		strings.Replace(long, "herring", "cod", 1): true, strings.Repeat("entirely different words stand here ", 20): false,
		"short": false, "": false, "...": false,
	} {
		for title, same := range map[string]bool{"The book": true, "Another": strings.EqualFold(withoutMarks(text), long)} {
			v := newVariants()
			if _, fresh := v.addListing(&listing{address: "file:a", print: newFingerprint("The book", long)}); !fresh {
				t.Fatal("the first document is a variant")
			}
			if _, fresh := v.addListing(&listing{address: "file:b", print: newFingerprint(title, text)}); fresh == (want && same) {
				t.Errorf("%s, %.60q: got %v", title, text, fresh)
			}
		}
	}
	v := newVariants()
	for _, text := range []string{"...", "...", "", "short", "brief"} {
		if _, fresh := v.addListing(&listing{print: newFingerprint("Title", text)}); !fresh {
			t.Errorf("%q is a variant", text)
		}
	}
}

func TestVariantWithABetterAddress(t *testing.T) {
	v, print := newVariants(), newFingerprint("Title", "the same words")
	first, _ := v.addListing(&listing{address: "https://a.example/x?y=1", print: print, parts: []string{"https://a.example/x?y=1#0"}})
	if kept, fresh := v.addListing(&listing{address: "https://a.example/x", print: print}); fresh || kept != first ||
		first.address != "https://a.example/x" || first.parts != nil {
		t.Errorf("got %+v, %v, %+v", kept, fresh, first)
	}
	if kept, fresh := v.addListing(&listing{address: "https://a.example/x/index.html", print: print}); fresh || kept != nil {
		t.Errorf("got %+v, %v", kept, fresh)
	}
}

func withoutMarks(s string) string {
	return strings.Join(strings.Fields(strings.TrimRight(s, "!")), " ")
}

func TestBetterAddress(t *testing.T) {
	best := []string{"https://a.example/x", "https://a.example/x/index", "http://a.example/x", "https://a.example/x?y=1"}
	for i, a := range best {
		for j, b := range best {
			if got := betterAddress(a, b); got != (i < j) {
				t.Errorf("%s before %s: %v", a, b, got)
			}
		}
	}
}
