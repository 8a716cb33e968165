package code

import (
	"fmt"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/services/mail/rfc822"
)

// benchText returns a text of about size bytes, with numbers and no code.
func benchText(size int, line string) string {
	var out strings.Builder
	for i := 0; out.Len() < size; i++ {
		fmt.Fprintf(&out, line, 1000+i, i)
	}
	return out.String()
}

// BenchmarkFindBest looks for codes in messages of 10 KB: with a text alone, with HTML beside it, and with the code in the text.
func BenchmarkFindBest(b *testing.B) {
	text := benchText(10<<10, "The garden has %d flowers, and the order of delivery was confirmed for place %d on Tuesday.\n")
	half := benchText(5<<10, "The garden has %d flowers, and the order of delivery was confirmed for place %d on Tuesday.\n")
	html := benchText(5<<10, "<tr><td style=\"padding:4px\"><p class=\"line\">The garden has %d flowers, and place %d is <b>confirmed</b>.</p></td></tr>\n")
	for _, m := range []struct{ name, text, html string }{{"text", text, ""}, {"both", half, html},
		{"code", half + "Your code is 482913.\n", html}} {
		b.Run(m.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				FindBest("The order of your garden", m.text, rfc822.HTMLText(m.html, MaxText))
			}
		})
	}
	large := benchText(4<<20, "Verify: code %d %d ")
	b.Run("4MiB", func(b *testing.B) {
		for b.Loop() {
			FindBest("Your code", large, rfc822.HTMLText(large, MaxText))
		}
	})
}
