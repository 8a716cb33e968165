package cli

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/patchbay-dev/patchbay/core/admin"
	"github.com/patchbay-dev/patchbay/core/cli/command"
	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/operator"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/store"
)

// drainLook is how often "node drain -wait" looks at the node.
const drainLook = 500 * time.Millisecond

// shownNode is a node as the command line prints it.
type shownNode struct {
	ID      string   `json:"id"`
	State   string   `json:"state"`
	Version string   `json:"version"`
	Host    string   `json:"host"`
	PID     int      `json:"pid"`
	URL     string   `json:"url"`
	Roles   []string `json:"roles"`
	// Jobs is how many run there.
	Jobs int64 `json:"jobs"`
	// StartedAt and SeenAt are times of the database's clock; Age is how many seconds ago the node was seen, by that clock.
	StartedAt string `json:"started_at"`
	SeenAt    string `json:"seen_at"`
	Age       int64  `json:"seen_seconds_ago"`
}

func newNodeCommand(c *commandLine) *cobra.Command {
	return command.Group("node", "List the cores of the database, and drain one",
		"A node is a core that uses the database. One that drains gets no new work and says at /readyz that it is not ready.", newNodeList(c),
		newNodeDrain(c, "drain", "Have a node take no new work", "Use it before you stop a core behind a load balancer: /readyz answers 503, and no job begins.\n"+
			"Requests and jobs under way go on. A restart of the core ends it. Without NODE it is the core that has this configuration.", true),
		newNodeDrain(c, "resume", "Have a node take work again", "Ends \"patchbay node drain\".", false))
}

func newNodeList(c *commandLine) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the nodes", Args: command.NoArgs,
		Long:    "See which cores use the database, and which of them are lost.\nA killed core keeps its last state until its lease ends: after 15 seconds, or three minutes if it does not share the database. SEEN tells how old that is.",
		Example: command.Examples("patchbay node list", "patchbay node list -json")}
	out := command.AddOutput(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return c.withRecords(cmd.Context(), func(r *admin.Records) error {
			nodes, err := cluster.ListNodes(cmd.Context(), r.Store)
			if err == nil {
				err = queue.CountNodeJobs(cmd.Context(), r.Store, nodes)
			}
			if err != nil {
				return err
			}
			shown := make([]shownNode, len(nodes))
			t := command.Table{Columns: []string{"ID", "STATE", "VERSION", "HOST", "ROLES", "JOBS", "STARTED", "SEEN"}}
			for i, n := range nodes {
				shown[i] = shownNode{ID: n.ID, State: string(n.State), Version: n.Version, Host: n.Host, PID: n.PID, URL: n.URL, Roles: orEmpty(n.Roles), Jobs: n.Jobs,
					StartedAt: operator.FormatTime(n.Started), SeenAt: operator.FormatTime(n.Seen), Age: int64(n.Ago.Seconds())}
				t.Rows = append(t.Rows, []string{n.ID, string(n.State), n.Version, n.Host, strings.Join(n.Roles, ", "), strconv.FormatInt(n.Jobs, 10),
					shown[i].StartedAt, n.Ago.Truncate(time.Second).String() + " ago"})
			}
			return out.Print(c.out, map[string]any{"nodes": shown}, t)
		})
	}
	return cmd
}

// newNodeDrain returns the command that begins or ends the drain of a node.
func newNodeDrain(c *commandLine, name, short, long string, drain bool) *cobra.Command {
	cmd := &cobra.Command{Use: name + " [NODE]", Short: short, Long: long, Args: command.AtMost(1),
		Example: command.Examples("patchbay node "+name, "patchbay node "+name+" core-1", "patchbay node "+name+" core-1 -json")}
	wait, timeout := false, time.Duration(0)
	if drain {
		cmd.Example += "\n" + command.Examples("patchbay node drain core-1 -wait -timeout 5m")
		cmd.Flags().BoolVar(&wait, "wait", false, "wait until no job runs at the node")
		cmd.Flags().DurationVar(&timeout, "timeout", 10*time.Minute, "how long to wait")
	}
	out := command.AddOutput(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return c.withRecords(cmd.Context(), func(r *admin.Records) error {
			id := r.NodeID
			if len(args) > 0 {
				id = args[0]
			}
			if err := cluster.SetDrain(cmd.Context(), r.Store, id, drain); err != nil {
				return err
			}
			if wait {
				if err := awaitDrained(cmd.Context(), r.Store, id, timeout); err != nil {
					return err
				}
			}
			text := id + " takes no new work"
			if !drain {
				text = id + " takes work again"
			}
			return out.PrintText(c.out, map[string]any{"id": id, "drain": drain}, text)
		})
	}
	return cmd
}

// awaitDrained waits until a node knows that it drains, and runs no job; or has ended.
func awaitDrained(ctx context.Context, s *store.Store, id string, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var asked time.Time
	for jobs := int64(0); ; {
		nodes, err := cluster.ListNodes(ctx, s)
		if err == nil {
			err = queue.CountNodeJobs(ctx, s, nodes)
		}
		for _, n := range nodes {
			if err != nil || n.ID != id {
				continue
			}
			if asked.IsZero() {
				asked = n.Seen.Add(n.Ago)
			}
			if jobs = n.Jobs; !n.Works() || jobs == 0 && n.Seen.After(asked) {
				return nil
			}
		}
		if err == nil {
			err = event.Sleep(ctx, drainLook)
		}
		switch {
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			return fault.New(fault.Timeout, "%s takes no new work, but %d of its jobs still run after %s.", id, jobs, timeout)
		case err != nil:
			return err
		}
	}
}
