package shoutrrr

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/patchbay-dev/patchbay/sdk/notify"
)

// TestMessagesFit: title and text together are never longer than the service takes, and never cut within a character.
func TestMessagesFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		long := func(name string, least int) string {
			word := rapid.SampledFrom([]string{"a", "网", "😀", "\n"}).Draw(t, name)
			return strings.Repeat(word, rapid.IntRange(least, 3000).Draw(t, name+" times"))
		}
		r := &receiver{titled: rapid.Bool().Draw(t, "titled"), limit: rapid.SampledFrom([]int{1000, 2000, maxMessage}).Draw(t, "limit")}
		n := &notify.Notification{
			Title:   notify.Text{Plain: strings.Repeat("题", rapid.IntRange(1, 1500).Draw(t, "title"))},
			Summary: notify.Text{Plain: long("summary", 0)},
			Detail:  notify.Text{Plain: long("detail", 0)},
			Links:   []notify.Link{{Label: "L", URL: "https://example.com/" + strings.Repeat("a", rapid.IntRange(0, 3000).Draw(t, "link"))}},
		}
		m := composeMessage(n, r)
		whole := len(m.text)
		if r.titled {
			whole += len(m.title)
		}
		if whole > r.limit || m.text == "" || !utf8.ValidString(m.text) || !utf8.ValidString(m.title) {
			t.Fatalf("%d bytes of %d", whole, r.limit)
		}
		if !m.cut && len(m.parts) > 0 && !strings.Contains(m.text, "https://example.com/") {
			t.Fatal("the link is left out and nothing was said")
		}
	})
}
