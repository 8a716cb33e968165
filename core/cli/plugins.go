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
	cmd := &cobra.Command{Use: "list", Short: "List the plugins that can be used", Args: command.NoArgs}
	out := command.AddOutput(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := out.Check(); err != nil {
			return err
		}
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
		Use: "status [INSTANCE]", Short: "Show the instances of plugins that the running core has, or one of them: exit status 1 if it does not serve", Args: command.AtMost(1),
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
	return c.operatorCommand(&cobra.Command{
		Use: "restart INSTANCE", Short: "Start the process of an instance again, and wait until it serves: exit status 1 if it does not",
		Args: command.Exactly(1),
	}, func(ctx context.Context, client *operator.Client, args []string) error {
		p, err := client.RestartPlugin(ctx, args[0])
		if err != nil {
			return err
		}
		if err := checkServing(p); err != nil {
			return err
		}
		fmt.Fprintf(c.out, "%s is %s, process %d\n", p.Ref, p.State, p.PID)
		return nil
	})
}

func (c *commandLine) pluginLogs() *cobra.Command {
	var follow bool
	cmd := &cobra.Command{Use: "logs INSTANCE",
		Short: "Print the last 200 lines that the process of an instance has written, without the secrets that are known",
		Args:  command.Exactly(1)}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with the lines that it writes from now on")
	return c.operatorCommand(cmd, func(ctx context.Context, client *operator.Client, args []string) error {
		return client.CopyLogs(ctx, c.out, args[0], follow)
	})
}
