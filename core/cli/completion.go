package cli

import (
	"github.com/spf13/cobra"

	"github.com/patchbay-dev/patchbay/core/cli/command"
)

// completionCommand returns the commands that print scripts by which shells complete the names of commands and flags.
func (c *commandLine) completionCommand() *cobra.Command {
	shell := func(name, load string, write func(root *cobra.Command) error) *cobra.Command {
		return &cobra.Command{
			Use: name, Short: "Print the completion script for " + name, Long: "Complete commands and flags with Tab in " + name + ".",
			Example: command.Examples("patchbay completion "+name, load),
			Args:    command.NoArgs,
			RunE:    func(cmd *cobra.Command, _ []string) error { return write(cmd.Root()) },
		}
	}
	return command.Group("completion", "Print the completion script of a shell", "Complete commands and flags with Tab.",
		shell("bash", "source <(patchbay completion bash)", func(root *cobra.Command) error { return root.GenBashCompletionV2(c.out, true) }),
		shell("zsh", `patchbay completion zsh > "${fpath[1]}/_patchbay"`,
			func(root *cobra.Command) error { return root.GenZshCompletion(c.out) }),
		shell("fish", "patchbay completion fish > ~/.config/fish/completions/patchbay.fish",
			func(root *cobra.Command) error { return root.GenFishCompletion(c.out, true) }),
	)
}
