package cli

import (
	"github.com/spf13/cobra"

	"github.com/patchbay-dev/patchbay/core/cli/command"
)

// completionCommand returns the commands that print scripts by which shells complete the names of commands and flags.
func (c *commandLine) completionCommand() *cobra.Command {
	shell := func(name, load string, write func(root *cobra.Command) error) *cobra.Command {
		return &cobra.Command{
			Use: name, Short: "Print the script for " + name, Long: "Print the script for " + name + ". To load it:\n\n    " + load,
			Args: command.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return write(cmd.Root()) },
		}
	}
	return command.Group("completion", "Print a script by which a shell completes commands and flags",
		shell("bash", "source <(patchbay completion bash)", func(root *cobra.Command) error { return root.GenBashCompletionV2(c.out, true) }),
		shell("zsh", `patchbay completion zsh > "${fpath[1]}/_patchbay"`,
			func(root *cobra.Command) error { return root.GenZshCompletion(c.out) }),
		shell("fish", "patchbay completion fish > ~/.config/fish/completions/patchbay.fish",
			func(root *cobra.Command) error { return root.GenFishCompletion(c.out, true) }),
	)
}
