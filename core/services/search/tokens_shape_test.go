package search

import (
	"testing"
)

func TestTokenShapes(t *testing.T) {
	tests := map[string]bool{
		someToken:                              true,
		"th-0000-000000000000000000000000":     true,
		"":                                     false,
		"th-":                                  false,
		someToken[:len(someToken)-1]:           false,
		someToken + "x":                        false,
		"TH-aB3d-abcdefghijklmnopqrstuvwx":     false,
		"th-aB3dXabcdefghijklmnopqrstuvwx":     false,
		"th-a-3d-abcdefghijklmnopqrstuvwx":     false,
		"th-aB3d-abcdefghijkl-nopqrstuvwx":     false,
		"th-aB3d-abcdefghijkl nopqrstuvwx":     false,
		"th-\x00\x00\x00\x00-" + someToken[8:]: false,
		"th-\xff\xff\xff\xff-" + someToken[8:]: false,
		"th-aB3d-abcdefghijklmnopqrstuv\u00e9": false,
		"Bearer " + someToken:                  false,
	}
	for text, want := range tests {
		if got := wellFormed(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
