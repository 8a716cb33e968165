package engine_test

import (
	"maps"
	"testing"

	"github.com/patchbay-dev/patchbay/sdk/engine"
)

func TestSettings(t *testing.T) {
	s := engine.Settings{}
	s.SetText("text", "a")
	s.SetText("no text", "")
	s.SetNumber("number", 5)
	s.SetNumber("no number", 0)
	s.SetSwitch("switch", true)
	s.SetSwitch("no switch", false)
	s.SetLines("lines", []string{"b", "a"})
	s.SetSorted("sorted", []string{"b", "a", "b"})
	s.SetSorted("no list", nil)
	s.SetPairs("pairs", "=", map[string]string{"b": "1", "a": ""})
	want := engine.Settings{"text": "a", "number": "5", "switch": "true", "lines": "b\na", "sorted": "a\nb", "pairs": "a\nb=1"}
	if !maps.Equal(s, want) {
		t.Errorf("got %q, want %q", s, want)
	}
}
