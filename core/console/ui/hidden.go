package ui

import (
	"slices"
	"strings"
)

// isNarrow reports whether the field leaves rows out that are shown without it.
func (f FilterField) isNarrow() bool { return f.Value != "" && !slices.Contains(f.Wider, f.Value) }

// hidesUnasked reports whether rows are left out because the field is not set.
func (f FilterField) hidesUnasked() bool { return f.Value == "" && len(f.Wider) > 0 }

// optionLabel returns the words for a value of the field.
func (f FilterField) optionLabel(value string) string {
	for _, o := range f.Options {
		if o.Value == value {
			return o.Label
		}
	}
	return value
}

// describeValues returns what the filter was set to, such as "State: disabled", "" if it leaves nothing out.
func (f Filter) describeValues() string {
	var parts []string
	for _, field := range f.Fields {
		if field.isNarrow() {
			parts = append(parts, field.Label+": "+field.optionLabel(field.Value))
		}
	}
	return strings.Join(parts, " · ")
}

// allURL returns the address of the list with all its rows, also those that are left out unasked.
func (f Filter) allURL() string {
	pairs := slices.Clone(f.Hidden)
	for _, field := range f.Fields {
		if len(field.Wider) > 0 {
			pairs = append(pairs, field.Name, field.Wider[0])
		}
	}
	return Address(f.Path, pairs...)
}

// hidingFields returns the fields because of which rows are left out that nobody has asked to leave out.
func (f Filter) hidingFields() (fields []FilterField) {
	for _, field := range f.Fields {
		if field.hidesUnasked() {
			fields = append(fields, field)
		}
	}
	return fields
}

// EmptyState is what an empty list says if no filter leaves anything out.
type EmptyState struct {
	Title, Text string
	// Hidden is how many rows there are without the filter; 0 if nobody has counted them.
	Hidden int64
}
