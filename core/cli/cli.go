// Package cli holds the commands of the patchbay binary.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/settings"
)

// Version and Commit are set by the linker.
var (
	Version = "0.1.0-dev"
	Commit  = "unknown"
)

// exit statuses: a failure, and a mistake in configuration or arguments.
const (
	statusFailed  = 1
	statusMistake = 2
)

// streams are what a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// command is what all commands share.
type command struct {
	streams
	config string
	env    config.Env
}

// source returns the configuration that the flags name.
func (c *command) source() settings.Source { return settings.Source{Path: c.config, Env: c.env} }

// mistake is an error for which the exit status is 2. Its text may have been printed already.
type mistake struct{ err error }

func (m mistake) Error() string { return m.err.Error() }
func (m mistake) Unwrap() error { return m.err }

var errReported = errors.New("the configuration has errors")

// Main runs the command line and returns the exit status.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return run(ctx, args, streams{stdin, stdout, stderr})
}

func run(ctx context.Context, args []string, s streams) int {
	c := &command{streams: s, env: os.LookupEnv}
	root := c.root()
	root.SetArgs(longFlags(args))
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	err := root.ExecuteContext(ctx)
	var m mistake
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errReported):
	default:
		fmt.Fprintln(s.err, "patchbay:", sentence(err))
	}
	if errors.As(err, &m) {
		return statusMistake
	}
	return statusFailed
}

// sentence is an error for a person: what a fault says, or the whole chain.
func sentence(err error) string {
	var f *fault.Error
	if errors.As(err, &f) && f.Code != fault.Internal {
		return f.Message
	}
	return err.Error()
}

// longFlags lets flags be written with one dash as well, as in -config.
func longFlags(args []string) []string {
	out := make([]string, len(args))
	plain := false
	for i, a := range args {
		if plain = plain || a == "--"; !plain && len(a) > 2 && a[0] == '-' && a[1] != '-' {
			a = "-" + a
		}
		out[i] = a
	}
	return out
}

func (c *command) root() *cobra.Command {
	root := &cobra.Command{
		Use: "patchbay", Short: "Patchbay: one self-hosted core, providers plugged in",
		SilenceUsage: true, SilenceErrors: true, CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
		Args: cobra.ArbitraryArgs, RunE: onlyOthers("patchbay"),
	}
	root.PersistentFlags().StringVar(&c.config, "config", "plugin.hcl", "configuration file")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return mistake{err} })
	root.AddCommand(c.serve(), c.configuration(), c.plugin(), c.token(), c.key(), c.user(), c.backup(), c.restore(), c.health(), c.version())
	return root
}

// group is a command that only has others.
func group(use, short string, subs ...*cobra.Command) *cobra.Command {
	g := &cobra.Command{Use: use, Short: short, Args: cobra.ArbitraryArgs, RunE: onlyOthers("patchbay " + use)}
	g.AddCommand(subs...)
	return g
}

// onlyOthers is what a command does that only has others.
func onlyOthers(path string) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return mistake{fmt.Errorf("unknown command %q; see %s --help", args[0], path)}
		}
		return cmd.Help()
	}
}

// noArgs and exactly refuse what a command does not take.
func noArgs(cmd *cobra.Command, args []string) error { return exactly(0)(cmd, args) }

func exactly(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return mistake{fmt.Errorf("%s takes %d arguments, not %d; see --help", cmd.CommandPath(), n, len(args))}
		}
		return nil
	}
}

// report prints diagnostics; with errors among them the result is the error to return.
func (c *command) report(diags config.Diagnostics) error {
	diags.Sort()
	_ = diags.WriteText(c.err, false)
	if diags.HasErrors() {
		return mistake{errReported}
	}
	return nil
}

func (c *command) version() *cobra.Command {
	return &cobra.Command{Use: "version", Short: "Print version, commit and Go version", Args: noArgs, RunE: func(*cobra.Command, []string) error {
		fmt.Fprintf(c.out, "patchbay %s, commit %s, %s\n", Version, Commit, goVersion())
		return nil
	}}
}
