package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/patchbay-dev/patchbay/core/admin"
	"github.com/patchbay-dev/patchbay/core/services/search"
	"github.com/patchbay-dev/patchbay/core/store"
)

// withRecords opens the database beside a core that may be running.
func (c *command) withRecords(ctx context.Context, f func(*admin.Records) error) error {
	r, diags, err := admin.OpenRecords(ctx, c.source())
	if reported := c.report(diags); reported != nil {
		return reported
	}
	if err != nil {
		return err
	}
	defer r.Close()
	return f(r)
}

func (c *command) token() *cobra.Command {
	var note string
	var asJSON bool
	create := &cobra.Command{Use: "create", Short: "Make an access token and print it", Args: noArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		return c.withRecords(cmd.Context(), func(r *admin.Records) error {
			text, err := r.Search.CreateToken(cmd.Context(), search.NewToken{Note: note})
			if err != nil {
				return err
			}
			if err := r.Users.Record(acting(cmd), "search.tokens.create", search.TokenID(text), nil); err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(c.out).Encode(map[string]string{"token": text, "note": note})
			}
			_, err = fmt.Fprintln(c.out, text)
			return err
		})
	}}
	create.Flags().StringVar(&note, "note", "", "what the token is for")
	create.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return group("token", "Access tokens of the search service", create,
		c.tokenState("enable", "Enable a token", true), c.tokenState("disable", "Disable a token", false))
}

func (c *command) tokenState(use, short string, enabled bool) *cobra.Command {
	return &cobra.Command{Use: use + " ID", Short: short + ", named by the four characters after th-", Args: exactly(1), RunE: func(cmd *cobra.Command, args []string) error {
		return c.withRecords(cmd.Context(), func(r *admin.Records) error {
			if err := r.Search.SetTokenEnabled(cmd.Context(), args[0], enabled); err != nil {
				return err
			}
			return r.Users.Record(acting(cmd), "search.tokens."+use, args[0], nil)
		})
	}}
}

const maxKeys = 10_000

func (c *command) key() *cobra.Command {
	var keyGroup string
	add := &cobra.Command{Use: "add", Short: "Add upstream keys, one a line on standard input", Args: noArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		keys, numbers, err := c.readKeys()
		if err != nil {
			return err
		}
		return c.withRecords(cmd.Context(), func(r *admin.Records) error { return c.addKeys(acting(cmd), r, keyGroup, keys, numbers) })
	}}
	add.Flags().StringVar(&keyGroup, "group", "", "group of the keys")
	return group("key", "Upstream keys of the search service", add)
}

// readKeys reads standard input: the lines that are not blank, and their numbers.
func (c *command) readKeys() (keys []string, numbers []int, err error) {
	in := bufio.NewScanner(c.in)
	for n := 1; in.Scan(); n++ {
		if strings.TrimSpace(in.Text()) == "" {
			continue
		}
		if len(keys) == maxKeys {
			return nil, nil, mistake{fmt.Errorf("there are more than %d keys on standard input: add them in parts", maxKeys)}
		}
		keys, numbers = append(keys, in.Text()), append(numbers, n)
	}
	if err := in.Err(); err != nil {
		return nil, nil, fmt.Errorf("read standard input: %w", err)
	}
	if len(keys) == 0 {
		return nil, nil, mistake{errors.New("there is no key on standard input")}
	}
	return keys, numbers, nil
}

// addKeys adds keys and tells what became of each; numbers are the lines on which they stood.
func (c *command) addKeys(ctx context.Context, r *admin.Records, keyGroup string, keys []string, numbers []int) error {
	added, err := r.Search.AddKeys(ctx, keyGroup, keys)
	if err != nil {
		return err
	}
	var ids []string
	for _, a := range added {
		if a.Problem == "" {
			ids = append(ids, a.ID)
		}
	}
	if err := r.Users.Record(ctx, "search.keys.create", strings.Join(ids, " "), nil); err != nil {
		return err
	}
	bad := 0
	for i, a := range added {
		if a.Problem != "" {
			bad++
			fmt.Fprintf(c.err, "line %d: %s\n", numbers[i], a.Problem)
			continue
		}
		fmt.Fprintf(c.out, "%s %s\n", a.ID, a.Status)
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d keys were not added", bad, len(added))
	}
	return nil
}

func (c *command) backup() *cobra.Command {
	var withoutKey bool
	cmd := &cobra.Command{Use: "backup FILE", Short: "Write an archive of the embedded database and the master key; the core may be running", Args: exactly(1), RunE: func(cmd *cobra.Command, args []string) error {
		diags, err := admin.Backup(cmd.Context(), c.source(), args[0], !withoutKey)
		if reported := c.report(diags); reported != nil {
			return reported
		}
		return err
	}}
	cmd.Flags().BoolVar(&withoutKey, "without-key", false, "leave the master key out")
	return cmd
}

// maxRestored is the largest database that restore unpacks unless it is told otherwise, in bytes.
const maxRestored = 8 << 30

func (c *command) restore() *cobra.Command {
	r := admin.Restoring{}
	cmd := &cobra.Command{Use: "restore FILE", Short: "Put a backup back; the core must not be running", Args: exactly(1), RunE: func(cmd *cobra.Command, args []string) error {
		r.Archive = args[0]
		kept, diags, err := admin.Restore(cmd.Context(), c.source(), r)
		if reported := c.report(diags); reported != nil {
			return reported
		}
		for _, name := range kept {
			fmt.Fprintln(c.out, "The former file is kept as", name)
		}
		if errors.Is(err, store.ErrDatabaseExists) {
			return mistake{fmt.Errorf("%w; with -force it is replaced, and kept beside the new one", err)}
		}
		return err
	}}
	cmd.Flags().BoolVar(&r.Overwrite, "force", false, "replace a database that is there; it is kept beside the new one")
	cmd.Flags().Int64Var(&r.MaxSize, "max-size", maxRestored, "largest database to unpack, in bytes")
	return cmd
}
