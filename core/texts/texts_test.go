package texts_test

import (
	"testing"

	"github.com/patchbay-dev/patchbay/core/texts"
)

func TestTexts(t *testing.T) {
	for _, tt := range []struct{ name, got, want string }{
		{"valid", texts.Valid("a\x00b\xff é"), "ab é"},
		{"limit within a character", texts.Limit("aéb", 2), "a"},
		{"limit", texts.Limit("abc", 2), "ab"},
		{"limit of a shorter text", texts.Limit("a\x00b", 9), "ab"},
		{"truncate", texts.Truncate("ééé", 2), "éé…"},
		{"truncate nothing", texts.Truncate("ééé", 3), "ééé"},
		{"join all", texts.JoinSome([]string{"a", "b"}, 2), "a, b"},
		{"join some", texts.JoinSome([]string{"a", "b", "c", "d"}, 2), "a, b and 2 more"},
		{"join none", texts.JoinSome(nil, 2), ""},
		{"one line", texts.OneLine(" a\n\tb \xff c", 9), "a b c"},
		{"one line without NUL", texts.OneLine("a\x00b\x00\nc", 9), "ab c"},
		{"one line, cut within a character", texts.OneLine("aéb", 2), "a…"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, tt.got, tt.want)
		}
	}
}
