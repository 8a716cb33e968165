package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/core/admin"
	"github.com/patchbay-dev/patchbay/core/cli/command"
	"github.com/patchbay-dev/patchbay/core/lists"
)

// printFindings prints diagnostics as JSON, and the error that kept the check from its end.
func printFindings(w io.Writer, diags config.Diagnostics, failure error) error {
	diags.Sort()
	type finding struct {
		Severity string `json:"severity"`
		Summary  string `json:"summary"`
		Detail   string `json:"detail,omitempty"`
		File     string `json:"file,omitempty"`
		Line     int    `json:"line,omitempty"`
	}
	all := make([]finding, 0, len(diags)+1)
	for _, d := range diags {
		all = append(all, finding{d.Severity.String(), d.Summary, d.Detail, d.Range.File, d.Range.Line})
	}
	if failure != nil {
		all = append(all, finding{Severity: "error", Summary: failure.Error()})
	}
	return command.PrintJSON(w, map[string]any{"valid": failure == nil && !diags.HasErrors(), "findings": all})
}

func (c *commandLine) configCommand() *cobra.Command {
	check := &cobra.Command{Use: "check", Short: "Check plugin.hcl and print every finding with file and line",
		Long: "Find mistakes in plugin.hcl before you start or reload. Plugins check their blocks as well.\n" +
			"The exit status is 2 if a finding is an error.",
		Example: command.Examples("patchbay config check", "patchbay -config /etc/patchbay/plugin.hcl config check -json"), Args: command.NoArgs}
	out := command.AddOutput(check)
	check.RunE = func(cmd *cobra.Command, _ []string) error {
		diags, err := admin.CheckConfig(cmd.Context(), c.source(), Version)
		if !out.JSON() {
			if failed := reportMistake(c, diags, err); failed != nil {
				return failed
			}
			fmt.Fprintln(c.out, "The configuration is valid.")
			return nil
		}
		if failed := printFindings(c.out, diags, err); failed != nil {
			return failed
		}
		switch {
		case diags.HasErrors():
			return command.Mistake{Err: errReported}
		case err != nil:
			return command.Mistake{Err: err}
		}
		return nil
	}
	show := &cobra.Command{Use: "show", Short: "Print every value in effect and where it comes from",
		Long:    "See what Patchbay uses after environment variables, defaults and plugin.hcl. It masks secrets.",
		Example: command.Examples("patchbay config show", "patchbay config show | grep http_addr"), Args: command.NoArgs}
	shown := command.AddOutput(show)
	show.RunE = func(cmd *cobra.Command, _ []string) error {
		file, diags, err := admin.ShowConfig(cmd.Context(), c.source(), Version)
		if failed := reportMistake(c, diags, err); failed != nil {
			return failed
		}
		if shown.JSON() {
			return command.PrintJSON(c.out, map[string]any{"settings": file.EffectiveValues()})
		}
		return file.Show(c.out)
	}
	return command.Group("config", "Check or show the configuration", "Work with plugin.hcl without a running core.", check, show)
}

func (c *commandLine) pluginCommand() *cobra.Command {
	list := c.pluginList()
	describe := &cobra.Command{Use: "describe PLUGIN", Short: "Print the settings of a plugin and a block for plugin.hcl",
		Long:    "Look up what you can set before you add an instance of a plugin to plugin.hcl.",
		Example: command.Examples("patchbay plugin describe local", "patchbay plugin describe local -json"),
		Args:    command.Exactly(1)}
	described := command.AddOutput(describe)
	describe.RunE = func(cmd *cobra.Command, args []string) error {
		p, err := admin.FindPlugin(cmd.Context(), c.source(), args[0])
		if err != nil {
			return err
		}
		about, err := protojson.Marshal(p.About)
		if err != nil {
			return err
		}
		body := map[string]any{"kind": p.Kind, "plugin": p.Name, "version": p.Version, "origin": p.Origin, "summary": p.Summary,
			"description": json.RawMessage(about)}
		return described.PrintText(c.out, body, strings.TrimSuffix(p.Text(), "\n"))
	}
	lock := &cobra.Command{Use: "lock", Short: "Pin the digests of third-party plugins in plugin.lock.hcl",
		Long: "Run it after you install or upgrade a third-party plugin. Patchbay starts a plugin only if its files match plugin.lock.hcl.\n" +
			"It prints what changed.",
		Example: command.Examples("patchbay plugin lock", "patchbay plugin lock && patchbay reload"), Args: command.NoArgs}
	out := command.AddOutput(lock)
	lock.RunE = func(cmd *cobra.Command, _ []string) error {
		written, diags, err := admin.LockPlugins(cmd.Context(), c.source())
		if reported := c.report(diags); reported != nil {
			return reported
		}
		if err != nil {
			return err
		}
		lines := lists.ConvertAll(written, command.Printable)
		return out.PrintText(c.out, map[string]any{"changes": lines}, strings.Join(lines, "\n"))
	}
	return command.Group("plugin", "List, describe, restart, test, create and pin plugins",
		"Work with plugins: what exists, how each instance runs, and tools for plugin authors.", list, describe, c.pluginStatus(),
		c.pluginRestart(),
		c.pluginLogs(), lock, c.pluginTest(), c.pluginNew())
}
