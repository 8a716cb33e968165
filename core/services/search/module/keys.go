package module

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/patchbay-dev/patchbay/core/cli/command"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/module"
	"github.com/patchbay-dev/patchbay/core/services/search"
)

func (c commands) keyCommand() *cobra.Command {
	return command.Group("key", "Manage the pool of upstream keys",
		"The search service takes turns between these keys when it calls an upstream API.", c.keyAdd(), c.keyList(),
		c.keyChange("enable", "Enable an upstream key", "Use a key again that was disabled or exhausted.",
			"search.keys.status.change",
			func(ctx context.Context, a *search.Admin, id string) error { return a.SetKeyEnabled(ctx, id, true) }),
		c.keyChange("disable", "Disable an upstream key", "Stop using a key without deleting it.",
			"search.keys.status.change",
			func(ctx context.Context, a *search.Admin, id string) error { return a.SetKeyEnabled(ctx, id, false) }),
		c.keyChange("delete", "Delete an upstream key", "Remove a key from the pool. Adding it again restores its history.",
			"search.keys.delete",
			func(ctx context.Context, a *search.Admin, id string) error { return a.DeleteKey(ctx, id) }))
}

func (c commands) keyList() *cobra.Command {
	list := &cobra.Command{Use: "list", Short: "List upstream keys, newest first", Args: command.NoArgs,
		Long:    "See which keys work and which are exhausted or refused. It shows ids, never keys.",
		Example: command.Examples("patchbay key list", "patchbay key list -json")}
	out := command.AddOutput(list)
	list.RunE = func(cmd *cobra.Command, _ []string) error {
		return c.WithRecords(cmd.Context(), func(r *module.Records) error {
			keys, err := newAdmin(r).ListKeys(cmd.Context())
			if err != nil {
				return err
			}
			table := command.Table{Columns: []string{"ID", "STATUS", "GROUP", "REASON", "UNTIL", "CREATED"}}
			for _, k := range keys {
				until := ""
				if k.Until != nil {
					until = k.Until.String()
				}
				table.Rows = append(table.Rows, []string{k.ID, string(k.Status), k.Group, k.Reason, until, k.CreatedAt.String()})
			}
			return out.Print(c.Out, map[string]any{"keys": keys}, table)
		})
	}
	return list
}

// keyChange returns a command that does something to one key. action is its name in the audit.
func (c commands) keyChange(use, short, long, action string, change func(context.Context, *search.Admin, string) error) *cobra.Command {
	cmd := &cobra.Command{Use: use + " ID", Short: short, Long: long + " ID is the first column of \"patchbay key list\".",
		Args:    command.Exactly(1),
		Example: command.Examples("patchbay key "+use+" k7Qz", "patchbay key "+use+" k7Qz -json")}
	out := command.AddOutput(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return c.WithRecords(cmd.Context(), func(r *module.Records) error {
			if err := change(cmd.Context(), newAdmin(r), args[0]); err != nil {
				return nameKeys(cmd.Context(), r, args[0], err)
			}
			if err := r.Users.Journal.Record(command.Acting(cmd), action, args[0], nil); err != nil {
				return err
			}
			return out.PrintText(c.Out, map[string]string{"id": args[0], "done": use}, "")
		})
	}
	return cmd
}

// nameKeys adds the ids of the upstream keys that there are to the error for an unknown one.
func nameKeys(ctx context.Context, r *module.Records, id string, err error) error {
	if fault.CodeOf(err) != fault.NotFound {
		return err
	}
	keys, failed := newAdmin(r).ListKeys(ctx)
	if failed != nil {
		return errors.Join(err, failed)
	}
	ids := make([]string, len(keys))
	for i, k := range keys {
		ids[i] = k.ID
	}
	return command.Unknown("upstream key", id, ids, "patchbay key list")
}
