package cli

import (
	"io"
	"os"

	"github.com/spf13/cobra"
)

// Commands returns the tree of all commands, to describe them elsewhere. None of them is meant to be run.
func Commands() *cobra.Command {
	c := &commandLine{streams: streams{in: os.Stdin, out: io.Discard, err: io.Discard}, env: os.LookupEnv}
	return c.rootCommand()
}
