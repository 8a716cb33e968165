// Package searchapi knows the parameters of the search API that clients speak, and what each backend does with them. The table is the
// one place for that: backends read requests by it, and the documentation is made from it.
package searchapi

import (
	"slices"

	"github.com/patchbay-dev/patchbay/sdk/jsonedit"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// Backend is a backend that reads parameters itself. One that passes bodies on to the API needs no table.
type Backend int

// The backends of the table.
const (
	Local Backend = iota
	SearXNG
)

// Effect is what a backend does with a parameter that asks for something.
type Effect int

const (
	// Honoured: the backend does what it asks for.
	Honoured Effect = iota + 1
	// Ignored: the answer lists it in the member ignored.
	Ignored
	// Refused: the answer is 400.
	Refused
)

// String returns the word of the documentation.
func (e Effect) String() string {
	return map[Effect]string{Honoured: "honoured", Ignored: "ignored", Refused: "refused"}[e]
}

// Parameter is a member of a request.
type Parameter struct {
	Name  string
	Value Value
	// Local and SearXNG are what the backends do with it.
	Local, SearXNG Effect
	// Neutral are values that ask for nothing: they are never refused or ignored.
	Neutral []string
	// Unserved are values that SearXNG ignores, although it honours the others; of numbers the smallest.
	Unserved []string
	Required bool
	// Own says that it is not of the API: a backend that passes bodies on has no use for it.
	Own bool
}

// Effect returns what a backend does with the parameter.
func (p *Parameter) Effect(b Backend) Effect {
	if b == SearXNG {
		return p.SearXNG
	}
	return p.Local
}

// isUnserved reports whether a value is one of those that SearXNG ignores, or a number from there on.
func (p *Parameter) isUnserved(raw []byte) bool {
	if len(p.Unserved) == 0 {
		return false
	}
	if n, ok := jsonedit.ParseInteger(raw); ok {
		least, _ := jsonedit.ParseInteger([]byte(p.Unserved[0]))
		return n >= least
	}
	return slices.Contains(p.Unserved, readWord(raw))
}

// Operations are the operations that take parameters, in the order of the documentation.
func Operations() []string {
	return []string{search.OpSearch, search.OpExtract, search.OpCrawl, search.OpMap, search.OpResearch}
}

// Parameters returns the parameters of an operation, or nil for one that has none.
func Parameters(operation string) []Parameter {
	switch operation {
	case search.OpSearch:
		return searchParameters
	case search.OpExtract:
		return extractParameters
	case search.OpMap:
		return mapParameters
	case search.OpCrawl:
		return crawlParameters
	case search.OpResearch:
		return researchParameters
	}
	return nil
}

func findParameter(operation, name string) *Parameter {
	all := Parameters(operation)
	for i := range all {
		if all[i].Name == name {
			return &all[i]
		}
	}
	return nil
}
