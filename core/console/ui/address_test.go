package ui

import (
	"testing"
)

func TestAddress(t *testing.T) {
	for want, pairs := range map[string][]string{
		"/a": {"x", ""}, "/a?x=1": {"x", "1", "y", ""}, "/a?x=1%26y&z=2": {"z", "2", "x", "1&y"},
	} {
		if got := Address("/a", pairs...); got != want {
			t.Errorf("%v: got %s, want %s", pairs, got, want)
		}
	}
}
