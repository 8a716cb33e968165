package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/patchbay-dev/patchbay/core/internal/testing/reference"
)

// TestCommandsReference keeps reference-commands.md.
func TestCommandsReference(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Commands\n\nEvery command of `patchbay`, with its flags and examples. " +
		"This page is generated from the code. Every flag may have one dash or two.\n")
	writeFacts(&b, "Exit status", "Status", ExitStatuses())
	writeFacts(&b, "Environment", "Variable", Environment())
	writeFacts(&b, "Files", "File", Files())
	root := Commands()
	b.WriteString("\n## Flags of all commands\n\n")
	writeFlags(&b, root.PersistentFlags())
	writeCommand(&b, root)
	reference.Compare(t, "reference-commands.md", b.String())
}

// writeFacts writes a table.
func writeFacts(b *strings.Builder, heading, column string, facts []Fact) {
	fmt.Fprintf(b, "\n## %s\n\n| %s | Meaning |\n|---|---|\n", heading, column)
	for _, f := range facts {
		fmt.Fprintf(b, "| `%s` | %s |\n", f.Name, f.Meaning)
	}
}

// writeFlags writes the table of flags, nothing without any.
func writeFlags(b *strings.Builder, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	b.WriteString("| Flag | Default | What it does |\n|---|---|---|\n")
	flags.VisitAll(func(f *pflag.Flag) {
		name, value := "`-"+f.Name+"`", f.DefValue
		if f.Shorthand != "" {
			name = "`-" + f.Shorthand + "`, " + name
		}
		if value == "[]" || value == "false" {
			value = ""
		}
		if value != "" {
			value = "`" + value + "`"
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", name, value, f.Usage)
	})
}

// writeCommand writes a command that does something, and all below it.
func writeCommand(b *strings.Builder, cmd *cobra.Command) {
	if cmd.HasParent() && !cmd.HasSubCommands() {
		fmt.Fprintf(b, "\n## %s\n\n%s.\n\n%s\n\n", cmd.CommandPath(), cmd.Short, strings.ReplaceAll(cmd.Long, "\n", " "))
		fmt.Fprintf(b, "```bash\n%s\n```\n", strings.ReplaceAll(strings.TrimSpace(cmd.Example), "\n  ", "\n"))
		if cmd.LocalFlags().HasAvailableFlags() {
			b.WriteString("\n")
		}
		writeFlags(b, cmd.LocalFlags())
	}
	for _, sub := range cmd.Commands() {
		writeCommand(b, sub)
	}
}

// withoutJSON are the commands that print no facts: they run until they are stopped, or print a script or a log.
var withoutJSON = map[string]bool{
	"patchbay serve": true, "patchbay supervise": true, "patchbay plugin logs": true, "patchbay completion bash": true,
	"patchbay completion zsh": true, "patchbay completion fish": true,
}

// TestEveryCommandIsExplained: each command says what it is for, shows two examples that its flags allow, and prints JSON.
func TestEveryCommandIsExplained(t *testing.T) {
	var visit func(cmd *cobra.Command)
	leaves := 0
	visit = func(cmd *cobra.Command) {
		path := cmd.CommandPath()
		if cmd.Long == "" || strings.HasSuffix(cmd.Short, ".") || !strings.HasSuffix(strings.TrimSpace(cmd.Long), ".") {
			t.Errorf("%s: it needs a sentence in Long that says what it is for, and a Short without a full stop", path)
		}
		if !cmd.HasSubCommands() {
			leaves++
			if (cmd.Flags().Lookup("json") == nil) != withoutJSON[path] {
				t.Errorf("%s: it must have the flag json, or be in withoutJSON", path)
			}
			checkExamples(t, cmd)
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(Commands())
	if leaves < 35 {
		t.Errorf("%d commands were found", leaves)
	}
}

// checkExamples checks that a command has two examples which call it with flags that it has.
func checkExamples(t *testing.T, cmd *cobra.Command) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(cmd.Example), "\n")
	if len(lines) < 2 {
		t.Errorf("%s: it needs two examples", cmd.CommandPath())
	}
	for _, line := range lines {
		if !strings.Contains(line, "patchbay") && !strings.Contains(line, cmd.Name()) {
			t.Errorf("%s: the example %q does not call it", cmd.CommandPath(), line)
		}
		_, call, ok := strings.Cut(line, cmd.CommandPath())
		if !ok {
			continue
		}
		for _, word := range strings.Fields(strings.FieldsFunc(call+" ",
			func(r rune) bool { return r == '|' || r == ';' || r == ')' || r == '&' })[0]) {
			name := strings.TrimLeft(word, "-")
			if word == name || cmd.Flags().Lookup(name) != nil || len(name) == 1 && cmd.Flags().ShorthandLookup(name) != nil {
				continue
			}
			t.Errorf("%s: the example %q has the unknown flag %s", cmd.CommandPath(), line, word)
		}
	}
}
