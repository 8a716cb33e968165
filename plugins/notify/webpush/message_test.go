package webpush

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/patchbay-dev/patchbay/sdk/notify"
)

// TestMessagesFit: whatever the host hands over, the message is JSON that fits one record and has what is shown.
func TestMessagesFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		long := func(name string, least int) string {
			word := rapid.SampledFrom([]string{"a", "网", "\"", "<", "\n", "😀", "\x01", "ab\\"}).Draw(t, name)
			return strings.Repeat(word, rapid.IntRange(least, 5000).Draw(t, name+" times"))
		}
		n := &notify.Notification{
			ID: "n-1", Title: notify.Text{Plain: long("title", 1)}, Summary: notify.Text{Plain: long("summary", 0)},
			Detail: notify.Text{Plain: long("detail", 0)},
			Links:  []notify.Link{{URL: "https://example.com/" + long("link", 0)}},
		}
		if rapid.Bool().Draw(t, "with payload") {
			raw, err := json.Marshal(map[string]any{"kind": "k",
				rapid.SampledFrom([]string{"title", "body", "more"}).Draw(t, "member"): long("payload", 1)})
			if err != nil {
				t.Fatal(err)
			}
			n.Payload = raw
		}
		text, receipt, err := encodeContent(n)
		if err != nil || len(text) > maxText || !utf8.Valid(text) || len(receipt.Delivered) == 0 {
			t.Fatalf("%d bytes, %+v, %v", len(text), receipt, err)
		}
		var m map[string]string
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatal(err)
		}
		if len(receipt.Warnings) == 0 && (m["id"] != "n-1" || m["title"] == "" || m["url"] == "") {
			t.Fatalf("a member is missing and nothing was said: %.200s", text)
		}
	})
}
