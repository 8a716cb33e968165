package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/patchbay-dev/patchbay/core/cli/command"
	"github.com/patchbay-dev/patchbay/core/supervisor"
)

func (c *commandLine) superviseCommand() *cobra.Command {
	return &cobra.Command{
		Use: "supervise", Short: "Run the supervisor, which replaces the core by another image and brings the former one back if that fails", Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.runSupervisor(cmd.Context()) },
	}
}

func (c *commandLine) runSupervisor(ctx context.Context) error {
	p, diags, err := supervisor.Start(ctx, c.source(), Version, c.err)
	if reported := c.report(diags); reported != nil {
		return reported
	}
	if err != nil {
		return err
	}
	defer p.Close()
	p.Logger().Info("the supervisor is ready", "address", "http://"+p.Addr())
	select {
	case <-ctx.Done():
		p.Logger().Info("stopping: an operation that runs goes on at the next start")
		return nil
	case err := <-p.Failed():
		return err
	}
}
