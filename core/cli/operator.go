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
	cmd.Flags().StringVar(&c.socket, "socket", "", "socket of the core (default: the one that belongs to the configuration)")
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
	cmd.PreRunE = func(*cobra.Command, []string) error { return out.Check() }
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
	return c.operatorCommand(&cobra.Command{
		Use: "reload", Short: "Have the running core read its configuration again, and wait until it has: exit status 2 if it is refused",
		Args: command.NoArgs,
	}, func(ctx context.Context, client *operator.Client, _ []string) error {
		done, err := client.Reload(ctx)
		if err != nil {
			return err
		}
		for _, d := range done.Diagnostics {
			fmt.Fprint(c.err, d.Text)
		}
		switch {
		case done.Accepted:
			fmt.Fprintln(c.out, "The configuration was read again.")
			return nil
		case done.Error != "":
			return command.Mistake{Err: fmt.Errorf("the reload was refused, and the former configuration stays in use: %s", done.Error)}
		}
		return command.Mistake{Err: errors.New("the reload was refused, and the former configuration stays in use")}
	})
}

func (c *commandLine) statusCommand() *cobra.Command {
	return c.listingCommand(&cobra.Command{
		Use: "status", Short: "Show the running core with its services and plugins: exit status 1 if it is not ready", Args: command.NoArgs,
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
