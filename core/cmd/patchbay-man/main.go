// Command patchbay-man writes the manual pages of patchbay into a directory: patchbay-man DIRECTORY DATE, with the date of the
// pages as seconds since 1970.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/patchbay-dev/patchbay/core/cli"
)

func main() {
	if err := writeManual(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "patchbay-man:", err)
		os.Exit(1)
	}
}

// writeManual writes a page of section 1 for each command.
func writeManual(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: patchbay-man DIRECTORY DATE")
	}
	seconds, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return fmt.Errorf("the date must be seconds since 1970: %w", err)
	}
	if err := os.MkdirAll(args[0], 0o755); err != nil {
		return err
	}
	return writePages(cli.Commands(), args[0], time.Unix(seconds, 0).UTC())
}

// writePages writes the page of a command and of all below it.
func writePages(cmd *cobra.Command, dir string, date time.Time) error {
	path := filepath.Join(dir, pageName(cmd)+".1")
	if err := os.WriteFile(path, md2man.Render([]byte(renderPage(cmd, date))), 0o644); err != nil {
		return err
	}
	for _, sub := range cmd.Commands() {
		if err := writePages(sub, dir, date); err != nil {
			return err
		}
	}
	return nil
}

// pageName returns the name of a command's page, such as patchbay-token-create.
func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// renderPage returns the page of a command as Markdown for md2man.
func renderPage(cmd *cobra.Command, date time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%% %q \"1\" %q \"Patchbay %s\" \"Patchbay\"\n", strings.ToUpper(pageName(cmd)), date.Format("Jan 2006"), cli.Version)
	fmt.Fprintf(&b, "# NAME\n%s - %s\n# SYNOPSIS\n**%s**\n# DESCRIPTION\n%s\n", escapeMarkdown(pageName(cmd)), escapeMarkdown(cmd.Short),
		escapeMarkdown(cmd.UseLine()),
		escapeMarkdown(strings.ReplaceAll(cmd.Long, "\n", "\n\n")))
	if cmd.HasSubCommands() {
		b.WriteString("# COMMANDS\n")
		for _, sub := range cmd.Commands() {
			writeFact(&b, cli.Fact{Name: sub.Name(), Meaning: sub.Short + "."})
		}
	}
	b.WriteString("# OPTIONS\n")
	cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) { writeFlag(&b, f) })
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { writeFlag(&b, f) })
	if cmd.Example != "" {
		fmt.Fprintf(&b, "# EXAMPLES\n~~~\n%s\n~~~\n", cmd.Example)
	}
	for _, section := range []struct {
		heading string
		facts   []cli.Fact
	}{{"ENVIRONMENT", cli.Environment()}, {"FILES", cli.Files()}, {"EXIT STATUS", cli.ExitStatuses()}} {
		fmt.Fprintf(&b, "# %s\n", section.heading)
		for _, f := range section.facts {
			writeFact(&b, f)
		}
	}
	var also []string
	if cmd.HasParent() {
		also = append(also, "**"+escapeMarkdown(pageName(cmd.Parent()))+"(1)**")
	}
	for _, sub := range cmd.Commands() {
		also = append(also, "**"+escapeMarkdown(pageName(sub))+"(1)**")
	}
	fmt.Fprintf(&b, "# SEE ALSO\n%s\n", strings.Join(also, ", "))
	return b.String()
}

// writeFact writes a name and its meaning.
func writeFact(b *strings.Builder, f cli.Fact) {
	fmt.Fprintf(b, "**%s**\n: %s\n\n", escapeMarkdown(f.Name), escapeMarkdown(f.Meaning))
}

// writeFlag writes a flag as people write it, with its default.
func writeFlag(b *strings.Builder, f *pflag.Flag) {
	name := "-" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	if f.Value.Type() != "bool" {
		name += "=" + f.DefValue
	}
	writeFact(b, cli.Fact{Name: name, Meaning: f.Usage})
}

// escapeMarkdown returns a text without the signs that Markdown would read.
func escapeMarkdown(text string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "<", `\<`, "[", `\[`).Replace(text)
}
