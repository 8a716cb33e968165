package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/patchbay-dev/patchbay/core/cli/command"
	"github.com/patchbay-dev/patchbay/core/operator"
)

func (c *commandLine) jobCommand() *cobra.Command {
	return command.Group("job", "List, show and cancel jobs of the running core",
		"Jobs are the work that goes on in the background: checks, updates, feed reads, deliveries, backups.", c.jobList(), c.jobShow(),
		c.jobCancel())
}

func (c *commandLine) jobList() *cobra.Command {
	var q operator.JobQuery
	cmd := &cobra.Command{Use: "list", Short: "List jobs, newest first", Long: "See what runs, what waits and what failed.",
		Example: command.Examples("patchbay job list -state open", "patchbay job list -type core.backup -limit 5 -json"),
		Args:    command.NoArgs}
	cmd.Flags().StringVar(&q.State, "state", "",
		"only jobs in this state: open (queued or running), queued, running, success, failed, rolled_back or canceled")
	cmd.Flags().StringVar(&q.Type, "type", "", "only jobs of this type")
	cmd.Flags().StringVar(&q.Cursor, "cursor", "", "the next page: \"next\" of the page before")
	cmd.Flags().IntVar(&q.Limit, "limit", 50, "how many jobs, 1 to 200")
	return c.listingCommand(cmd, func(ctx context.Context, client *operator.Client, out *command.Output, _ []string) error {
		page, err := client.Jobs(ctx, q)
		if err != nil {
			return err
		}
		t := command.Table{Columns: []string{"ID", "TYPE", "STATE", "STEP", "ACTOR", "CREATED", "FINISHED"}}
		for _, j := range page.Jobs {
			t.Rows = append(t.Rows, []string{j.ID, j.Type, shownState(j), j.Step, j.Actor, j.CreatedAt, j.FinishedAt})
		}
		return out.Print(c.out, page, t)
	})
}

// shownState returns the state of a job, or that it was asked to stop.
func shownState(j operator.Job) string {
	if j.CancelRequested && j.FinishedAt == "" {
		return j.State + ", cancel requested"
	}
	return j.State
}

func (c *commandLine) jobShow() *cobra.Command {
	return c.listingCommand(&cobra.Command{
		Use: "show ID", Short: "Show a job and its latest events", Long: "Find out what a job did and why it failed.",
		Example: command.Examples("patchbay job show job_01J9ZQ3V7M", "patchbay job show job_01J9ZQ3V7M -json"), Args: command.Exactly(1),
	}, func(ctx context.Context, client *operator.Client, out *command.Output, args []string) error {
		job, err := client.Job(ctx, args[0])
		if err != nil {
			return err
		}
		if out.JSON() {
			return command.PrintJSON(c.out, job)
		}
		fmt.Fprintf(c.out, "Job       %s\nType      %s\nState     %s\nActor     %s\nAttempt   %d\nCreated   %s\n", job.ID, job.Type,
			shownState(job.Job), job.Actor, job.Attempt, job.CreatedAt)
		if f := job.Failure; f != nil {
			fmt.Fprintf(c.out, "Failure   %s (%s)\n", command.Printable(f.Message), f.Code)
		}
		fmt.Fprintln(c.out)
		t := command.Table{Columns: []string{"AT", "EVENT", "DATA"}}
		for _, e := range job.Events {
			t.Rows = append(t.Rows, []string{e.At, e.Type, string(e.Data)})
		}
		return t.Print(c.out)
	})
}

func (c *commandLine) jobCancel() *cobra.Command {
	return c.listingCommand(&cobra.Command{
		Use: "cancel ID", Short: "Cancel a job", Args: command.Exactly(1),
		Long:    "Stop a job that you do not want. A waiting job ends at once, a running one at its next safe point.",
		Example: command.Examples("patchbay job cancel job_01J9ZQ3V7M", "patchbay job cancel job_01J9ZQ3V7M -json"),
	}, func(ctx context.Context, client *operator.Client, out *command.Output, args []string) error {
		job, err := client.CancelJob(ctx, args[0])
		if err != nil {
			return err
		}
		return out.PrintText(c.out, job, job.ID+" is "+shownState(job))
	})
}
