package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/patchbay-dev/patchbay/core/admin"
	"github.com/patchbay-dev/patchbay/core/cli/command"
	"github.com/patchbay-dev/patchbay/core/operator"
	"github.com/patchbay-dev/patchbay/core/plugin/host"
)

func (c *commandLine) pluginList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the plugins you can use", Args: command.NoArgs,
		Long:    "See the plugins that come with Patchbay and the ones in plugin.hcl.",
		Example: command.Examples("patchbay plugin list", "patchbay plugin list -json")}
	out := command.AddOutput(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		plugins, err := admin.ListPlugins(cmd.Context(), c.source())
		if err != nil {
			return err
		}
		type item struct {
			Kind    string `json:"kind"`
			Plugin  string `json:"plugin"`
			Version string `json:"version"`
			Origin  string `json:"origin"`
			Summary string `json:"summary"`
		}
		items := make([]item, len(plugins))
		t := command.Table{Columns: []string{"KIND", "PLUGIN", "VERSION", "ORIGIN", "SUMMARY"}}
		for i, p := range plugins {
			items[i] = item{p.Kind, p.Name, p.Version, p.Origin, p.Summary}
			t.Rows = append(t.Rows, []string{p.Kind, p.Name, p.Version, p.Origin, p.Summary})
		}
		return out.Print(c.out, map[string]any{"plugins": items}, t)
	}
	return cmd
}

func (c *commandLine) pluginStatus() *cobra.Command {
	return c.listingCommand(&cobra.Command{
		Use: "status [INSTANCE]", Short: "Show the plugin instances of the running core", Args: command.AtMost(1),
		Long:    "See which instances work, since when, and how often they restarted. With INSTANCE the exit status is 1 if it does not work.",
		Example: command.Examples("patchbay plugin status", "patchbay plugin status engine.local -json"),
	}, func(ctx context.Context, client *operator.Client, out *command.Output, args []string) error {
		list, err := client.Plugins(ctx)
		if err != nil {
			return err
		}
		if len(args) == 0 {
			return out.Print(c.out, list, pluginTable(list.Plugins))
		}
		var names []string
		for _, p := range list.Plugins {
			if p.Ref == args[0] {
				if err := out.Print(c.out, operator.PluginList{Plugins: []operator.Plugin{p}}, pluginTable([]operator.Plugin{p})); err != nil {
					return err
				}
				return checkServing(p)
			}
			names = append(names, p.Ref)
		}
		return operator.UnknownInstance(args[0], names)
	})
}

// checkServing returns an error if an instance does not serve.
func checkServing(p operator.Plugin) error {
	if host.State(p.State).Serving() {
		return nil
	}
	if p.Message == "" {
		return fmt.Errorf("%s does not serve: %s", p.Ref, p.State)
	}
	return fmt.Errorf("%s does not serve: %s: %s", p.Ref, p.State, command.Printable(p.Message))
}

func pluginTable(plugins []operator.Plugin) command.Table {
	t := command.Table{Columns: []string{"INSTANCE", "PLUGIN", "VERSION", "STATE", "SINCE", "PID", "RESTARTS", "MESSAGE"}}
	for _, p := range plugins {
		pid := ""
		if p.PID != 0 {
			pid = strconv.Itoa(p.PID)
		}
		t.Rows = append(t.Rows, []string{p.Ref, p.Plugin, p.Version, p.State, p.Since, pid, strconv.Itoa(p.Restarts), p.Message})
	}
	return t
}

func (c *commandLine) pluginRestart() *cobra.Command {
	return c.listingCommand(&cobra.Command{
		Use: "restart INSTANCE", Short: "Restart the process of an instance", Args: command.Exactly(1),
		Long:    "Restart a plugin that hangs or misbehaves, and wait until it works. The exit status is 1 if it does not.",
		Example: command.Examples("patchbay plugin restart engine.local", "patchbay plugin restart notify.ops -json"),
	}, func(ctx context.Context, client *operator.Client, out *command.Output, args []string) error {
		p, err := client.RestartPlugin(ctx, args[0])
		if err != nil {
			return err
		}
		if err := checkServing(p); err != nil {
			return err
		}
		return out.PrintText(c.out, p, fmt.Sprintf("%s is %s, process %d", p.Ref, p.State, p.PID))
	})
}

func (c *commandLine) pluginLogs() *cobra.Command {
	var follow bool
	cmd := &cobra.Command{Use: "logs INSTANCE",
		Short: "Print the last 200 log lines of an instance", Long: "Read what a plugin logged, with known secrets masked.",
		Example: command.Examples("patchbay plugin logs notify.ops", "patchbay plugin logs -f notify.ops"), Args: command.Exactly(1)}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "follow new lines")
	return c.operatorCommand(cmd, func(ctx context.Context, client *operator.Client, args []string) error {
		return client.CopyLogs(ctx, c.out, args[0], follow)
	})
}
