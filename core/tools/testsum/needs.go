package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// The attributes that the tests' helpers set. attrNeeds names a component that a test asked for, whether or not it is there; attrNotOffered
// marks a check of the contract that does not apply to the plugin under test.
const (
	attrNeeds      = "needs"
	attrNotOffered = "not-offered"
)

// need is a test of the top level that asked for a component.
type need struct{ component, pkg, test string }

// needs are the components that tests asked for.
type needs map[need]bool

func (n needs) add(component, pkg, test string) {
	test, _, _ = strings.Cut(test, "/")
	n[need{component, pkg, test}] = true
}

// writeTable writes one line for each component and test: the component, the package and the test, between tabs.
func (n needs) writeTable(file string) error {
	var b strings.Builder
	for _, l := range slices.SortedFunc(maps.Keys(n), func(a, b need) int {
		return cmp.Or(strings.Compare(a.component, b.component), strings.Compare(a.pkg, b.pkg), strings.Compare(a.test, b.test))
	}) {
		fmt.Fprintf(&b, "%s\t%s\t%s\n", l.component, l.pkg, l.test)
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		return fmt.Errorf("write the table of components: %w", err)
	}
	return nil
}
