package cli

import (
	"fmt"

	"github.com/patchbay-dev/patchbay/core/admin"
	"github.com/patchbay-dev/patchbay/core/cli/command"
	"github.com/spf13/cobra"
)

func (c *commandLine) configCommand() *cobra.Command {
	check := &cobra.Command{Use: "check", Short: "Report every finding about the configuration: exit status 2 if one is an error",
		Args: command.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			diags, err := admin.CheckConfig(cmd.Context(), c.source(), Version)
			if reported := c.report(diags); reported != nil || err != nil {
				if reported == nil {
					reported = command.Mistake{Err: err}
				}
				return reported
			}
			fmt.Fprintln(c.out, "The configuration is valid.")
			return nil
		}}
	show := &cobra.Command{Use: "show", Short: "Print the configuration in effect, secrets masked, with the origin of each value",
		Args: command.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			file, diags, err := admin.ShowConfig(cmd.Context(), c.source(), Version)
			if reported := c.report(diags); reported != nil || err != nil {
				if reported == nil {
					reported = command.Mistake{Err: err}
				}
				return reported
			}
			return file.Show(c.out)
		}}
	return command.Group("config", "Check or show the configuration", check, show)
}

func (c *commandLine) pluginCommand() *cobra.Command {
	list := c.pluginList()
	describe := &cobra.Command{Use: "describe PLUGIN", Short: "Print what a plugin offers, its settings and an HCL block to start from",
		Args: command.Exactly(1), RunE: func(cmd *cobra.Command, args []string) error {
			text, err := admin.DescribePlugin(cmd.Context(), c.source(), args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(c.out, text)
			return err
		}}
	lock := &cobra.Command{Use: "lock", Short: "Write the digests of third-party plugins into plugin.lock.hcl, and print what has changed",
		Args: command.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			written, diags, err := admin.LockPlugins(cmd.Context(), c.source())
			if reported := c.report(diags); reported != nil || err != nil {
				if reported == nil {
					reported = err
				}
				return reported
			}
			for _, w := range written {
				fmt.Fprintln(c.out, command.Printable(w))
			}
			return nil
		}}
	return command.Group("plugin", "Look at, restart, test and pin plugins", list, describe, c.pluginStatus(), c.pluginRestart(),
		c.pluginLogs(), lock, c.pluginTest(), c.pluginNew())
}
