// Command compile compiles the static binaries of an architecture, as a release has them. It is run in the root of the repository.
//
// Usage: compile VERSION COMMIT ARCHITECTURE DIRECTORY
package main

import (
	"fmt"
	"os"

	"github.com/patchbay-dev/patchbay/core/tools/release/internal/build"
)

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: compile VERSION COMMIT ARCHITECTURE DIRECTORY")
		os.Exit(2)
	}
	if err := (build.Version{Name: os.Args[1], Commit: os.Args[2]}).CompileBinaries(os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintf(os.Stderr, "compile: %s: %v\n", os.Args[3], err)
		os.Exit(1)
	}
}
