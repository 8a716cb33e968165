package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/patchbay-dev/patchbay/core/cli/command"
	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/operator"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/supervisor"
)

func (c *commandLine) superviseCommand() *cobra.Command {
	return &cobra.Command{
		Use: "supervise", Short: "Start the supervisor, which upgrades Patchbay",
		Long: "The supervisor runs beside the core. " +
			"It replaces the core with another version, and rolls back if that version does not become ready.",
		Example: command.Examples("patchbay supervise", "patchbay -config /etc/patchbay/plugin.hcl supervise"),
		Args:    command.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.runSupervisor(cmd.Context()) },
	}
}

func (c *commandLine) runSupervisor(ctx context.Context) error {
	p, diags, err := supervisor.Start(ctx, c.source(), Version, operatorCore{c}, c.err)
	if reported := c.report(diags); reported != nil {
		return reported
	}
	if err != nil {
		return err
	}
	defer p.Close()
	p.Logger().Info("supervisor is ready", "address", "http://"+p.Addr())
	select {
	case <-ctx.Done():
		p.Logger().Info("shutting down; a running operation resumes at the next start")
		return nil
	case err := <-p.Failed():
		return err
	}
}

// maxRunningJobs is how many of the jobs that run are told, the most that the core lists at once.
const maxRunningJobs = 200

// operatorCore asks the core over the operators' socket.
type operatorCore struct{ line *commandLine }

// RunningJobs implements supervisor.Core.
func (o operatorCore) RunningJobs(ctx context.Context) ([]string, error) {
	core, err := operator.Connect(ctx, o.line.socketPaths())
	if err != nil {
		return nil, err
	}
	page, err := core.Jobs(ctx, operator.JobQuery{State: string(queue.Running), Here: true, Limit: maxRunningJobs})
	if err != nil {
		return nil, err
	}
	return lists.ConvertAll(page.Jobs, func(j operator.Job) string { return j.Type }), nil
}

// BeginUpgrade implements supervisor.Core.
func (o operatorCore) BeginUpgrade(ctx context.Context) (string, error) {
	core, err := operator.Connect(ctx, o.line.socketPaths())
	if err != nil {
		return "", err
	}
	upgrade, err := core.BeginUpgrade(ctx)
	return upgrade.WaitsFor, err
}

// EndUpgrade implements supervisor.Core.
func (o operatorCore) EndUpgrade(ctx context.Context) error {
	core, err := operator.Connect(ctx, o.line.socketPaths())
	if err != nil {
		return err
	}
	return core.EndUpgrade(ctx)
}

// CoreVersion implements supervisor.Core.
func (o operatorCore) CoreVersion(ctx context.Context) (string, error) {
	core, err := operator.Connect(ctx, o.line.socketPaths())
	if err != nil {
		return "", err
	}
	status, err := core.Status(ctx)
	if err != nil {
		return "", err
	}
	if !status.Ready {
		return "", errors.New("the core is not ready")
	}
	return status.Version, nil
}
