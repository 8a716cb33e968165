package module

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/patchbay-dev/patchbay/core/cli/command"
	"github.com/patchbay-dev/patchbay/core/module"
	"github.com/patchbay-dev/patchbay/core/services/search"
)

// commands are those of the service, on the streams and the database of the command line.
type commands struct{ module.CommandLine }

// newCommands returns the commands token and key.
func newCommands(line module.CommandLine) []*cobra.Command {
	c := commands{line}
	return []*cobra.Command{c.tokenCommand(), c.keyCommand()}
}

// newAdmin returns the verbs that need no running service.
func newAdmin(r *module.Records) *search.Admin { return search.NewAdmin(r.Store, r.Keyring, nil) }

// maxKeys is how many keys are added at once.
const maxKeys = 10_000

func (c commands) keyAdd() *cobra.Command {
	var keyGroup string
	add := &cobra.Command{Use: "add", Short: "Add upstream keys from standard input, one a line", Args: command.NoArgs,
		Long:    "Fill the pool of keys that pays for searches at the upstream API. Clients never see them.",
		Example: command.Examples("patchbay key add < keys.txt", "pass show upstream-keys | patchbay key add -group team")}
	out := command.AddOutput(add)
	add.RunE = func(cmd *cobra.Command, _ []string) error {
		keys, numbers, err := c.readKeys()
		if err != nil {
			return err
		}
		return c.WithRecords(cmd.Context(), func(r *module.Records) error {
			return c.addKeys(command.Acting(cmd), r, out, keyGroup, keys, numbers)
		})
	}
	add.Flags().StringVar(&keyGroup, "group", "", "group of the keys")
	return add
}

// readKeys reads standard input: the lines that are not blank, and their numbers.
func (c commands) readKeys() (keys []string, numbers []int, err error) {
	in := bufio.NewScanner(c.In)
	for n := 1; in.Scan(); n++ {
		if strings.TrimSpace(in.Text()) == "" {
			continue
		}
		if len(keys) == maxKeys {
			return nil, nil, command.Mistake{Err: fmt.Errorf("there are more than %d keys on standard input: add them in parts", maxKeys)}
		}
		keys, numbers = append(keys, in.Text()), append(numbers, n)
	}
	if err := in.Err(); err != nil {
		return nil, nil, fmt.Errorf("read standard input: %w", err)
	}
	if len(keys) == 0 {
		return nil, nil, command.Mistake{Err: errors.New("there is no key on standard input")}
	}
	return keys, numbers, nil
}

// addKeys adds keys and tells what became of each; numbers are the lines on which they stood.
func (c commands) addKeys(ctx context.Context, r *module.Records, out *command.Output, keyGroup string, keys []string,
	numbers []int) error {
	added, err := newAdmin(r).AddKeys(ctx, keyGroup, keys)
	if err != nil {
		return err
	}
	var ids []string
	for _, a := range added {
		if a.Problem == "" {
			ids = append(ids, a.ID)
		}
	}
	if err := r.Users.Journal.Record(ctx, "search.keys.create", strings.Join(ids, " "), nil); err != nil {
		return err
	}
	type addition struct {
		Line    int    `json:"line"`
		ID      string `json:"id,omitempty"`
		Status  string `json:"status,omitempty"`
		Problem string `json:"problem,omitempty"`
	}
	bad, lines, all := 0, []string{}, make([]addition, len(added))
	for i, a := range added {
		all[i] = addition{numbers[i], a.ID, a.Status, a.Problem}
		if a.Problem != "" {
			bad++
			fmt.Fprintf(c.Err, "line %d: %s\n", numbers[i], a.Problem)
			continue
		}
		lines = append(lines, fmt.Sprintf("%s %s", a.ID, a.Status))
	}
	if err := out.PrintText(c.Out, map[string]any{"keys": all}, strings.Join(lines, "\n")); err != nil {
		return err
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d keys were not added", bad, len(added))
	}
	return nil
}
