package main

import (
	"fmt"
	"slices"

	"github.com/google/licensecheck"
)

// accepted are the kinds that may be distributed within a program under the Apache License: notices, patent grants, and
// MPL-2.0 for modules that are used unchanged. CC-BY-SA-4.0 is there for the documents of a module, which no binary holds.
var accepted = []string{
	"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC-BY-SA-4.0", "GooglePatentsFile", "ISC", "MIT", "MIT-0", "MPL-2.0", "OFL-1.1",
	"Unicode-DFS-2016",
}

// recognize returns the identifiers of the licences that a file contains, and fails for one that is not accepted. A file
// that only mentions a licence contains none.
func recognize(raw []byte) (kinds []string, err error) {
	for _, m := range licensecheck.Scan(raw).Match {
		switch {
		case m.IsURL:
		case !slices.Contains(accepted, m.ID):
			return nil, fmt.Errorf("licence %s is not accepted", m.ID)
		default:
			kinds = appendNew(kinds, m.ID)
		}
	}
	return kinds, nil
}
