package access

import (
	"testing"

	"github.com/patchbay-dev/patchbay/core/services/search/internal/searchtest"
)

func TestTokenShapes(t *testing.T) {
	tests := map[string]bool{
		searchtest.SomeToken:               true,
		"th-0000-000000000000000000000000": true,
		"":                                 false,
		"th-":                              false,
		searchtest.SomeToken[:len(searchtest.SomeToken)-1]: false,
		searchtest.SomeToken + "x":                         false,
		"TH-aB3d-abcdefghijklmnopqrstuvwx":                 false,
		"th-aB3dXabcdefghijklmnopqrstuvwx":                 false,
		"th-a-3d-abcdefghijklmnopqrstuvwx":                 false,
		"th-aB3d-abcdefghijkl-nopqrstuvwx":                 false,
		"th-aB3d-abcdefghijkl nopqrstuvwx":                 false,
		"th-\x00\x00\x00\x00-" + searchtest.SomeToken[8:]:  false,
		"th-\xff\xff\xff\xff-" + searchtest.SomeToken[8:]:  false,
		"th-aB3d-abcdefghijklmnopqrstuv\u00e9":             false,
		"Bearer " + searchtest.SomeToken:                   false,
	}
	for text, want := range tests {
		if got := WellFormed(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
