package ui

import (
	"net/url"
	"testing"
)

// TestFilterTellsWhatItHides: what an empty list says of its filter, and where all rows are.
func TestFilterTellsWhatItHides(t *testing.T) {
	archived := func(value string) FilterField {
		return FilterField{Name: "archived", Label: "Archived", Value: value,
			Options: []Option{{Label: "Hidden"}, {Value: "include", Label: "Shown"}, {Value: "only", Label: "Only"}}, Wider: []string{"include"}}
	}
	for name, tt := range map[string]struct {
		fields    []FilterField
		narrowing string
		unasked   int
		all       url.Values
	}{
		"nothing set": {[]FilterField{{Name: "q", Label: "Text"}}, "", 0, url.Values{"tag": {"x"}}},
		"a text":      {[]FilterField{{Name: "q", Label: "Text", Value: "abc"}}, "Text: abc", 0, url.Values{"tag": {"x"}}},
		"two": {[]FilterField{{Name: "q", Label: "Text", Value: "abc"}, archived("only")}, "Text: abc · Archived: Only", 0,
			url.Values{"tag": {"x"}, "archived": {"include"}}},
		"hidden by default": {[]FilterField{archived("")}, "", 1, url.Values{"tag": {"x"}, "archived": {"include"}}},
		"all shown":         {[]FilterField{archived("include")}, "", 0, url.Values{"tag": {"x"}, "archived": {"include"}}},
	} {
		f := Filter{Path: "/list", Hidden: []string{"tag", "x"}, Fields: tt.fields}
		if got := f.describeValues(); got != tt.narrowing {
			t.Errorf("%s: the filter is told as %q", name, got)
		}
		if got := f.hidingFields(); len(got) != tt.unasked {
			t.Errorf("%s: unasked are %v", name, got)
		}
		if got := f.allURL(); got != "/list?"+tt.all.Encode() {
			t.Errorf("%s: all rows are at %s", name, got)
		}
	}
}
