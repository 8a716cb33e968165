package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/patchbay-dev/patchbay/core/admin"
	"github.com/patchbay-dev/patchbay/core/app"
	"github.com/patchbay-dev/patchbay/core/cli/command"
	"github.com/patchbay-dev/patchbay/core/module"
	"github.com/patchbay-dev/patchbay/core/store"
)

// withRecords calls use with the database, open beside a core that may be running.
func (c *commandLine) withRecords(ctx context.Context, use func(*admin.Records) error) error {
	r, diags, err := admin.OpenRecords(ctx, c.source(), Version)
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
	cmd := &cobra.Command{Use: "backup FILE", Short: "Write a backup archive; the core may be running", Args: command.Exactly(1),
		Long: "The archive has the database, the master key, the data of plugins, plugin.hcl and third-party plugins.\n" +
			"Keep it private: with the master key it can read every stored secret.",
		Example: command.Examples("patchbay backup patchbay.tar.gz", "patchbay backup -without-key /mnt/share/patchbay.tar.gz")}
	out := command.AddOutput(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		diags, err := admin.Backup(cmd.Context(), c.source(), args[0], !withoutKey)
		if reported := c.report(diags); reported != nil {
			return reported
		}
		if err != nil {
			return err
		}
		return out.PrintText(c.out, map[string]string{"file": args[0]}, "")
	}
	cmd.Flags().BoolVar(&withoutKey, "without-key", false, "leave out the master key and the secrets that the console stored")
	return cmd
}

// maxRestored is the largest database that restore unpacks unless it is told otherwise, in bytes.
const maxRestored = 8 << 30

func (c *commandLine) restoreCommand() *cobra.Command {
	r := admin.Restoring{}
	cmd := &cobra.Command{Use: "restore FILE",
		Short: "Restore a backup or pre-migration copy (stop the core first)", Args: command.Exactly(1),
		Long: "Bring back the state of a backup, on this machine or a new one. Existing files stay beside the restored ones.",
		Example: command.Examples("patchbay restore patchbay.tar.gz",
			"patchbay restore -force data/patchbay.sqlite3.before-migration-20270131T120000.000Z")}
	out := command.AddOutput(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r.Archive = args[0]
		done, diags, err := admin.Restore(cmd.Context(), c.source(), r)
		if reported := c.report(diags); reported != nil {
			return reported
		}
		if out.JSON() {
			body := map[string]any{"restored": orEmpty(done.Placed), "kept": orEmpty(done.Kept), "beside": orEmpty(done.Beside)}
			err = errors.Join(err, command.PrintJSON(c.out, body))
		} else {
			printLines(c.out, "Restored", done.Placed)
			printLines(c.out, "Kept the old one as", done.Kept)
			printLines(c.out, "Kept the existing one; the one of the archive is", done.Beside)
		}
		if errors.Is(err, store.ErrDatabaseExists) {
			return command.Mistake{Err: fmt.Errorf("%w; -force replaces it and keeps a copy", err)}
		}
		return err
	}
	cmd.Flags().BoolVar(&r.Overwrite, "force", false, "replace an existing database; Patchbay keeps it (PostgreSQL: in another schema)")
	cmd.Flags().BoolVar(&r.WithoutPlugins, "without-plugins", false, "do not restore the files of third-party plugins")
	cmd.Flags().Int64Var(&r.MaxSize, "max-size", maxRestored, "largest database to unpack, and largest sum of all other files, in bytes")
	return cmd
}

// printLines prints a line for each name, after what happened to it.
func printLines(w io.Writer, what string, names []string) {
	for _, name := range names {
		fmt.Fprintln(w, what, command.Printable(name))
	}
}

// orEmpty returns the names, an empty list for none.
func orEmpty(names []string) []string { return append([]string{}, names...) }
