// Package command holds what the commands of the core and of services share.
package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
)

// Mistake is an error in the configuration or in the arguments, for which the exit status is 2. Its text may have been printed
// already.
type Mistake struct{ Err error }

// Error implements error.
func (m Mistake) Error() string { return m.Err.Error() }

// Unwrap returns the error itself.
func (m Mistake) Unwrap() error { return m.Err }

// Group returns a command that only has others.
func Group(use, short string, subs ...*cobra.Command) *cobra.Command {
	g := &cobra.Command{Use: use, Short: short, Args: cobra.ArbitraryArgs, RunE: OnlyOthers("patchbay " + use)}
	g.AddCommand(subs...)
	return g
}

// OnlyOthers returns what a command does that only has others: it prints its help. path is how the command is called.
func OnlyOthers(path string) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return Mistake{fmt.Errorf("unknown command %q; see %s --help", args[0], path)}
		}
		return cmd.Help()
	}
}

// NoArgs refuses arguments.
func NoArgs(cmd *cobra.Command, args []string) error { return Exactly(0)(cmd, args) }

// Exactly refuses another number of arguments than n.
func Exactly(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return Mistake{fmt.Errorf("%s takes %d arguments, not %d; see --help", cmd.CommandPath(), n, len(args))}
		}
		return nil
	}
}

// shownNames is how many names Unknown lists.
const shownNames = 20

// Unknown returns the error for a name that no thing of a kind has. It lists the names that there are; list is the command that
// lists all of them.
func Unknown(kind, name string, names []string, list string) error {
	switch n := len(names); {
	case n == 0:
		return fault.New(fault.NotFound, "There is no such %s: %q; there is none at all.", kind, name)
	case n > shownNames:
		return fault.New(fault.NotFound, "There is no such %s: %q; there are %d, which %s shows.", kind, name, n, list)
	}
	return fault.New(fault.NotFound, "There is no such %s: %q; there are: %s.", kind, name, strings.Join(names, ", "))
}

// AtMost refuses more arguments than n.
func AtMost(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return Mistake{fmt.Errorf("%s takes at most %d arguments, not %d; see --help", cmd.CommandPath(), n, len(args))}
		}
		return nil
	}
}

// Acting returns the context of a command that changes something, for the audit.
func Acting(cmd *cobra.Command) context.Context {
	return auth.Acting(cmd.Context(), auth.Actor{Name: "command line", Via: auth.ViaCommand})
}
