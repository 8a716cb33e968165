// Command patchbay is the core.
package main

import (
	"os"

	"github.com/patchbay-dev/patchbay/core/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
