package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/patchbay-dev/patchbay/core/cli/command"
	"github.com/patchbay-dev/patchbay/core/operator"
)

// operatorCommand returns a command that speaks to the running core.
func (c *commandLine) operatorCommand(cmd *cobra.Command, run func(context.Context, *operator.Client, []string) error) *cobra.Command {
	cmd.Flags().StringVar(&c.socket, "socket", "", "socket of the core (default: the one of the configuration)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		client, err := operator.Connect(cmd.Context(), c.socketPaths())
		if err != nil {
			return err
		}
		return run(cmd.Context(), client, args)
	}
	return cmd
}

// listingCommand is operatorCommand for one that prints a list or what is in it.
func (c *commandLine) listingCommand(cmd *cobra.Command,
	run func(context.Context, *operator.Client, *command.Output, []string) error) *cobra.Command {
	out := command.AddOutput(cmd)
	return c.operatorCommand(cmd, func(ctx context.Context, client *operator.Client, args []string) error {
		return run(ctx, client, out, args)
	})
}

// socketPaths returns where the socket of the core may lie. A configuration with errors, which a reload is asked about, tells as
// much as can be read of it.
func (c *commandLine) socketPaths() []string {
	if c.socket != "" {
		return []string{c.socket}
	}
	dataDir, socketDir := c.source().SocketDirectories()
	return operator.SocketPaths(dataDir, socketDir)
}

func (c *commandLine) reloadCommand() *cobra.Command {
	return c.listingCommand(&cobra.Command{
		Use: "reload", Short: "Reload the configuration of the running core", Args: command.NoArgs,
		Long: "Apply changes in plugin.hcl without a restart; running requests finish on the old configuration.\n" +
			"If the file has an error, the old configuration stays and the exit status is 2.",
		Example: command.Examples("patchbay reload", "patchbay config check && patchbay reload"),
	}, func(ctx context.Context, client *operator.Client, out *command.Output, _ []string) error {
		done, err := client.Reload(ctx)
		if err != nil {
			return err
		}
		if out.JSON() {
			err = command.PrintJSON(c.out, done)
		} else {
			for _, d := range done.Diagnostics {
				fmt.Fprint(c.err, d.Text)
			}
		}
		switch {
		case err != nil || done.Accepted && out.JSON():
			return err
		case done.Accepted:
			fmt.Fprintln(c.out, "Configuration reloaded.")
			return nil
		case done.Error != "":
			return command.Mistake{Err: fmt.Errorf("reload refused, the old configuration stays: %s", done.Error)}
		}
		return command.Mistake{Err: errors.New("reload refused, the old configuration stays")}
	})
}

func (c *commandLine) statusCommand() *cobra.Command {
	return c.listingCommand(&cobra.Command{
		Use: "status", Short: "Show the running core, its services and plugins", Args: command.NoArgs,
		Long:    "See at a glance whether Patchbay works. The exit status is 1 if it is not ready.",
		Example: command.Examples("patchbay status", "patchbay status -json"),
	}, func(ctx context.Context, client *operator.Client, out *command.Output, _ []string) error {
		st, err := client.Status(ctx)
		if err != nil {
			return err
		}
		if out.JSON() {
			err = command.PrintJSON(c.out, st)
		} else {
			err = c.printStatus(&st)
		}
		if err == nil && !st.Ready {
			err = errors.New("the core is not ready")
		}
		return err
	})
}

// printStatus prints the status for people.
func (c *commandLine) printStatus(st *operator.Status) error {
	reload := "none since the start"
	if last := st.LastReload; last != nil && last.Accepted {
		reload = "accepted at " + last.At
	} else if last != nil {
		reload = "refused at " + last.At + ": " + command.Printable(last.Reason)
	}
	uptime := time.Duration(st.Uptime) * time.Second
	fmt.Fprintf(c.out, "Version   %s\nReady     %s\nUptime    %s, since %s\nReload    %s\nJobs      %d running, %d queued\n\n",
		st.Version, yesNo(st.Ready), uptime, st.StartedAt, reload, st.Jobs.Running, st.Jobs.Queued)
	services := command.Table{Columns: []string{"SERVICE", "ADDRESS", "READY", "MESSAGE"}}
	for _, s := range append([]operator.ServiceStatus{st.Database}, st.Services...) {
		services.Rows = append(services.Rows, []string{s.Name, s.BaseURL, yesNo(s.Ready), s.Message})
	}
	if err := services.Print(c.out); err != nil {
		return err
	}
	fmt.Fprintln(c.out)
	return pluginTable(st.Plugins).Print(c.out)
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}
