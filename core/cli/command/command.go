// Package command holds what the commands of the core and of services share.
package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/agext/levenshtein"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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

// Group returns a command that only has others. long says what they are for.
func Group(use, short, long string, subs ...*cobra.Command) *cobra.Command {
	g := &cobra.Command{Use: use, Short: short, Long: long, Args: cobra.ArbitraryArgs, RunE: OnlyOthers("patchbay " + use)}
	g.AddCommand(subs...)
	return g
}

// OnlyOthers returns what a command does that only has others: it prints its help. path is how the command is called.
func OnlyOthers(path string) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			var names []string
			for _, sub := range cmd.Commands() {
				names = append(names, sub.Name())
			}
			return Mistake{fmt.Errorf("unknown command %q%s; see %s --help", args[0], suggestName(args[0], "", names), path)}
		}
		return cmd.Help()
	}
}

// suggestName returns a question for the name that was probably meant, or "".
func suggestName(given, prefix string, names []string) string {
	best, distance := "", 3
	for _, name := range names {
		if n := levenshtein.Distance(given, name, nil); n < distance {
			best, distance = name, n
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(": did you mean %q?", prefix+best)
}

// ExplainFlagError returns the mistake for flags that a command does not understand. It names the flag as people write it.
func ExplainFlagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return Mistake{fmt.Errorf("-%s %q: %w; see %s --help", invalid.GetFlag().Name, invalid.GetValue(), invalid.Unwrap(), cmd.CommandPath())}
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return Mistake{fmt.Errorf("%s; see %s --help", strings.ReplaceAll(err.Error(), "--", "-"), cmd.CommandPath())}
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	given := unknown.GetSpecifiedName()
	return Mistake{fmt.Errorf("unknown flag -%s%s; see %s --help", given, suggestName(given, "-", names), cmd.CommandPath())}
}

// Examples returns the text of a command's examples, a line each.
func Examples(lines ...string) string { return "  " + strings.Join(lines, "\n  ") }

// NoArgs refuses arguments.
func NoArgs(cmd *cobra.Command, args []string) error { return Exactly(0)(cmd, args) }

// Exactly refuses another number of arguments than n.
func Exactly(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return Mistake{fmt.Errorf("%s takes %s, not %d; see %s --help", cmd.CommandPath(), countArguments(n), len(args), cmd.CommandPath())}
		}
		return nil
	}
}

// countArguments returns a number of arguments in words.
func countArguments(n int) string {
	switch n {
	case 0:
		return "no arguments"
	case 1:
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", n)
}

// shownNames is how many names Unknown lists.
const shownNames = 20

// Unknown returns the error for a name that no thing of a kind has. It lists the names that there are; list is the command that
// lists all of them.
func Unknown(kind, name string, names []string, list string) error {
	switch n := len(names); {
	case n == 0:
		return fault.New(fault.NotFound, "There is no %s %q, and no other.", kind, name)
	case n > shownNames:
		return fault.New(fault.NotFound, "There is no %s %q. %d exist: run %s.", kind, name, n, list)
	}
	return fault.New(fault.NotFound, "There is no %s %q. These exist: %s.", kind, name, strings.Join(names, ", "))
}

// AtMost refuses more arguments than n.
func AtMost(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return Mistake{fmt.Errorf("%s takes at most %s, not %d; see %s --help", cmd.CommandPath(), countArguments(n), len(args), cmd.CommandPath())}
		}
		return nil
	}
}

// Acting returns the context of a command that changes something, for the audit.
func Acting(cmd *cobra.Command) context.Context {
	return auth.Acting(cmd.Context(), auth.Actor{Name: "command line", Via: auth.ViaCommand})
}
