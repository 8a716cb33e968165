// Command process is the plugin of package testplugin as a program of its own. It is smaller than a test binary and has no race detector,
// so that its processes start in a fraction of the time; where the plugin's side is what is tested, the test binary is the better plugin.
package main

import (
	"fmt"
	"os"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
)

func main() {
	testplugin.Main()
	if len(os.Args) == 2 && os.Args[1] == "list" {
		// The core asks the binary of the built-in plugins which it holds.
		fmt.Println("[]")
		return
	}
	fmt.Fprintln(os.Stderr, "this program is started by a core under test")
	os.Exit(2)
}
