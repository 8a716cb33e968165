package cli_test

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/patchbay-dev/patchbay/core/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"patchbay": func() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// TestScripts runs the command line as a person does. What needs plugin processes is tested with the whole product.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", RequireExplicitExec: true})
}
