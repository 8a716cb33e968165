package engine

import (
	"slices"
	"strconv"
	"strings"
)

// Settings collects what ImageConfig.Settings has: texts by the names that compose gives to the settings. Both sides of a comparison are
// written with it. A setting without a value is left out.
type Settings map[string]string

// SetText sets a text; an empty one is left out.
func (s Settings) SetText(name, value string) {
	if value != "" {
		s[name] = value
	}
}

// SetNumber sets a number in decimal; 0 is left out. Times are in nanoseconds, sizes in bytes.
func (s Settings) SetNumber(name string, value int64) {
	if value != 0 {
		s[name] = strconv.FormatInt(value, 10)
	}
}

// SetSwitch sets "true"; a switch that is off is left out.
func (s Settings) SetSwitch(name string, on bool) {
	if on {
		s[name] = "true"
	}
}

// SetLines sets a list whose order counts, an item on each line.
func (s Settings) SetLines(name string, list []string) { s.SetText(name, strings.Join(list, "\n")) }

// SetSorted sets a list whose order does not count: sorted, each item once.
func (s Settings) SetSorted(name string, list []string) {
	list = slices.Clone(list)
	slices.Sort(list)
	s.SetLines(name, slices.Compact(list))
}

// SetPairs sets a map: lines of a name, a separator and a value, sorted. The separator is left out before an empty value.
func (s Settings) SetPairs(name, separator string, pairs map[string]string) {
	var lines []string
	for key, value := range pairs {
		lines = append(lines, strings.TrimSuffix(key+separator+value, separator))
	}
	s.SetSorted(name, lines)
}
