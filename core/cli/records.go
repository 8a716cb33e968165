package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/patchbay-dev/patchbay/core/admin"
	"github.com/patchbay-dev/patchbay/core/app"
	"github.com/patchbay-dev/patchbay/core/cli/command"
	"github.com/patchbay-dev/patchbay/core/module"
	"github.com/patchbay-dev/patchbay/core/store"
)

// withRecords calls use with the database, open beside a core that may be running.
func (c *commandLine) withRecords(ctx context.Context, use func(*admin.Records) error) error {
	r, diags, err := admin.OpenRecords(ctx, c.source())
	if reported := c.report(diags); reported != nil {
		return reported
	}
	if err != nil {
		return err
	}
	defer r.Close()
	return use(r)
}

// serviceCommands returns the commands that the services add.
func (c *commandLine) serviceCommands() (all []*cobra.Command) {
	line := module.CommandLine{In: c.in, Out: c.out, Err: c.err,
		WithRecords: func(ctx context.Context, use func(*module.Records) error) error {
			return c.withRecords(ctx, func(r *admin.Records) error { return use(&r.Records) })
		}}
	for _, d := range app.Modules() {
		if d.Commands != nil {
			all = append(all, d.Commands(line)...)
		}
	}
	return all
}

func (c *commandLine) backupCommand() *cobra.Command {
	var withoutKey bool
	cmd := &cobra.Command{Use: "backup FILE",
		Short: "Write an archive of the database, the master key, the data of instances, the configuration and its plugins; the core may be running", Args: command.Exactly(1), RunE: func(cmd *cobra.Command, args []string) error {
			diags, err := admin.Backup(cmd.Context(), c.source(), args[0], !withoutKey)
			if reported := c.report(diags); reported != nil {
				return reported
			}
			return err
		}}
	cmd.Flags().BoolVar(&withoutKey, "without-key", false, "leave the master key and the secrets of the console out")
	return cmd
}

// maxRestored is the largest database that restore unpacks unless it is told otherwise, in bytes.
const maxRestored = 8 << 30

func (c *commandLine) restoreCommand() *cobra.Command {
	r := admin.Restoring{}
	cmd := &cobra.Command{Use: "restore FILE",
		Short: "Put a backup, or a copy that was made before a migration, back; the core must not be running", Args: command.Exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Archive = args[0]
			done, diags, err := admin.Restore(cmd.Context(), c.source(), r)
			if reported := c.report(diags); reported != nil {
				return reported
			}
			for _, name := range done.Placed {
				fmt.Fprintln(c.out, "Restored", command.Printable(name))
			}
			for _, name := range done.Kept {
				fmt.Fprintln(c.out, "What was there is kept as", name)
			}
			for _, name := range done.Beside {
				fmt.Fprintln(c.out, "What is there stays; that of the archive is", name)
			}
			if errors.Is(err, store.ErrDatabaseExists) {
				return command.Mistake{Err: fmt.Errorf("%w; with -force it is replaced, and kept", err)}
			}
			return err
		}}
	cmd.Flags().BoolVar(&r.Overwrite, "force", false, "replace a database that is there; it is kept, on PostgreSQL in a schema of its own")
	cmd.Flags().BoolVar(&r.WithoutPlugins, "without-plugins", false, "leave the files of third-party plugins in the archive")
	cmd.Flags().Int64Var(&r.MaxSize, "max-size", maxRestored, "largest database to unpack, and how much all the rest may have, in bytes")
	return cmd
}
