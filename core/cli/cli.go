// Package cli holds the commands of the patchbay binary.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/core/app"
	"github.com/patchbay-dev/patchbay/core/cli/command"
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

// commandLine is what all commands share.
type commandLine struct {
	streams
	config string
	// socket is that of the core, if the flag names it.
	socket string
	env    config.Env
}

// source returns the configuration that the flags name.
func (c *commandLine) source() settings.Source {
	return settings.Source{Path: c.config, Env: c.env, Services: app.Modules()}
}

var errReported = errors.New("the configuration has errors")

// Main runs the command line and returns the exit status.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return runCommand(ctx, args, streams{stdin, stdout, stderr})
}

// runCommand runs the command that the arguments name and returns the exit status.
func runCommand(ctx context.Context, args []string, s streams) int {
	c := &commandLine{streams: s, env: os.LookupEnv}
	root := c.rootCommand()
	root.SetArgs(longFlags(args))
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	err := root.ExecuteContext(ctx)
	var m command.Mistake
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errReported):
	default:
		fmt.Fprintln(s.err, "patchbay:", errorText(err))
	}
	if errors.As(err, &m) {
		return statusMistake
	}
	return statusFailed
}

// errorText returns what a fault says to a person, or the whole chain of another error.
func errorText(err error) string {
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

func (c *commandLine) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use: "patchbay", Short: "A self-hosted server whose providers are plugins",
		Long: "Patchbay runs the services in plugin.hcl. Everything outside is a plugin that you choose there.\n" +
			"Start with \"patchbay serve\".",
		Example:      command.Examples("patchbay serve", "patchbay -config /etc/patchbay/plugin.hcl status"),
		SilenceUsage: true, SilenceErrors: true, CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true}, Version: Version,
		Args: cobra.ArbitraryArgs, RunE: command.OnlyOthers("patchbay"),
	}
	root.PersistentFlags().StringVar(&c.config, "config", "",
		"configuration file (default: PATCHBAY_CONFIG, else ./plugin.hcl, else /etc/patchbay/plugin.hcl)")
	root.PersistentPreRun = func(*cobra.Command, []string) { c.config = findConfiguration(c.config, c.env, systemConfiguration) }
	root.SetFlagErrorFunc(command.ExplainFlagError)
	root.SetVersionTemplate(versionText())
	root.AddCommand(c.serveCommand(), c.superviseCommand(), c.reloadCommand(), c.statusCommand(), c.configCommand(), c.pluginCommand(),
		c.jobCommand(), c.userCommand(), newNodeCommand(c),
		c.backupCommand(), c.restoreCommand(), c.healthCommand(), c.versionCommand(), c.completionCommand())
	root.AddCommand(c.serviceCommands()...)
	return root
}

// reportMistake prints diagnostics. The result is a mistake for errors among them, or for err.
func reportMistake(c *commandLine, diags config.Diagnostics, err error) error {
	if reported := c.report(diags); reported != nil || err == nil {
		return reported
	}
	return command.Mistake{Err: err}
}

// report prints diagnostics; with errors among them the result is the error to return.
func (c *commandLine) report(diags config.Diagnostics) error {
	diags.Sort()
	_ = diags.WriteText(c.err, false)
	if diags.HasErrors() {
		return command.Mistake{Err: errReported}
	}
	return nil
}

func (c *commandLine) versionCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "version", Short: "Print version, commit and Go version", Args: command.NoArgs,
		Long:    "Print what you run, for a bug report or to compare two machines.",
		Example: command.Examples("patchbay version", "patchbay version -json")}
	out := command.AddOutput(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		about := map[string]string{"version": Version, "commit": Commit, "go": runtime.Version()}
		return out.PrintText(c.out, about, strings.TrimSpace(versionText()))
	}
	return cmd
}

// versionText returns the line that the command version and the flag --version print.
func versionText() string {
	return fmt.Sprintf("patchbay %s, commit %s, %s\n", Version, Commit, runtime.Version())
}
