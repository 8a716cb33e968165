package texts_test

import (
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/texts"
)

func TestTexts(t *testing.T) {
	for _, tt := range []struct{ name, got, want string }{
		{"head within a character", texts.Head("aéb", 2), "a"},
		{"head", texts.Head("aéb", 3), "aé"},
		{"whole head", texts.Head("aéb", 4), "aéb"},
		{"no head", texts.Head("é", -1), ""},
		{"truncate within a character", texts.Truncate("aéb", 2), "a…"},
		{"truncate nothing", texts.Truncate("aéb", 4), "aéb"},
		{"printable", texts.Printable("a\x1b\nb"), "a  b"},
		{"one line", texts.OneLine(" a\n b\t"), "a b"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, tt.got, tt.want)
		}
	}
}
